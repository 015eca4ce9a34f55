#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sdk.py FILE - runs a WASI command by wasmer-sdk, whose engine is linked into its Python module."""

import asyncio
import os
import pathlib
import sys

import wasmer_sdk


async def run():
    async with wasmer_sdk.Wasmer() as wasmer:
        package = await wasmer.packages.load(pathlib.Path(sys.argv[1]).read_bytes())
        async with await wasmer.sandboxes.create(packages=[package]) as sandbox:
            await sandbox.command(package).run(check=False)
            print("done", flush=True)
            # Its threads abort now and then when the interpreter ends (0.5.0).
            os._exit(0)


asyncio.run(run())
