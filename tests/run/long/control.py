#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""control.py - start and stop a thousand times."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import live

harness.test("{} starts and stops leave nothing over", 1000)(live.cycles)

if __name__ == "__main__":
    sys.exit(harness.main())
