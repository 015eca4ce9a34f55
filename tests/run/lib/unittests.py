# SPDX-License-Identifier: MIT
"""unittests.py VERDICTS without=REGEX [leaves] NAME... - runs tests of unittest, a line `ID VERDICT SECONDS` each.

A program of its own: it runs in the process that is looked at. The main thread has run a WebAssembly
guest before, and another thread runs one a few milliseconds out of a hundred for as long as the tests
take. `leaves`: it ends by _exit(), without the interpreter's own end.
"""

import os
import random
import re
import sys
import threading
import time
import unittest

GUEST = """(module (func (export "spin") (param $n i32) (local $x i64)
  (loop $more (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 31)) (i64.const 7)))
    (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"""
MILLISECOND = 400_000  # rounds, about


def instance(engine, module):
    import wasmtime

    store = wasmtime.Store(engine)
    spin = wasmtime.Instance(store, module, []).exports(store)["spin"]
    return lambda milliseconds: spin(store, int(milliseconds * MILLISECOND))


def beat(engine, module):
    spin, sizes = instance(engine, module), random.Random(1)
    while True:
        spin(sizes.uniform(2, 6))
        time.sleep(0.1)


def run_guests():
    import wasmtime

    config = wasmtime.Config()
    config.parallel_compilation = False  # no threads that the tests do not expect
    engine = wasmtime.Engine(config)
    module = wasmtime.Module(engine, GUEST)
    instance(engine, module)(100)
    threading.Thread(target=beat, args=(engine, module), daemon=True).start()


class Verdicts(unittest.TestResult):
    def __init__(self, path):
        super().__init__()
        self.file = open(path, "w", buffering=1)
        self.bad, self.started = None, time.monotonic()

    def tell(self, test, verdict):
        self.file.write(f"{test.id()}\t{verdict}\t{time.monotonic() - self.started:.2f}\n")

    def startTest(self, test):
        super().startTest(test)
        self.bad, self.started = None, time.monotonic()

    def addSuccess(self, test):
        self.tell(test, self.bad or "pass")

    def addFailure(self, test, err):
        self.tell(test, "fail")

    def addError(self, test, err):
        self.tell(test, "error")

    def addSkip(self, test, reason):
        self.tell(test, "skip")

    def addExpectedFailure(self, test, err):
        self.tell(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self.tell(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad = "fail"
            self.tell(test, self.bad)


def single(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from single(test)
        else:
            yield test


def main():
    path, without, *names = sys.argv[1:]
    unwanted = re.compile(without.removeprefix("without="))
    leaves = names[0] == "leaves"
    run_guests()
    try:
        from test import support
        support.use_resources = ()  # nothing that takes long, or needs a network
    except ImportError:
        pass
    loader = unittest.TestLoader()
    tests = single(loader.loadTestsFromName(name) for name in names[leaves:])
    unittest.TestSuite(test for test in tests if not unwanted.search(test.id())).run(Verdicts(path))
    if leaves:
        os._exit(0)


if __name__ == "__main__":
    main()
