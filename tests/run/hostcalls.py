#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostcalls.py - host calls counted one by one: all of them, how long they took, and when the longest were."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
from harness import HOSTS, PYTHON, ROOT, VERSIONS, environment, expect, host, major, record, test

CALLS = 20000
SPANS_A_SECOND = 200


def recorded(command, **environ):
    """The profile; what the host prints is the same as without guestprof."""
    return record(command, hz=1000, env=environment(GUESTPROF_HOSTCALLS="exact", **environ))


def counted(profile, name):
    """(calls, seconds, longest in seconds) of the only module that called NAME."""
    rows = [row for (function, module), row in profile.hostcalls.items() if function == name]
    expect(len(rows) == 1, f"{name}: {profile.hostcalls}")
    return rows[0].get(4, 0), rows[0].get(5, 0) / 1e9, rows[0].get(6, 0) / 1e9


def expect_counts(profile, **counts):
    for name, count in counts.items():
        found, seconds, longest = counted(profile, "env." + name)
        expect(found == count, f"{found} calls of {name}, not {count}")
        expect(0 < longest <= seconds < 3 * profile.run.seconds, f"{name}: {seconds} s, longest {longest} s")


def exact(version, *options):
    profile = recorded(host(version, "calls.wasm", "callback", "argument=60", f"calls={CALLS}", *options))
    expect_counts(profile, work=CALLS * (2 if "async" in options else 1))


def nested(version):
    """A host function calls the guest, which calls the host: both are counted, the inner one's time twice."""
    profile = recorded(host(version, "calls.wasm", "again", "argument=60", f"calls={CALLS}"))
    expect_counts(profile, work=CALLS, again=CALLS)
    expect(counted(profile, "env.again")[1] > counted(profile, "env.work")[1], "the outer call took less than the inner")


def component(version):
    profile = recorded(host(version, "comp.wasm", "call-out", "component", "argument=200", f"calls={CALLS}"))
    expect(counted(profile, "work")[0] == CALLS, f"{profile.hostcalls}")


def times(version):
    """Known waits: half a second, 0.3 s and 0.2 s in each of two calls; the longest are shown where they were."""
    profile = recorded(host(version, "waits.wasm", "run", "argument=1000", "calls=2"), GUESTPROF_WALL="1")
    for name, known in (("sleep", 1.0), ("receive", 0.6), ("lock", 0.4)):
        seconds = counted(profile, "env." + name)[1]
        expect(0.98 * known <= seconds <= 1.1 * known + 0.1, f"{seconds:.3f} s in {name}, not {known} s")
    expect(profile.intervals, "no intervals")
    expect(len(profile.intervals) <= SPANS_A_SECOND * (profile.duration_ns / 1e9 + 2), f"{len(profile.intervals)} intervals")
    for name, start_ns, duration_ns, thread in profile.intervals:
        expect(name in ("env.sleep", "env.receive", "env.lock") and thread > 0, f"interval {name} of thread {thread}")
        expect(0 < duration_ns and start_ns + duration_ns <= profile.duration_ns + 1e9, f"interval {start_ns} {duration_ns}")
    kept = sum(duration_ns for _, _, duration_ns, _ in profile.intervals) / 1e9
    expect(kept <= 2.3, f"{kept} s in intervals of a run of 2 s")


def bounded(version):
    """Many short calls: the number of intervals has a bound, the rest are counted."""
    profile = recorded(host(version, "calls.wasm", "callback", "argument=1", "calls=100000"))
    expect_counts(profile, work=100000)
    expect(len(profile.intervals) + profile.info.get(14, 0) == 100000,
           f"{len(profile.intervals)} intervals, {profile.info.get(14, 0)} left out")
    expect(len(profile.intervals) <= SPANS_A_SECOND * (profile.duration_ns / 1e9 + 2), f"{len(profile.intervals)} intervals")


def off(version):
    profile = record(host(version, "calls.wasm", "callback", "argument=60", f"calls={CALLS}"), hz=1000)
    expect(not profile.hostcalls and not profile.intervals, "counted without being asked")


for each in VERSIONS:
    test("wasmtime {} exact host calls, by position", each)(exact)
    test("wasmtime {} exact host calls, {}", each, "linker")(exact)
    test("wasmtime {} exact host calls, {}", each, "async")(exact)
    test("wasmtime {} exact host calls, nested", each)(nested)
    if major(each) >= 43:
        test("wasmtime {} exact host calls of a component", each)(component)
for each in VERSIONS[-1:]:
    test("wasmtime {} times of host calls", each)(times)
    test("wasmtime {} many host calls", each)(bounded)
    test("wasmtime {} host calls are not wrapped unasked", each)(off)


@test("report of exact host calls")
def report():
    with harness.folder() as path:
        file = path / "out.pb.gz"
        harness.run_recorded(host(VERSIONS[-1], "calls.wasm", "again", "argument=60", f"calls={CALLS}"), file, 1000,
                             env=environment(GUESTPROF_HOSTCALLS="exact"))
        shown = harness.Run([str(harness.GUESTPROF), "report", str(file)]).stdout
    rows = [line.split() for line in shown.splitlines() if line.startswith(f"{CALLS:11,d} ")]
    expect([row[-1] for row in rows] == ["env.again", "env.work"], f"no table of host calls: {shown[-600:]}")


@test("python exact host calls")
def python():
    profile = recorded([PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / "calls.wasm", "again", "1"])
    calls, seconds, _ = counted(profile, "env.work")
    expect(calls > 100 and calls == counted(profile, "env.again")[0], f"{profile.hostcalls}")
    expect(0 < seconds < profile.duration_ns / 1e9, f"{seconds} s of {profile.duration_ns / 1e9}: {profile.hostcalls}")


if __name__ == "__main__":
    sys.exit(harness.main())
