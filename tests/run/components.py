#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""components.py - guests that are async in the component model's own way: called back, not suspended."""

import collections
import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import (ENGINES, HOSTS, NEWEST, Skip, cpu_ms_for, expect, expect_chains, expect_instances, expect_shares,
                     host, major, record, test)

CHAINS = {("first",), ("first", "spin_first"), ("later",), ("later", "spin_later")}
SHARES = {"spin_first": 0.25, "spin_later": 0.75}


def shares_of(leaves):
    return {name: leaves.get(name, 0) for name in SHARES}


@test("async component, called through the C API")
def by_c_api():
    if major(NEWEST) < 45:
        raise Skip("the C API has it since 45")
    profile = record(host(NEWEST, "concurrent.wasm", "run", "component", "async", "argument=100", cpu_ms_for(2500)))
    expect_shares(shares_of(expect_chains(profile, CHAINS)), SHARES, slack=0.01)
    expect_instances(profile, 1)


def own_counts(file):
    """The stacks that the engine's own profiler wrote, with their numbers."""
    profile = json.loads(file.read_text())
    thread = profile["threads"][0]
    names, frames, stacks = thread["stringArray"], thread["frameTable"]["func"], thread["stackTable"]
    counts = collections.Counter()
    for stack in thread["samples"]["stack"]:
        chain = []
        while stack is not None:
            chain.append(names[thread["funcTable"]["name"][frames[stacks["frame"][stack]]]])
            stack = stacks["prefix"][stack]
        counts[tuple(reversed(chain))] += 1
    return counts


@test("async component, beside the engine's own profiler")
def beside():
    command = next(ENGINES.glob("wasmtime-cli-*"), None)
    if command is None:
        raise Skip("no wasmtime command")
    with harness.folder() as path:
        own, ours = path / "own.json", path / "ours.pb.gz"
        run = harness.run_recorded(
            [command / "wasmtime", "run", "-C", "cache=n", "-W", "component-model-async=y",
             f"--profile=guest,{own},1ms", "--invoke", "run(150000)", HOSTS / "concurrent.wasm"], ours, 1000)
        expect(run.status == 0 and run.stdout.startswith("()\n"), run.stdout + run.stderr)
        theirs, profile = own_counts(own), pprof.read(ours)
    leaves = shares_of(expect_chains(profile, CHAINS))
    expect(sum(leaves.values()) > 100, f"only {leaves}")
    expect_shares(leaves, SHARES, slack=0.03)
    # The engine looks at its checks only, and at times of the wall's clock: no known shares.
    print(f"# ours {leaves}; the engine's own {dict(theirs)}")
    expect(set(theirs) - {()} <= CHAINS, f"the engine has other stacks: {theirs}")


if __name__ == "__main__":
    sys.exit(harness.main())
