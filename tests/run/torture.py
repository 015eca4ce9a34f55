#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - throws, libraries and modules that come and go, guests, all at once."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
from harness import HOSTS, NEWEST, expect, expect_chains, record, test


def torture(seconds):
    words = [HOSTS / NEWEST / "torture", HOSTS / "split.wasm", HOSTS / "plugin.so"]
    profile = record([*words, seconds], compare=False)
    run = profile.run
    expect(run.status == 0 and run.stdout == "torture: no stall\n", f"{run.status}: {run.stderr}")
    expect(profile.total() > 500, f"only {profile.total()} samples")
    expect_chains(profile, guests.SPLIT_CHAINS)


test("{} s of throws, dlopen and modules", 30)(torture)

if __name__ == "__main__":
    sys.exit(harness.main())
