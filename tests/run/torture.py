#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - throws, libraries, modules, threads and children that come and go, traps, fibers, signals: all at once."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import turmoil
from harness import expect, expect_chains, test


def torture(seconds, hz):
    profile, gaps = turmoil.recorded(seconds, hz)
    expect(max(gaps.values()) < turmoil.NEVER_SECONDS, f"gaps {gaps}")
    turmoil.expect_whole(profile)
    turmoil.expect_delivered(profile, hz)
    (split,) = {name for name in profile.counts("wasm_module") if name and name.startswith("split@")}
    expect_chains(profile, guests.SPLIT_CHAINS, module=split)


for each in (1000, 4000):
    test("{} s of all at once at {} Hz, whole stacks", 30, each)(torture)

if __name__ == "__main__":
    sys.exit(harness.main())
