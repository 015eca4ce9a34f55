#!/bin/bash
# SPDX-License-Identifier: MIT
# Each parser for a moment; `scripts/fuzz 600` looks longer.
cd "$(dirname "$0")/../.." && exec nice scripts/fuzz 5
