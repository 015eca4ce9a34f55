#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stacks.py - whole stacks: from the leaf, through guests and the host, to the thread's start; names of host calls."""

import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import pprof
from harness import (ENGINES, HOSTS, PYTHON, ROOT, VERSIONS, Skip, cpu_ms_for, environment, expect, expect_chains, host,
                     expect_shares, rate, record, test)

SAMPLES = 2500
# Where a chain may end: libc's thread start has no name in a stripped libc.
ROOTS = ("_start", "start_thread", "clone3", "__clone3", "libc.so.6+0x")


def record_full(command, compare=True, **environ):
    return record(command, compare=compare, env=environment(GUESTPROF_STACKS="full", **environ))


def expect_complete(profile, least):
    """The share of stacks that reach the thread's start, of all that were taken with a guest on the stack."""
    good = total = 0
    strange = {}
    for sample in profile.samples:
        total += sample.count
        if sample.frames[0].name.startswith(ROOTS) and not sample.truncated:
            good += sample.count
        else:
            strange[sample.frames[0].name] = strange.get(sample.frames[0].name, 0) + sample.count
    lost = profile.stats.get("lost_stack", 0) + profile.stats.get("no_guest_found", 0)
    total += lost
    expect(total >= SAMPLES / 2, f"only {total} samples")
    share = good / total
    print(f"#   {100 * share:.2f} % of {total} complete", flush=True)
    expect(share >= least, f"{100 * share:.2f} % of {total} stacks are complete, not {100 * least} %: "
                           f"{lost} without a guest, ends: {strange}")


def names_of(sample):
    return [frame.name for frame in sample.frames]


def expect_through(profile, *functions, least=0.9):
    """Nine of ten stacks in the host come by these functions, in order."""
    good = total = 0
    example = None
    for sample in profile.samples:
        if sample.labels.get("wasm_state") != "host":
            continue
        total += sample.count
        rest = iter(names_of(sample))
        if all(any(function in name for name in rest) for function in functions):
            good += sample.count
        else:
            example = names_of(sample)
    expect(total > 0 and good >= least * total, f"{good} of {total} stacks come by {functions}; one that does not: {example}")


EXPORTS = {
    "run": ("split.wasm", guests.SPLIT_CHAINS),
    "callback": ("calls.wasm", None),
    "grow": ("calls.wasm", None),
    "again": ("calls.wasm", None),
}


def c_host(version, export, least, *options, **environ):
    guest, chains = EXPORTS[export]
    profile = record_full(host(version, guest, export, "argument=300", cpu_ms_for(SAMPLES), *options), **environ)
    expect_complete(profile, least)
    if chains:
        expect_chains(profile, chains)
    return profile


def to_main(version, export):
    profile = c_host(version, export, 0.995)
    if export == "callback":
        expect_through(profile, "main", "call_module", "wasmtime_func_call", "callback_lower", "env.work", "import_work",
                       "import_burn")
    if export == "again":
        expect_through(profile, "main", "call_module", "again_lower", "env.again", "again", "callback_lower", "env.work",
                       "import_work")


def without_tables(version):
    """No registration, no unwind tables in the image: frames are followed by the frame pointer."""
    for export in ("run", "callback"):
        c_host(version, export, 0.99, "no_unwind_info")


def on_fibers(version):
    for export in ("run", "callback"):
        profile = c_host(version, export, 0.99, "async")
    expect_through(profile, "main", "async_run", "wasmtime_call_future_poll", "fiber", "callback_lower", "env.work",
                   "work", "import_burn")


def own_unwinder(version):
    """The same without libunwind."""
    c_host(version, "again", 0.995, GUESTPROF_UNWINDER="own")
    c_host(version, "callback", 0.99, "async", GUESTPROF_UNWINDER="own")


def named_call(version, *options):
    """In the default stacks: the import's name, from the call site."""
    profile = record(host(version, "calls.wasm", "again", "argument=300", cpu_ms_for(SAMPLES), *options))
    expect_through(profile, "again_lower", "env.again", "callback_lower", "env.work")
    for sample in profile.samples:
        hosts = [frame.name for frame in sample.frames if frame.kind == "host"]
        expect(set(hosts) <= {"env.again", "env.work", "(host)"}, f"a host frame too many: {names_of(sample)}")


def call_by_symbol(version):
    """No wasm bytes were seen: the host function's own name."""
    profile = record(host(version, "calls.wasm", "callback", "serialize", "argument=300", cpu_ms_for(SAMPLES)))
    expect_through(profile, "callback_lower", "import_work")


def known_split(version):
    """CPU time in the guest's own code and in two host functions, each under the guest that called it."""
    profile = record(host(version, "mixed.wasm", "run", "argument=300", cpu_ms_for(5000)))
    expect(profile.total() >= 5000, f"only {profile.total()} samples")
    counts = {}
    for sample in profile.samples:
        chain = [frame for frame in sample.frames if frame.kind in ("guest", "host")]
        leaf = chain[-1] if chain else None
        called = leaf.name if leaf is not None and leaf.kind == "host" else None
        within = [frame.name for frame in chain if frame.kind == "guest"]
        key = (within[-1] if within else None, called)
        counts[key] = counts.get(key, 0) + sample.count
    expect_shares(counts, guests.MIXED_SHARES)


