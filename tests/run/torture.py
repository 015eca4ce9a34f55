#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - throws, libraries and modules that come and go, guests, all at once."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import turmoil
from harness import expect, expect_chains, test


def torture(seconds):
    profile, gaps = turmoil.recorded(seconds, harness.HZ)
    expect(max(gaps.values()) < turmoil.NEVER_SECONDS, f"gaps {gaps}")
    turmoil.expect_whole(profile)
    turmoil.expect_delivered(profile, harness.HZ)
    expect_chains(profile, guests.SPLIT_CHAINS)


test("{} s of throws, dlopen and modules, whole stacks", 20)(torture)

if __name__ == "__main__":
    sys.exit(harness.main())
