#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""versions.py - Python programs on each layout that wasmtime's code images and C API had, 14 to 50: names, complete
stacks, known shares, and instances."""

import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
import pprof
from harness import (ENGINES, GUESTPROF, HOSTS, PYTHON, ROOT, Run, Skip, environment, expect, expect_chains, expect_instances,
                     expect_shares, major, test)

sys.path.insert(0, str(ROOT / "tests/host"))
import app

PACKAGES = ENGINES / "python-wasmtime"
VERSIONS = sorted((path.name for path in PACKAGES.glob("[0-9]*")), key=major)
ENGINE = "wasmtime (C API)"
CHAINS = {("thumbnail",), ("thumbnail", "blur"), ("thumbnail", "blur", "resize"),
          ("thumbnail", "blur", "resize", "encode")}


def version(number):
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded([PYTHON, ROOT / "tests/host/app.py", "0.4"], file,
                                   env=environment(PYTHONPATH=str(PACKAGES / number)))
        expect(run.stdout == "app: 2 threads, 4 instances, done\n" and run.host_stderr == "", run.stdout + run.stderr)
        profile = pprof.read(file)
        said = Run([str(GUESTPROF), "report", "--json", str(file)])
    engines = json.loads(said.stdout)["processes"][0]["engines"]
    expect(len(engines) == 1 and engines[0].startswith("wasmtime ") and major(engines[0].split()[1]) == major(number),
           f"the engine is said to be {engines}")
    expect(profile.total() > 800, f"only {profile.total()} samples")
    modules = set(profile.counts("wasm_module"))
    expect(len(modules) == 1 and modules.pop().startswith("images@"), f"modules {modules}")
    leaves = expect_chains(profile, CHAINS, None, 0.99)
    expect_shares({name: leaves.get(name, 0) for name in app.SHARES},
                  {name: share / 100 for name, share in app.SHARES.items()}, slack=0.02)
    expect_instances(profile, 4)
    cells.measured(ENGINE, major(number), "modules", "its C API")
    cells.measure(ENGINE, major(number), profile, CHAINS, None)
    cells.measured(ENGINE, major(number), "instances", "each")


def waiting(number):
    """Ten naps in a function of the host's, below two of the guest's."""
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded([PYTHON, ROOT / "tests/host/waiting.py", "0.5"], file, 100,
                                   env=environment(PYTHONPATH=str(PACKAGES / number), GUESTPROF_WALL="1"))
        expect(run.status == 0 and run.stdout == "waiting: done\n", run.stdout + run.stderr)
        profile = pprof.read(file)
    cells.waits(ENGINE, major(number), profile, 0.5, ("run", "inner"))


def nested(number):
    """Host, guest, host, guest, host: the outer guest is found behind the inner one, whatever the layout."""
    command = [PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / "calls.wasm", "again", "0.3"]
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded(command, file, env=environment(PYTHONPATH=str(PACKAGES / number)))
        expect(run.status == 0 and run.stdout.startswith("callbacks: done"), run.stdout + run.stderr)
        profile = pprof.read(file)
    expect(profile.total() > 200, f"only {profile.total()} samples")
    # The first few come before the layout is confirmed.
    expect_chains(profile, guests.AGAIN_CHAINS | guests.into_host("again"), "host", 0.95)


for each in VERSIONS:
    test("wasmtime {} by its Python package", each)(version)
    test("wasmtime {} by its Python package, waiting", each, beside=True)(waiting)
    if each not in harness.VERSIONS:  # with those C hosts do the same
        test("wasmtime {} by its Python package, nested calls", each)(nested)


@test("wasmtime 14 to 50: all packages are there")
def all_there():
    if not VERSIONS:
        raise Skip("scripts/setup did not fetch them")
    expect(len(VERSIONS) == 12, f"{VERSIONS}")


if __name__ == "__main__":
    sys.exit(harness.main())