def call_as_given(version):
    """No wasm bytes were seen, but the host gave the function to a linker under a name."""
    profile = record(host(version, "calls.wasm", "callback", "serialize", "linker", "argument=300",
                          cpu_ms_for(SAMPLES)))
    expect_through(profile, "callback_lower", "env.work")


for each in VERSIONS:
    test("wasmtime {} host calls as given", each)(call_as_given)
    test("wasmtime {} known split over guest and host calls", each)(known_split)
    for name in EXPORTS:
        test("wasmtime {} to main: {}", each, name)(to_main)
    test("wasmtime {} without unwind tables", each)(without_tables)
    test("wasmtime {} on fibers", each)(on_fibers)
    test("wasmtime {} own unwinder", each)(own_unwinder)
    test("wasmtime {} host calls by name", each)(named_call)
    test("wasmtime {} host calls by symbol", each)(call_by_symbol)


@test("python to the start of the thread")
def python():
    profile = record_full([PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / "calls.wasm", "again",
                           f"{SAMPLES * 1.3 / rate():.1f}"])
    expect_complete(profile, 0.995)
    # Python itself takes much of the time on its way to the second call.
    expect_through(profile, "Py_BytesMain", "ffi_call", "again_lower", "env.again", "callback_lower", "env.work",
                   least=0.3)
    expect_complete(record_full([PYTHON, ROOT / "tests/host/app.py", f"{SAMPLES / rate():.1f}"]), 0.995)


def bare_code(encoding, *options):
    """Code that came with unwind tables and nothing else: no image, no names, no frame pointers."""
    profile = record_full([HOSTS / "jit", str(round(SAMPLES * 1100 / rate())), encoding, *options])
    # Now and then the program is on its way between two calls, with no such code on the stack.
    expect_complete(profile, 0.98)
    for sample in profile.samples:
        names = names_of(sample)
        inside = [name for name in names if name.startswith("[jit 0x")]
        expect("main" in names and "call_code" in names and inside, f"a frame is missing: {names}")
    leaves = sum(s.count for s in profile.samples if s.frames[-1].name.endswith("+0xe]"))
    expect(leaves >= 0.95 * profile.total(), f"the inner function has {leaves} of {profile.total()}")


for each in ("00", "1b", "1c"):
    test("code with tables only, pointer encoding {}", each)(bare_code)
test("code with tables only, registered by {1}", "00", "fde")(bare_code)


def program(pattern):
    found = sorted(ENGINES.glob(pattern))
    if not found:
        raise Skip(f"no {pattern} in {ENGINES}")
    return found[-1]


@test("wizer to main")
def wizer():
    with harness.folder() as path:
        profile = record_full([program("wizer-*/wizer"), HOSTS / "split.wasm", "-o", path / "out.wasm"])
    expect_complete(profile, 0.995)


@test("dprint to the start of the thread")
def dprint():
    """Stripped, and its engine registers nothing: images are found by looking."""
    tool = program("dprint-*/dprint")
    with harness.folder() as path:
        (path / "dprint.json").write_text(json.dumps({"json": {}, "plugins": [str(tool.parent / "json.wasm")]}))
        (path / "big.json").write_text(json.dumps([{"a": list(range(60)), "b": "x" * 40}] * 30000))
        command = [tool, "check", "--incremental=false", "big.json"]
        env = environment(GUESTPROF_STACKS="full", DPRINT_CACHE_DIR=str(path / "cache"))
        for _ in range(2):  # the first run compiles the plugin
            run = harness.run_recorded(command, path / "out.pb.gz", 4000, cwd=path, env=env)
        expect((path / "out.pb.gz").exists(), f"no recording: {harness.tail(run.stderr)}")
        expect_complete(pprof.read(path / "out.pb.gz"), 0.99)


def command_line(*options):
    profile = record_full([program("wasmtime-cli-*/wasmtime"), "run", "-C", ",".join(("cache=n",) + options),
                           HOSTS / "split.wasm"])
    expect_complete(profile, 0.995)


@test("20 s of throws, dlopen and modules, whole stacks")
def torture():
    profile = record_full([HOSTS / harness.NEWEST / "torture", HOSTS / "split.wasm", HOSTS / "plugin.so", "20"],
                          compare=False)
    expect(profile.run.status == 0 and profile.run.stdout == "torture: no stall\n", profile.run.stderr)
    expect_complete(profile, 0.99)


@test("wasmtime command line: a call of WASI")
def wasi_call():
    """A static host, whose wasm bytes nobody sees: the engine's own function says which import it is."""
    profile = record([program("wasmtime-cli-*/wasmtime"), "run", "-C", "cache=n", HOSTS / "wasi.wasm"])
    expect_through(profile, "fill", "wasi_snapshot_preview1.random_get")


test("wasmtime command line to main")(command_line)
test("wasmtime command line to main, {}", "native-unwind-info=n")(command_line)

if __name__ == "__main__":
    sys.exit(harness.main())
