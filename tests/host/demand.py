# SPDX-License-Identifier: MIT
"""demand.py - a program on the `wasmtime` package that calls its guest as often as it is told to, and else waits.

Each line of standard input is a number of calls, each with one call of the host's `env.note`; done, it prints the
number.
"""

import random
import sys

from app import spin
from wasmtime import Engine, Func, FuncType, Instance, Module, Store

GUEST = f"""(module $demand (import "env" "note" (func $note)) (global $state (mut i64) (i64.const 1))
{spin("leaf", 3)}
  (func (export "work") (param $k i32) (call $leaf (local.get $k)) (call $note)))"""


def main():
    engine = Engine()
    store = Store(engine)
    note = Func(store, FuncType([], []), lambda: None)
    work = Instance(store, Module(engine, GUEST), [note]).exports(store)["work"]
    sizes = random.Random(1)
    print("ready", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            work(store, sizes.randrange(1000, 3001))
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main()
