#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py - the same for the large guests."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import names

LARGE = ("biome", "esbuild", "json", "markdown", "onig", "rollup", "ruby-debug", "splicer", "sql", "starling-debug",
         "starling-weval", "tree-sitter-json", "typescript", "wasmoon")

for each in LARGE:
    harness.test("counts of {}", each)(names.check_counts)
for each in ("typescript", "json", "markdown", "splicer", "biome", "starling-debug"):
    harness.test("names of {}", each)(names.check_guest)

if __name__ == "__main__":
    sys.exit(harness.main())
