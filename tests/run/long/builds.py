#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""builds.py - the tests of hosts, their loader and their unwinder, with the library built in other ways.

A compiler that makes no tail calls, or puts checks around them, is what loses a host's caller.
"""

import os
import pathlib
import re
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[1]
sys.path[0:0] = [str(RUN), str(RUN / "lib")]
import harness
from harness import ROOT, expect, tail

# The warning is for what only the optimiser can rule out.
BUILDS = {
    "-O0": ["CFLAGS=-O0 -g -Wno-maybe-uninitialized"],
    "UBSan": ["CFLAGS=-O1 -g -Wno-maybe-uninitialized -fsanitize=undefined -fsanitize-undefined-trap-on-error"],
}


def hooks(name):
    folder = harness.BUILD / ("library" + name.lower())
    made = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", ROOT, f"BUILD={folder}", *BUILDS[name], "all"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
    expect(made.returncode == 0, tail(made.stdout))
    run = harness.Run([sys.executable, str(RUN / "cases_hooks.py")], timeout=1800,
                      env=harness.environment(TEST_BUILD=str(folder)))
    failed = [line for line in run.stdout.splitlines() if re.match("FAIL", line)]
    passed = sum(line.startswith("ok ") for line in run.stdout.splitlines())
    expect(run.status == 0 and not failed and passed >= 10, f"{passed} passed; {failed[:2]} {tail(run.stderr)}")


for build in BUILDS:
    harness.test("hooks of a library built with {}", build)(hooks)

if __name__ == "__main__":
    sys.exit(harness.main())
