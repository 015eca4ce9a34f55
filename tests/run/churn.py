#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""churn.py - modules that come and go while guests run: addresses are used again, names stay right."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import pprof
from harness import HOSTS, VERSIONS, expect, expect_chains, host, record, test
from memory import ResidentMemory

ROUNDS = 2000


def churn(version):
    """Four threads run one guest; 2,000 times another is loaded, run and dropped."""
    command = host(version, "split.wasm", "run", "threads=4", "argument=30", f"churn={ROUNDS}",
                   f"other={HOSTS / 'tiny.wasm'}", "cpu_ms=2500")
    memory = ResidentMemory(command[0])
    memory.start()
    profile = record(command)
    memory.is_over = True
    memory.join()
    expect(memory.growth_kib() < 32 * 1024, f"memory grew by {memory.growth_kib()} KiB")
    modules = profile.counts("wasm_module")
    names = {kind: [m for m in modules if m and m.startswith(kind)] for kind in ("split", "tiny")}
    expect(names["split"] and names["tiny"], f"modules {dict(modules)}")
    for sample in profile.samples:
        chain = pprof.guest_chain(sample)
        other = guests.TINY_CHAINS if sample.labels["wasm_module"] in names["split"] else guests.SPLIT_CHAINS
        # (run,) is in both
        expect(len(chain) < 2 or chain not in other, f"{chain} in {sample.labels['wasm_module']}")
    expect_chains(profile, guests.SPLIT_CHAINS | guests.TINY_CHAINS)


for each in VERSIONS:
    test("wasmtime {} {} modules come and go", each, ROUNDS)(lambda version, _: churn(version))

if __name__ == "__main__":
    sys.exit(harness.main())
