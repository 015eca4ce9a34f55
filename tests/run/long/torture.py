#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torture.py - minutes of everything at once, beside the same host without guestprof.

TORTURE_SECONDS is how long each rate takes: 60, and 1800 for an hour in all.
"""

import os
import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import turmoil
from harness import test

SECONDS = int(os.environ.get("TORTURE_SECONDS", "60"))


def minutes(hz):
    turmoil.side_by_side(SECONDS, hz)


for each in (1000, 4000):
    test("minutes of all at once at {} Hz, whole stacks", each)(minutes)

if __name__ == "__main__":
    sys.exit(harness.main())
