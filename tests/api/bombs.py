# SPDX-License-Identifier: MIT
"""bombs.py - a host whose guest has a function for each name of a file, all of which a profile samples.

Arguments: the guest (tests/run/oddnames.py makes it: each function calls the host), their number, where the profile
goes. Prints the seconds of CPU time that the library's thread needed for all of it.
"""

import ctypes
import errno
import pathlib
import sys
import time

import table
from wasmtime import Engine, FuncType, Func, Instance, Module, Store

api = table.api()
wasm, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
engine = Engine()
store = Store(engine)
profile = ctypes.c_void_p()
kept = 0


def tick():
    global kept
    while profile.value is not None:
        taken = api.profile_sample(profile, 1000)
        if taken != -errno.ENOMEM:
            kept += taken
            return
        time.sleep(0.05)  # 16 MB of samples wait for the library's thread, which comes by 20 times a second


def thread_seconds():
    """CPU time of the library's thread."""
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == "guestprof":
            return int((task / "schedstat").read_text().split()[0]) / 1e9
    raise SystemExit("the library has no thread")


module = Module.from_file(engine, wasm)
exports = Instance(store, module, [Func(store, FuncType([], []), tick)]).exports(store)
end = time.thread_time() + 0.5
while time.thread_time() < end:
    exports["warm"](store)  # until the clock has learned this engine's exit record
modules = (ctypes.c_void_p * 1)(table.address(module.ptr()))
made = ctypes.c_void_p()
assert api.set_new(table.address(engine.ptr()), None, modules, 1, ctypes.byref(made), None, 0) == 0
assert api.profile_new(b"bombs", 1000000, made, ctypes.byref(profile)) == 0
api.set_unref(made)
before = thread_seconds()
exports["run"](store)
ended, profile = profile, ctypes.c_void_p()
assert api.profile_finish(ended, path.encode()) == 0
time.sleep(0.1)  # until our thread's time is accounted for: it went to sleep
assert kept == count, kept
print(thread_seconds() - before)
