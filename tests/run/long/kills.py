#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py - kill -9 at 200 random moments."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import kills

harness.test("kill -9 at {} moments", 200)(kills.kill_many)

if __name__ == "__main__":
    sys.exit(harness.main())
