# SPDX-License-Identifier: MIT
"""again.py - one wasm file, loaded again and again: FILE EXPORT TIMES [ENGINES [CWASM]].

Every loading has an instance, which runs a little. With CWASM the module is also written there and
loaded from it, as often.
"""

import sys

from wasmtime import Engine, Instance, Module, Store


def run(engine, module, export):
    store = Store(engine)
    call = Instance(store, module, []).exports(store)[export]
    for _ in range(20):
        call(store, 300)


def main():
    path, export, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    engines = [Engine() for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 1)]
    wasm = open(path, "rb").read()
    modules = [(engine, Module(engine, wasm)) for engine in engines for _ in range(times)]
    if len(sys.argv) > 5:
        with open(sys.argv[5], "wb") as file:
            file.write(modules[0][1].serialize())
        modules += [(engines[0], Module.deserialize_file(engines[0], sys.argv[5])) for _ in range(times)]
    for engine, module in modules:
        run(engine, module, export)
    print(f"again: {len(modules)} modules, done")


if __name__ == "__main__":
    main()
