# SPDX-License-Identifier: MIT
"""three.py - a program on the `wasmtime` package with three instances that work as 1 : 2 : 3, and a host call.

Argument: seconds of CPU.
"""

import random
import sys
import time

from app import spin
from wasmtime import Engine, Func, FuncType, Instance, Module, Store

GUEST = f"""(module $three (import "env" "note" (func $note)) (global $state (mut i64) (i64.const 1))
{spin("leaf", 3)}
{spin("middle", 1, "(call $leaf (local.get $k))")}
  (func $work (export "work") (param $k i32) (call $middle (local.get $k)) (call $note)))"""


def note():
    for _ in range(100):
        pass


def main():
    engine = Engine()
    module = Module(engine, GUEST)
    store = Store(engine)
    imports = [Func(store, FuncType([], []), note)]
    calls = [Instance(store, module, imports).exports(store)["work"] for _ in range(3)]
    sizes = random.Random(1)
    end = time.thread_time() + float(sys.argv[1])
    while time.thread_time() < end:
        size = sizes.randrange(500, 1501)
        for share, call in enumerate(calls, 1):
            call(store, size * share)
    print("three: 3 instances, done")


if __name__ == "__main__":
    main()
