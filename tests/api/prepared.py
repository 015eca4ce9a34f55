# SPDX-License-Identifier: MIT
"""prepared.py - a host in Python that takes its own profile: the table of preload/guestprof.h by ctypes.

Argument: where the profile goes.
"""

import ctypes
import sys
import time

from wasmtime import Engine, FuncType, Func, Instance, Module, Store


class Api(ctypes.Structure):
    """struct guestprof_api, version 1."""
    _fields_ = [
        ("version", ctypes.c_uint32), ("size", ctypes.c_uint32),
        ("set_new", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p),
                                     ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t,
                                     ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t)),
        ("set_ref", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
        ("set_unref", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("set_count", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)),
        ("profile_new", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p,
                                         ctypes.POINTER(ctypes.c_void_p))),
        ("profile_sample", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64)),
        ("profile_host_call", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)),
        ("profile_finish", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)),
        ("profile_drop", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


def address(handle):
    return ctypes.cast(handle, ctypes.c_void_p).value


api = Api.in_dll(ctypes.CDLL(None), "guestprof_api")
assert api.version >= 1 and api.size >= ctypes.sizeof(Api)

engine = Engine()
store = Store(engine)
module = Module(engine, '(module $py (import "host" "tick" (func $tick)) (func $work (export "work") (call $tick)))')
profile = ctypes.c_void_p()
ticking = False


def tick():
    if ticking:
        assert api.profile_sample(profile, 1000) == 1


work = Instance(store, module, [Func(store, FuncType([], []), tick)]).exports(store)["work"]
end = time.thread_time() + 0.3  # until the clock has learned this engine's exit record
while time.thread_time() < end:
    work(store)

modules = (ctypes.c_void_p * 1)(address(module.ptr()))
made = ctypes.c_void_p()
why = ctypes.create_string_buffer(200)
assert api.set_new(address(engine.ptr()), None, modules, 1, ctypes.byref(made), why, 200) == 0, why.value
assert api.profile_new(b"py", 1000000, made, ctypes.byref(profile)) == 0
api.set_unref(made)
ticking = True
for _ in range(25):
    work(store)
ticking = False
assert api.profile_finish(profile, sys.argv[1].encode()) == 0
