#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""suites.py - other people's tests under guestprof: their verdicts are those without it.

Only what is done soon; tests/run/long/suites.py runs them whole.
"""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import suites
from harness import test

SPEC = "call call_indirect fac float_exprs linking memory_trap return_call stack start table_grow traps unwind"


@test("CPython's own tests, chosen ones, beside guests")
def cpython():
    suites.compare_all([
        suites.cpython("test_ctypes"),
        suites.cpython("test_faulthandler", without="traceback_later"),
        suites.cpython("test_signal", without="StressTest|itimer_virtual"),
        suites.cpython("test_subprocess", classes="POSIXProcessTestCase", without="pass_fds|repeated|fds_when_max"),
        suites.cpython("test_threading", without="Barrier|Condition|Event|RLock|Semaphore"),
    ], least=30)


@test("wasmtime-py's own tests")
def wasmtime_py():
    suites.compare(suites.wasmtime_py(), least=100)


@test("the specification's tests, chosen ones, through wasmtime wast")
def spec():
    suites.compare(suites.spec("wasm-v3/*.wast", SPEC), least=len(SPEC.split()), samples=0)


@test("node's runner: threads and shared memory")
def node():
    """No guest here: what is looked at is a host that guestprof leaves alone."""
    suites.compare(suites.node("thread-stream", "test/*.test.js", "string|transp|ts-|bund|flush|wait|index|manage"),
                   least=20, samples=0)


if __name__ == "__main__":
    sys.exit(harness.main())
