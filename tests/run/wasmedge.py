#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wasmedge.py - WasmEdge by its C API and by its command: compiled ahead of time, JIT, interpreter.

Its code has no frame pointers: stacks come of its unwind tables. It inlines and makes tail calls, so it has a guest of
its own, with the shares of the others'.
"""

import re
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
import pprof
from harness import (ENGINES, GUESTPROF, HOSTS, Run, Skip, expect, expect_chains, expect_instances, expect_shares,
                     record, test)

FOLDER = HOSTS / "wasmedge"
SAMPLES = 5000  # of each kind of code
VERSION = "0.14"


def host(guest, *options, export="run"):
    if not (FOLDER / "host").exists():
        raise Skip(f"no wasmedge-* in {ENGINES}")
    return [FOLDER / "host", FOLDER / guest, export, *options]


def command(*words):
    (engine,) = sorted(ENGINES.glob("wasmedge-*/complete"))[-1:] or [None]
    if engine is None:
        raise Skip(f"no wasmedge-* in {ENGINES}")
    engine = engine.parent
    return [engine / "lib/ld-linux-x86-64.so.2", "--library-path", engine / "lib", engine / "bin/wasmedge", *words]


def expect_split(profile, engine, seen_by, chains=guests.SPLIT_CHAINS, least=SAMPLES):
    expect(profile.total() >= least, f"only {profile.total()} samples, not {least}")
    expect_shares(expect_chains(profile, chains, least=0.99), guests.SPLIT_SHARES, slack=0.01)
    expect(profile.counts("wasm_state")["guest"] >= 0.95 * profile.total(), f"states {dict(profile.counts('wasm_state'))}")
    cells.measured(engine, VERSION, "modules", seen_by)
    cells.measure(engine, VERSION, profile, chains)


def expect_halves(profile):
    instances = expect_instances(profile, 2)
    expect_shares(instances, dict.fromkeys(instances, 0.5), "instances", slack=0.02)


def ahead_of_time(guest, *options):
    profile = record(host(guest, harness.cpu_ms_for(SAMPLES), "instances=2", *options))
    expect_split(profile, "WasmEdge, compiled ahead of time (C API)", "its C API")
    expect_halves(profile)
    cells.measured("WasmEdge, compiled ahead of time (C API)", VERSION, "instances", "each")


test("WasmEdge AOT, a shared object in a VM: shares, instances", "split.so")(ahead_of_time)
test("WasmEdge AOT, universal, from memory, by an executor: shares, instances",
     "split.aot.wasm", "executor", "buffer")(ahead_of_time)


@test("WasmEdge JIT, by its command: shares")
def just_in_time():
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded(command("run", "--enable-jit", FOLDER / "split.wasm"), file)
        expect(run.status == 0 and file.exists(), f"status {run.status}: {harness.tail(run.stderr)}")
        profile = pprof.read(file)
        text = harness.report(file)
    # two seconds of CPU, on a fast machine one
    expect_split(profile, "WasmEdge's JIT (its command)", "the one call that it makes", guests.COMMAND_CHAINS,
                 min(SAMPLES, int(0.6 * harness.rate())))
    expect(len(expect_instances(profile, 1)) == 1, "one instance")
    cells.measured("WasmEdge's JIT (its command)", VERSION, "instances", "each")
    expect(re.search(r" s, WasmEdge 0\.\d+\.\d+\n", text), text[:200])


WAYS = {
    "registered": ["split.so", "registered"],
    "run at once": ["split.so", "run"],
    "run at once from memory": ["split.aot.wasm", "run", "buffer"],
    "executor": ["split.so", "executor"],
    "VM, another thread": ["split.so", "async"],
    "executor, another thread": ["split.aot.wasm", "executor", "async"],
    "registered, another thread": ["split.so", "registered", "async"],
    "run at once, another thread": ["split.so", "run", "async"],
    "unloaded and loaded again": ["split.so", "executor", "rounds=8"],
    "made and deleted again": ["split.aot.wasm", "buffer", "rounds=8"],
}


def way(guest, *options):
    """All stacks whole, each sample in an instance."""
    rounds = 8 if "rounds=8" in options else 1
    # A thread has its clock a moment after its start: calls of some 40 ms. Code that is made for each call is seen while
    # there are not many hundreds of it within the moment in which our thread looks: of 10 ms.
    argument = 40000 if "async" in options else 10000 if "run" in options else 1000
    profile = record(host(guest, f"cpu_ms={300 // rounds}", f"argument={argument}", *options))
    expect(profile.total() >= 300, f"only {profile.total()} samples")
    leaves = expect_chains(profile, guests.SPLIT_CHAINS, least=0.98)
    expect({"outer", "middle", "inner"} <= set(leaves), f"functions missing: {leaves}")
    instances = profile.counts("wasm_instance")
    expect(instances.get(None, 0) <= 0.02 * profile.total(), f"instances {dict(instances)}")
    expect(len({name for name in profile.counts("wasm_module") if name}) == 1, f"{dict(profile.counts('wasm_module'))}")


for name, words in WAYS.items():
    test(f"WasmEdge: {name}", *words)(way)


def traps(export):
    """The engine catches faults with handlers that it takes back after each call."""
    plain = Run([*map(str, host("traps.so", "traps", "cpu_ms=100", export=export))])
    expect(plain.status == 0, plain.stderr)
    with harness.folder() as path:
        run = harness.run_recorded(host("traps.so", "traps", "cpu_ms=300", export=export), path / "out.pb.gz")
    harness.same_as_without(run, plain)


for name in ("bounds", "divide"):
    test("WasmEdge: traps, {}", name)(traps)


def interpreted(words, instances):
    """No frames, said in words; but the time of each instance."""
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded(words, file)
        expect(run.status == 0 and file.exists(), f"status {run.status}: {harness.tail(run.stderr)}")
        profile, text = pprof.read(file), harness.report(file)
    expect(profile.total() >= 300, f"only {profile.total()} samples")
    expect(profile.counts("wasm_state")["interpreter"] >= 0.97 * profile.total(), f"{dict(profile.counts('wasm_state'))}")
    found = instances and expect_instances(profile, instances)
    if instances == 2:
        expect_shares(found, dict.fromkeys(found, 0.5), "instances", slack=0.1)
    expect("is in an interpreter" in " ".join(text.split()), text)


@test("WasmEdge interpreter: the time of each instance")
def interpreter():
    interpreted(host("split.wasm", "cpu_ms=400", "instances=2"), 2)
    cells.interpreted("WasmEdge's interpreter (C API)", VERSION)


@test("WasmEdge interpreter: run at once, from memory, in other threads")
def interpreted_at_once():
    interpreted(host("split.wasm", "run", "cpu_ms=150", "argument=5000"), None)
    interpreted(host("split.wasm", "run", "buffer", "cpu_ms=150", "argument=5000"), None)
    interpreted(host("split.wasm", "run", "async", "cpu_ms=250", "argument=5000"), None)


@test("WasmEdge interpreter: code ahead of time is there, and not used")
def forced_interpreter():
    interpreted(host("split.aot.wasm", "interpreter", "executor", "cpu_ms=200"), 1)


@test("WasmEdge interpreter, by its command")
def command_interpreter():
    interpreted(command("run", "--reactor", FOLDER / "split.wasm", "run", "15000"), 1)


@test("WasmEdge: doctor")
def doctor():
    done = Run([str(GUESTPROF), "doctor", "--", *map(str, host("split.wasm"))],
               env=harness.environment(GUESTPROF_LIB=str(harness.LIBRARY)))
    text = " ".join(done.stdout.split())
    expect(re.search(r"\bok engine WasmEdge .*C API", text), done.stdout)
    expect(re.search(r"\blimit interpreter WasmEdge interprets", text), done.stdout)
    expect("LLVM" not in text, done.stdout)


if __name__ == "__main__":
    sys.exit(harness.main())
