#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stacks.py - whole stacks: from the leaf, through guests and the host, to the thread's start; names of host calls."""

import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import pprof
import whole
from harness import (ENGINES, HOSTS, NEWEST, PYTHON, ROOT, VERSIONS, Skip, cpu_ms_for, environment, expect, expect_chains,
                     host, expect_shares, rate, record, test)

SAMPLES = 2500


def record_full(command, compare=True, **environ):
    return record(command, compare=compare, env=environment(GUESTPROF_STACKS="full", **environ))


def expect_complete(profile, least):
    whole.expect_complete(profile, least, SAMPLES / 2)


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


def call_by_position(version):
    """No wasm bytes were seen, but the function was given to the instance for an import."""
    profile = record(host(version, "calls.wasm", "callback", "serialize", "argument=300", cpu_ms_for(SAMPLES)))
    expect_through(profile, "callback_lower", "env.work")


def expect_split(profile):
    """CPU time in the guest's own code and in two host functions, each under the guest that called it."""
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


def known_split(version):
    expect_split(record(host(version, "mixed.wasm", "run", "argument=300", cpu_ms_for(5000))))


@test("known split over guest, host calls and a sleep")
def split_and_sleep():
    """The same, and how long the guest sleeps in another host function, of which its CPU time shows nothing."""
    profile = record(host(NEWEST, "mixed.wasm", "rest", "argument=1200000", "calls=4"), compare=False,
                     env=environment(GUESTPROF_WALL="1"))
    waits = {}
    for sample in profile.samples:
        if sample.wall_ns:
            place = tuple(frame.name for frame in sample.frames if frame.kind in ("guest", "host"))
            waits[place] = waits.get(place, 0) + sample.wall_ns / 1e9
    slept = waits.pop(("rest", "naps", "env.sleep", "[clock_nanosleep]"), 0)
    expect(abs(slept - 1.6) <= 0.12 * 1.6, f"slept {slept:.3f} s, not 1.6; others: {waits}")
    expect(sum(waits.values()) < 0.08, f"waits elsewhere: {waits}")
    expect_split(profile)


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
    test("wasmtime {} host calls by position", each)(call_by_position)


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


@test("wasmtime command line: a call of WASI")
def wasi_call():
    """A static host, whose wasm bytes nobody sees: the engine's own function says which import it is."""
    profile = record([program("wasmtime-cli-*/wasmtime"), "run", "-C", "cache=n", HOSTS / "wasi.wasm"])
    expect_through(profile, "fill", "wasi_snapshot_preview1.random_get")
    # The guest's own code is hardly ever met: at a low rate its thread must be known all the same.
    profile = record([program("wasmtime-cli-*/wasmtime"), "run", "-C", "cache=n", HOSTS / "wasi.wasm"], hz=100, compare=False)
    expect(profile.total() >= 50, f"only {profile.total()} samples at 100 Hz")


def named_afterwards(stacks):
    """A stripped static host, and wasm bytes that come later: the guest's call instruction names the import."""
    with harness.folder() as path:
        tool, file, named = path / "wasmtime", path / "out.pb.gz", path / "named.pb.gz"
        done = harness.Run(["strip", "-o", str(tool), str(program("wasmtime-cli-*/wasmtime"))])
        expect(done.status == 0, f"strip: {done.stderr}")
        run = harness.run_recorded([tool, "run", "-C", "cache=n", HOSTS / "wasi.wasm"], file,
                                   env=environment(GUESTPROF_STACKS=stacks))
        expect(file.exists(), f"no recording: {harness.tail(run.stderr)}")
        before = [names_of(sample) for sample in pprof.read(file).samples]
        expect(not any("wasi_snapshot_preview1.random_get" in names for names in before), "it had the name already")
        done = harness.Run([str(harness.GUESTPROF), "symbolize", "--wasm", str(HOSTS / "wasi.wasm"), "-o", str(named),
                            str(file)])
        expect(done.status == 0, f"symbolize: {done.stderr}")
        after = pprof.read(named)
    expect_through(after, "fill", "wasi_snapshot_preview1.random_get", least=0.99)
    for names, sample in zip(before, after.samples):
        added = sum(name == "wasi_snapshot_preview1.random_get" for name in names_of(sample))
        expected = len(names) + (added if stacks == "full" else 0)
        expect(len(sample.frames) == expected, f"{names} became {names_of(sample)}")


for each in ("hostcalls", "full"):
    test("stripped command line, a call of WASI named afterwards: {}", each)(named_afterwards)
test("wasmtime command line to main")(command_line)
test("wasmtime command line to main, {}", "native-unwind-info=n")(command_line)

if __name__ == "__main__":
    sys.exit(harness.main())
