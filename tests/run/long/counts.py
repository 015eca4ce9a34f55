#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counts.py - every wasm file of npm that was surveyed: functions and names counted as wasm-objdump does."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import names
from harness import ROOT


def counted():
    """The names in scripts/setup's list of files that are only read."""
    text = (ROOT / "scripts/setup").read_text()
    return [line.split()[0] for line in text.split('WASM_COUNTED="', 1)[1].split('"', 1)[0].splitlines()]


for each in counted():
    harness.test("counts of {}", each)(names.check_counts)

if __name__ == "__main__":
    sys.exit(harness.main())
