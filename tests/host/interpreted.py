# SPDX-License-Identifier: MIT
"""interpreted.py - a Python host whose guests are interpreted (wasmtime's pulley): SECONDS [MODE]

`split`, the default: two instances of a module, the first of which gets three times the work. `nested`: a compiled
guest calls the host, which calls an interpreted one of another engine.
"""

import ctypes
import random
import sys
import time

from wasmtime import Config, Engine, Func, FuncType, Instance, Module, Store, ValType, _ffi

GUEST = """(module $spinner
  (global $state (mut i32) (i32.const 1))
  (func $mix (param $x i32) (result i32)
    (i32.xor (i32.mul (local.get $x) (i32.const 747796405)) (i32.shr_u (local.get $x) (i32.const 7))))
  (func (export "spin") (param $n i32)
    (loop $more
      (global.set $state (call $mix (global.get $state)))
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"""

CALLER = """(module $caller
  (import "env" "spin" (func $spin (param i32)))
  (func $outer (export "spin") (param $n i32) (call $spin (local.get $n))))"""


def interpreter():
    """An engine for pulley: the package has no method for that option."""
    config = Config()
    set_target = _ffi.dll.wasmtime_config_target_set
    set_target.restype, set_target.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    if set_target(ctypes.cast(config.ptr(), ctypes.c_void_p), b"pulley64"):
        sys.exit("interpreted: no such target")
    return Engine(config)


def spins(engine, count):
    store = Store(engine)
    module = Module(engine, GUEST)
    calls = [Instance(store, module, []).exports(store)["spin"] for _ in range(count)]
    return [lambda n, call=call: call(store, n) for call in calls]


def nested():
    inner = spins(interpreter(), 1)[0]
    store = Store(Engine())
    function = Func(store, FuncType([ValType.i32()], []), inner)
    outer = Instance(store, Module(store.engine, CALLER), [function]).exports(store)["spin"]
    return [lambda n: outer(store, n)]


def main():
    seconds, mode = float(sys.argv[1]), (sys.argv[2:] or ["split"])[0]
    calls = nested() if mode == "nested" else spins(interpreter(), 2)
    if mode == "split":
        calls = [calls[0], calls[0], calls[1], calls[0]]
    # Calls that all took equally long could fall into step with a sampling clock.
    sizes = random.Random(1)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for call in calls:
            call(sizes.randrange(2000, 6001))
    print(f"interpreted: {mode}, done")


if __name__ == "__main__":
    main()
