#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""suites.py - other people's test suites, whole, under guestprof and without."""

import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import suites
from harness import test


def cpython(module):
    suites.compare(suites.cpython(module), least=40)


for module in ("test_ctypes", "test_faulthandler", "test_signal", "test_subprocess", "test_threading"):
    test("CPython's {}, beside guests", module)(cpython)


@test("wasmtime-py's own tests at 4000 Hz")
def wasmtime_py():
    suites.compare(suites.wasmtime_py(), hz=4000, least=100)


def spec(pattern):
    suites.compare(suites.spec(pattern), hz=4000, least=10)


for pattern in ("wasm-latest/*.wast", "wasm-v1/*.wast", "wasm-v2/*.wast", "proposals/*/*.wast"):
    test("the specification's tests, {}", pattern)(spec)


@test("node's runner: avvio")
def avvio():
    suites.compare(suites.node("avvio", "test/*.test.js"), least=200, samples=0)


@test("node's runner: thread-stream")
def thread_stream():
    # The others want gigabytes, or tools of its developers.
    suites.compare(suites.node("thread-stream", "test/*.test.js", "string-limit|transpiled|ts-node"),
                   least=40, samples=0)


if __name__ == "__main__":
    sys.exit(harness.main())
