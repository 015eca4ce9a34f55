# SPDX-License-Identifier: MIT
"""waiting.py - a Python host on the `wasmtime` package whose guest waits in a host function: SECONDS [interpreted]"""

import sys
import time

from wasmtime import Engine, Func, FuncType, Instance, Module, Store

import interpreted

GUEST = """(module $sleeper
  (import "env" "nap" (func $nap))
  (func $inner (call $nap))
  (func (export "run") (call $inner)))"""
NAP = 0.05

engine = interpreted.interpreter() if "interpreted" in sys.argv else Engine()
store = Store(engine)
nap = Func(store, FuncType([], []), lambda: time.sleep(NAP))
run = Instance(store, Module(engine, GUEST), [nap]).exports(store)["run"]
for _ in range(round(float(sys.argv[1]) / NAP)):
    run(store)
print("waiting: done")
