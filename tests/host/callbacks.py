# SPDX-License-Identifier: MIT
"""callbacks.py - a Python host: GUEST EXPORT SECONDS. The guest calls Python, which burns CPU.

`again` calls the guest's export `callback` from inside a call of the guest.
"""

import os
import sys
import time

from wasmtime import Engine, FuncType, Linker, Module, Store, ValType

path, export, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
engine = Engine()
store = Store(engine)
module = Module.from_file(engine, path)
linker = Linker(engine)
exports = {}


def work(amount):
    value = 1
    for _ in range(amount):
        value = value * 6364136223846793005 + 1442695040888963407 & 0xFFFFFFFFFFFFFFFF


def again(amount):
    exports["callback"](store, amount)


linker.define_func("env", "work", FuncType([ValType.i32()], []), work)
linker.define_func("env", "again", FuncType([ValType.i32()], []), again)
instance = linker.instantiate(store, module)
for name in ("callback", export):
    if name in instance.exports(store):
        exports[name] = instance.exports(store)[name]
end = time.thread_time() + seconds
while time.thread_time() < end:
    exports[export](store, 200)
# The descriptor of the listing itself is gone by the time of the second look.
listed = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
print("callbacks: done, descriptors", *sorted(map(int, listed)))
