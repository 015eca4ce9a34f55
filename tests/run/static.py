#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static.py - Rust programs with the engine linked in: the pre-initializer and the command line."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
from harness import ENGINES, HOSTS, Run, Skip, expect, expect_chains, expect_shares, record, test

SPLIT = HOSTS / "split.wasm"
COMMAND = "wasmtime's command line"


def program(pattern):
    found = sorted(ENGINES.glob(pattern))
    if not found:
        raise Skip(f"no {pattern} in {ENGINES}")
    return found[-1]


def version(pattern):
    """Of the program in that folder: the first number of it."""
    return program(pattern).name.rpartition("-")[2].partition(".")[0]


def enough(profile):
    # The guest runs for about 2 s of CPU, whatever the clock.
    least = min(5000, int(1.5 * harness.rate()))
    expect(profile.total() >= least, f"only {profile.total()} samples")


@test("wizer split")
def wizer_split():
    with harness.folder() as path:
        profile = record([program("wizer-*/wizer"), SPLIT, "-o", path / "out.wasm"])
    enough(profile)
    expect_shares(expect_chains(profile, guests.INITIALIZE_CHAINS), guests.SPLIT_SHARES)
    cells.measured("wizer (wasmtime linked in)", version("wizer-*"), "modules", "unwind tables that it registers")
    cells.measure("wizer (wasmtime linked in)", version("wizer-*"), profile, guests.INITIALIZE_CHAINS)


def cli(*words):
    return [program("wasmtime-cli-*/wasmtime"), *words]


@test("wasmtime command line: run")
def cli_run():
    profile = record(cli("run", "-C", "cache=n", SPLIT))
    enough(profile)
    expect_shares(expect_chains(profile, guests.COMMAND_CHAINS), guests.SPLIT_SHARES)
    cells.measured(COMMAND, version("wasmtime-cli-*"), "modules", "unwind tables that it registers, or a look at the mappings")
    cells.measure(COMMAND, version("wasmtime-cli-*"), profile, guests.COMMAND_CHAINS)


@test("wasmtime command line: winch")
def cli_winch():
    profile = record(cli("run", "-C", "cache=n,compiler=winch", SPLIT))
    enough(profile)
    expect_chains(profile, guests.COMMAND_CHAINS)


@test("wasmtime command line: precompiled")
def cli_precompiled():
    with harness.folder() as path:
        made = Run(list(map(str, cli("compile", SPLIT, "-o", path / "split.cwasm"))))
        expect(made.status == 0, made.stderr)
        profile = record(cli("run", "--allow-precompiled", path / "split.cwasm"))
    enough(profile)
    expect_shares(expect_chains(profile, guests.COMMAND_CHAINS), guests.SPLIT_SHARES)


@test("wasmtime command line: without registration")
def cli_without_registration():
    """No frame registration: the image is found by looking."""
    profile = record(cli("run", "-C", "cache=n,native-unwind-info=n", SPLIT))
    expect_chains(profile, guests.COMMAND_CHAINS)


if __name__ == "__main__":
    sys.exit(harness.main())
