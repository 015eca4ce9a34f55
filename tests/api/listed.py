# SPDX-License-Identifier: MIT
"""listed.py - a host whose listed guests call each other through one that is not listed.

wanted_outer calls unwanted_mid, which calls wanted_leaf, which calls the host: there a profile of a prepared set of the
two wanted modules takes its samples. Then unwanted_alone works by itself. Argument: where the profile goes.
"""

import ctypes
import sys
import time

import table
from wasmtime import Engine, FuncType, Func, Instance, Module, Store

BURN = ("(local $n i32) (local.set $n (i32.const 20000))"
        "(loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))")

api = table.api()
engine = Engine()
store = Store(engine)
profile = ctypes.c_void_p()
ticking = False


def tick():
    if ticking:
        assert api.profile_sample(profile, 1000) == 1


def instance(text, *imports):
    module = Module(engine, text)
    return module, Instance(store, module, list(imports)).exports(store)


IMPORT = '(import "h" "t" (func $t))'
leaf, leaf_exports = instance(f'(module $wanted_leaf {IMPORT} (func $wanted_leaf (export "f") {BURN} (call $t)))',
                              Func(store, FuncType([], []), tick))
middle, middle_exports = instance(f'(module $unwanted {IMPORT} (func $unwanted_mid (export "f") (call $t))'
                                  f'(func $unwanted_alone (export "g") {BURN}))', leaf_exports["f"])
outer, outer_exports = instance(f'(module $wanted_outer {IMPORT} (func $wanted_outer (export "f") (call $t)))',
                                middle_exports["f"])


def burn(function, seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        function(store)


burn(outer_exports["f"], 0.5)
modules = (ctypes.c_void_p * 2)(table.address(outer.ptr()), table.address(leaf.ptr()))
made = ctypes.c_void_p()
assert api.set_new(table.address(engine.ptr()), None, modules, 2, ctypes.byref(made), None, 0) == 0
assert api.profile_new(b"listed", 1000000, made, ctypes.byref(profile)) == 0
api.set_unref(made)
ticking = True
for _ in range(20):
    outer_exports["f"](store)
ticking = False
assert api.profile_finish(profile, sys.argv[1].encode()) == 0
burn(middle_exports["g"], 0.3)
