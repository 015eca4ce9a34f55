#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases.py - what tests/run/cases_modules.py shows, with the numbers that take minutes. See cases.md."""

import pathlib
import sys

RUN = pathlib.Path(__file__).resolve().parents[1]
sys.path[0:0] = [str(RUN), str(RUN / "lib")]
import cases_modules
import harness
from harness import expect

harness.tests.clear()


@harness.test("61 eight threads load, run and drop 500 each at once")
def at_once():
    profile = cases_modules.modules("many", 8, 500, cases_modules.SPLIT, cases_modules.TINY)
    expect(profile.run.stdout == "4000 loads\nmany: done\n", profile.run.stdout)
    cases_modules.right_names(profile)


@harness.test("92 100,000 different modules, then a heavy one, in 16 MB")
def different():
    cases_modules.many_modules(100000, 1, timeout=1800)


@harness.test("92 3,000,000 calls with another stack each, in 16 MB")
def stacks():
    cases_modules.unbounded(3000000, 16, timeout=1800)


if __name__ == "__main__":
    sys.exit(harness.main())
