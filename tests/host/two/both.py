#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""both.py LEFT RIGHT - two engines under one Python: wasmer-sdk runs the command LEFT, wasmtime meanwhile calls `run`
of RIGHT on another thread. Either is loaded first: with a third argument, wasmer.
"""

import asyncio
import importlib
import os
import pathlib
import sys
import threading

if len(sys.argv) > 3:
    importlib.import_module("wasmer_sdk")
wasmtime = importlib.import_module("wasmtime")
wasmer_sdk = importlib.import_module("wasmer_sdk")

is_over = threading.Event()
wrong = []


def chain(steps):
    state = 2
    for _ in range(steps):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return state


def call_wasmtime():
    store = wasmtime.Store()
    module = wasmtime.Module(store.engine, pathlib.Path(sys.argv[2]).read_bytes())
    run = wasmtime.Instance(store, module, []).exports(store)["run"]
    for steps in (1, 7, 5000):
        if run(store, steps) % 2**64 != chain(steps):
            wrong.append(steps)
    steps = 0
    while not is_over.is_set():
        steps = (steps + 1237) % 100000
        run(store, 200000 + steps)


async def run_wasmer():
    async with wasmer_sdk.Wasmer() as wasmer:
        package = await wasmer.packages.load(pathlib.Path(sys.argv[1]).read_bytes())
        async with await wasmer.sandboxes.create(packages=[package]) as sandbox:
            await sandbox.command(package).run(check=False)
            is_over.set()
            thread.join()
            print("wrong" if wrong else "done", flush=True)
            # Its threads abort now and then when the interpreter ends (0.5.0).
            os._exit(0)


thread = threading.Thread(target=call_wasmtime)
thread.start()
asyncio.run(run_wasmer())
