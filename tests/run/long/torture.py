#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - a minute of everything at once: no thread stands still, beside a run without guestprof."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import turmoil
from harness import test

SECONDS = 60


def minute(hz):
    """Alone before and after, so that a machine that gets busier is not held against anybody."""
    before = turmoil.plain(SECONDS, True)
    profile, gaps = turmoil.recorded(SECONDS, hz, True)
    after = turmoil.plain(SECONDS, True)
    turmoil.expect_calm(gaps, {kind: max(before[kind], after[kind]) for kind in before})
    turmoil.expect_whole(profile)
    turmoil.expect_delivered(profile, hz)


for each in (1000, 4000):
    test("a minute of all at once at {} Hz, whole stacks", each)(minute)

if __name__ == "__main__":
    sys.exit(harness.main())
