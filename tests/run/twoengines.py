#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""twoengines.py - two engines in one process, both with the names of wasm.h: each call is the engine's that the host
chose, and each module is shown as that engine's.

The first engine runs on one thread for as long as another thread opens, uses and closes the second. The host checks
every result itself (tests/host/two/two.c).
"""

import re
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import ENGINES, HOSTS, NEWEST, ROOT, Run, Skip, expect, run_recorded, tail, test

TWO = HOSTS / "two"
LEFT, RIGHT = HOSTS / "left.wasm", HOSTS / "right.wasm"
WASMTIME = f"wasmtime-{NEWEST}"
OLDEST = f"wasmtime-{harness.VERSIONS[0]}" if NEWEST else None
WASMER, NEW_WASMER = "wasmer-go-v1.0.4", "wasmer-7.4.2"
HZ = 1000
MAPPING_ENGINE = 1001  # preload/encode/recording.h
MORE_KB = 8000  # a process may gain: 100 kB a round would be too much
EXDEV = -18


def library(engine):
    return next((ENGINES / engine).glob("lib*.so"), None)


def side(way, engine, guest):
    """Arguments for one of the two: WAY, what is opened, and GUEST."""
    if library(engine) is None:
        raise Skip(f"no {engine} in {ENGINES}: `make test-all` builds it")
    plugin = way in ("calls", "jumps", "pointers", "deep")
    return [way, TWO / f"{engine}.so" if plugin else library(engine), guest]


def host(first, second, *options, rounds=100, calls=10):
    """FIRST and SECOND: (way, engine)."""
    linked = first[1] if first[0] == "linked" else None
    program = TWO / (f"two-{linked}" if linked else "two")
    return [program, f"rounds={rounds}", f"calls={calls}", *options, *side(*first, LEFT), *side(*second, RIGHT)]


def gained(run):
    """Descriptors and kB over the last three quarters of the rounds."""
    found = re.search(r"gained (-?\d+) descriptors, (-?\d+) kB", run.stderr)
    expect(found, f"no figures: {tail(run.stderr)}")
    return int(found[1]), int(found[2])


def runs_well(run, what):
    expect(run.status == 0 and run.stdout == "done\n", f"{what}: status {run.status}: {tail(run.stdout + run.stderr)}")


def expect_told_apart(profile, engines):
    """ENGINES: what each of the guests `left` and `right` is shown as."""
    for name, engine in engines.items():
        found = {profile.strings[row.get(MAPPING_ENGINE, 0)] for row in profile.mappings.values()
                 if profile.strings[row.get(5, 0)].startswith(name)}
        expect(found <= {engine}, f"{name} is of {found}, not {engine}")
    counts = dict.fromkeys(engines, 0)
    for sample in profile.samples:
        module = sample.labels.get("wasm_module") or ""
        name = module.split("@")[0]
        expect(name in engines, f"a sample of {module!r}: {sample}")
        counts[name] += sample.count
        for function in pprof.guest_chain(sample):
            expect(function.startswith(name + "_"), f"{function} in {module}")
    return counts


def check(command, engines, hz=HZ, env=None):
    """The host alone, then with us; ENGINES as for expect_told_apart()."""
    plain = Run([re.sub(r"^rounds=.*", "rounds=20", str(word)) for word in command])
    runs_well(plain, "alone")
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = run_recorded(command, file, hz, env=env)
        runs_well(run, "with us")
        expect(file.exists(), f"no recording: {tail(run.stderr)}")
        profile = pprof.read(file)
        head = Run([str(harness.GUESTPROF), "report", str(file)]).stdout.splitlines()[0]
    for descriptors, kb, what in ((*gained(plain), "alone"), (*gained(run), "with us")):
        expect(descriptors <= 0 and kb <= MORE_KB, f"{what}: {descriptors} descriptors, {kb} kB in {command[1]}")
    counts = expect_told_apart(profile, engines)
    # tens of ms of guest on each side
    expect(min(counts.values()) > 0, f"{counts} samples")
    for engine in engines.values():
        expect(re.search(rf", {re.escape(engine)}(,|$)", head), f"{engine} is not in {head!r}")
    return run


def shown(engine):
    """As a recording names it: wasmtime's images have the whole version up to 38."""
    names = {WASMER: "wasmer 2.0.0", NEW_WASMER: "wasmer 7.4.2"}
    version = engine.split("-")[1]
    return names.get(engine) or f"wasmtime {version if harness.major(version) < 39 else harness.major(version)}"


def both(first, second):
    return {"left": shown(first), "right": shown(second)}


# ---- how the functions are found --------------------------------------------------------------------


ORDERS = [(WASMTIME, WASMER), (WASMER, WASMTIME)]


