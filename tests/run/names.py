#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py - names of functions against the engine's own, and counts against wasm-objdump's."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import names

SMALL = ("as-sha256", "gofmt", "toml", "tree-sitter-debug", "wasi-reactor")

# What tools make of names, or leave alone: Swift, Go, D, OCaml, suffixes, broken and odd ones.
ODD = [b"plain", b"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.1234567890", b"_ZN3foo17h05af221e174051e9E.3",
       b"_RNvCs1234_7mycrate3foo", b"_RNCNvC4test4main0.llvm.99", b"_RNvCsbad", b"_Z3addii.isra.0", b"_ZNbroken", b"_Z",
       b"$s4main3fooyyF", b"_D3foo3barFZv", b"?foo@@YAXXZ", b"runtime.main", b"main.(*T).Method-fm", b"type:.eq.main.T",
       b"strconv.bsearch[[]uint16 uint16]", b"caml_foo__bar_123", b"with space", b"a;b", b"std::vec<int>::f(a, b)",
       b"_GLOBAL__I_000100", "naïve_函数_λ".encode(), b"x" * 300, b"0x1234", b"[x]", b"foo.command_export"]


@harness.test("names that are no mangled ones")
def odd_names():
    names.check("odd names", ODD)


for each in SMALL:
    harness.test("counts of {}", each)(names.check_counts)
for each in ("toml", "gofmt", "wasi-reactor"):
    harness.test("names of {}", each)(names.check_guest)
harness.test("names of libstdc++")(names.check_libstdcxx)

if __name__ == "__main__":
    sys.exit(harness.main())
