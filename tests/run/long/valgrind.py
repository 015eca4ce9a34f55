#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""valgrind.py - a thousand loads under valgrind's memcheck: what is in use at the end does not grow with them."""

import pathlib
import sys

RUN = pathlib.Path(__file__).resolve().parents[1]
sys.path[0:0] = [str(RUN), str(RUN / "lib")]
import importlib.util

import harness
from cases import case
from harness import expect

spec = importlib.util.spec_from_file_location("memcheck", RUN / "valgrind.py")
short = importlib.util.module_from_spec(spec)
spec.loader.exec_module(short)
harness.tests.clear()


@harness.test("valgrind: a thousand more loads leave no more blocks")
def growth():
    blocks = []
    for count in (20, 1020):
        errors, in_use, lost, _ = short.memcheck(case("modules", "many", 1, count, short.SPLIT, short.TINY),
                                                 GUESTPROF_HZ="100")
        short.check(errors, lost)
        blocks.append(in_use)
    print(f"# {blocks[0]} blocks in use after 20 loads, {blocks[1]} after 1020")
    # The last loads may still be under way when the host ends.
    expect(blocks[1] < blocks[0] + 600, f"{blocks[0]} blocks after 20 loads, {blocks[1]} after 1020")


if __name__ == "__main__":
    sys.exit(harness.main())
