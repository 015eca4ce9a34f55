#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - a minute of everything at once: nobody stands still, and what the clock promises comes."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import turmoil
from harness import expect, expect_chains, test

SECONDS = 30


def torture(hz):
    profile = turmoil.side_by_side(SECONDS, hz)
    named = {sample.labels.get("wasm_module") for sample in profile.samples} - {None}
    split = [name for name in named if name.startswith("split@")]
    expect(split and len({name.split("@")[0] for name in named}) == 3, f"modules {named}")
    for name in split:
        expect_chains(profile, guests.SPLIT_CHAINS, module=name)


for each in (1000, 4000):
    test("half a minute of all at once at {} Hz, whole stacks", each)(torture)

if __name__ == "__main__":
    sys.exit(harness.main())