def ways():
    for way in ("handle", "jumps", "pointers"):
        for first, second in ORDERS:
            yield way, first, second
    yield "version", *ORDERS[0]
    yield "calls", *ORDERS[1]


def by_way(way, first, second):
    check(host((way, first), (way, second)), both(first, second))


for row in ways():
    test("two engines by {}: {} stays, {} comes and goes 100 times", *row)(by_way)


@test("two engines: one linked, one by handle")
def linked():
    for first, second in ORDERS:
        check(host(("linked", first), ("handle", second), rounds=30), both(first, second))


@test("two engines: one linked is everybody's, plugins of another as well")
def linked_for_all():
    """The loader looks in the program's own scope first: without us, too."""
    for way in ("jumps", "pointers"):
        check(host(("linked", WASMTIME), (way, WASMER), rounds=30), both(WASMTIME, WASMTIME))


@test("two engines: the first is global")
def first_is_global():
    """dlsym(RTLD_DEFAULT) finds that one from then on: both guests are its."""
    check(host(("global", WASMER), ("global", WASMTIME), rounds=30), both(WASMER, WASMER))
    check(host(("global", WASMTIME), ("handle", WASMER), rounds=30), both(WASMTIME, WASMER))


@test("two engines: what goes past a preload still works")
def past_us():
    """RTLD_DEEPBIND, and a namespace of its own: the one is not seen, the other stays as it was."""
    for first, second in (("jumps", "deep"), ("linked", "deep")):
        command = host((first, WASMTIME), (second, WASMER), rounds=30)
        runs_well(Run([str(word) for word in command]), "alone")
        with harness.folder() as path:
            run = run_recorded(command, path / "out.pb.gz", HZ)
            runs_well(run, "with us")
            expect_told_apart(pprof.read(path / "out.pb.gz"), {"left": shown(WASMTIME)})
    with harness.folder() as path:
        run = run_recorded(host(("space", WASMTIME), ("handle", WASMER), rounds=30), path / "out.pb.gz", HZ)
        runs_well(run, "with us")
        expect_told_apart(pprof.read(path / "out.pb.gz"), both(WASMTIME, WASMER))


@test("two engines: unmapped each time, 100 times")
def unmapped():
    """A thread for each round, and an engine without threads of its own. Little room: rings are not what is measured."""
    env = harness.environment(GUESTPROF_MEMORY="8M")
    for way in ("handle", "jumps"):
        check(host((way, WASMER), (way, WASMTIME), "apart=1", calls=30), both(WASMER, WASMTIME), hz=250, env=env)


@test("two engines: wasmtime twice, the oldest and the newest")
def two_wasmtimes():
    """By path: to what is linked, the loader gives the first library of a name."""
    check(host(("handle", OLDEST), ("handle", WASMTIME), rounds=30), both(OLDEST, WASMTIME))


@test("two engines: wasmer 2 and 7, and wasmtime")
def new_wasmer():
    for way, first, second in (("handle", NEW_WASMER, WASMTIME), ("jumps", WASMTIME, NEW_WASMER),
                               ("handle", WASMER, NEW_WASMER)):
        check(host((way, first), (way, second), rounds=30), both(first, second))


# ---- one symbol set ---------------------------------------------------------------------------------


@test("two engines: a prepared set is of one engine")
def sets():
    for way, (first, second) in (("handle", ORDERS[0]), ("jumps", ORDERS[1])):
        run = check(host((way, first), (way, second), "sets=1", rounds=20), both(first, second))
        found = re.search(r"sets of one engine (\S+) (\S+), of both (\S+) (\S+), of any (\S+)\n", run.stderr)
        expect(found, tail(run.stderr))
        expect([int(word) for word in found.groups()] == [0, 0, EXDEV, EXDEV, 0], found[0])


@test("two engines under one Python: wasmtime and wasmer-sdk")
def python():
    """Each is loaded first once."""
    command = [harness.python_with("wasmer-sdk"), ROOT / "tests/host/two/both.py", LEFT, RIGHT]
    env = harness.environment(PYTHONPATH=str(ENGINES / "python-wasmtime" / NEWEST))
    with harness.folder() as path:  # the SDK keeps a cache there
        plain = Run([str(word) for word in command], cwd=path, env=env)
    expect(plain.status == 0 and plain.stdout == "done\n", f"alone: {plain.status}: {tail(plain.stderr)}")
    for more in ([], ["wasmer"]):
        with harness.folder() as path:
            run = run_recorded(command + more, path / "out.pb.gz", HZ, cwd=path, env=env)
            runs_well(run, "with us")
            counts = expect_told_apart(pprof.read(path / "out.pb.gz"), {"left": "wasmer", "right": shown(WASMTIME)})
            expect(min(counts.values()) > 0, f"{counts} samples")


if __name__ == "__main__":
    sys.exit(harness.main())
