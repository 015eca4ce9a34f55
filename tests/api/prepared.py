# SPDX-License-Identifier: MIT
"""prepared.py - a host in Python that takes its own profile: the table of preload/guestprof.h by ctypes.

Argument: where the profile goes.
"""

import ctypes
import sys
import time

import table
from table import address
from wasmtime import Engine, FuncType, Func, Instance, Module, Store


GUESTPROF_INSTANCE = 1


api = table.api()

engine = Engine()
store = Store(engine)
module = Module(engine, '(module $py (import "host" "tick" (func $tick)) (func $work (export "work") (call $tick)))')
profile = ctypes.c_void_p()
ticking = False


def tick():
    if ticking:
        assert api.profile_sample(profile, 1000) == 1


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(100):
            work(store)


def label(key, value):
    handle = instance._instance  # wasmtime_instance_t; the binding keeps it by value
    return api.instance_label(GUESTPROF_INSTANCE, address(store._context()), ctypes.addressof(handle), key, value)


instance = Instance(store, module, [Func(store, FuncType([], []), tick)])
work = instance.exports(store)["work"]
burn(0.5)  # until the clock has learned this engine's exit record

modules = (ctypes.c_void_p * 1)(address(module.ptr()))
made = ctypes.c_void_p()
why = ctypes.create_string_buffer(200)
assert api.set_new(address(engine.ptr()), None, modules, 1, ctypes.byref(made), why, 200) == 0, why.value
assert api.profile_new(b"py", 1000000, made, ctypes.byref(profile)) == 0
api.set_unref(made)
ticking = True
for _ in range(10):
    work(store)
assert label(b"tenant", b"acme") == 0
for _ in range(15):
    work(store)
ticking = False
assert label(b"wasm_state", b"x") < 0
assert api.profile_finish(profile, sys.argv[1].encode()) == 0
burn(0.5)
