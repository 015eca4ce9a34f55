#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wall.py - waiting time: how long, under which guest function, in which call; and no EINTR."""

import collections
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import harness
import pprof
from harness import GUESTPROF, NEWEST, VERSIONS, Run, Skip, expect, folder, host, record, test

WAITS = {"napper": ("[clock_nanosleep]", 0.5), "reader": ("[read]", 0.3), "locker": ("[futex]", 0.2)}
TOLERANCE = 0.05


def recorded(command, hz=100, env=None, waits=True, **options):
    """The profile of a run with --wall."""
    env = harness.environment(GUESTPROF_WALL="1", **(env or {}))
    return record(command, hz=hz, waits=waits, env=env, **options)


def waits(profile):
    """Wall nanoseconds by (innermost guest function, leaf)."""
    found = collections.Counter()
    for sample in profile.samples:
        expect((sample.wall_ns != 0) == (sample.labels["wasm_state"] == "waiting"), f"a mixed sample: {sample}")
        if sample.wall_ns == 0:
            continue
        expect(sample.count == 0 and sample.cpu_ns == 0, f"CPU time in a wait: {sample}")
        found[(pprof.guest_chain(sample) or ("",))[-1], sample.frames[-1].name] += sample.wall_ns
    return found


def expect_near(what, found, known, tolerance=TOLERANCE):
    expect(abs(found - known) <= tolerance * known, f"{what}: {found:.3f}, not {known:.3f} within {100 * tolerance} %")


def known_waits(version):
    """Half of the time sleeping, 30 % reading, 20 % at a lock, each under its guest function."""
    profile = recorded(host(version, "waits.wasm", "run", "argument=1000", "calls=5"))
    found, seconds = waits(profile), 5
    expect(profile.types == ["samples", "cpu", "wall"], f"types {profile.types}")
    for function, (call, share) in WAITS.items():
        expect_near(f"{function} in {call}", found.pop((function, call), 0) / 1e9, share * seconds)
    expect(sum(found.values()) < 0.01e9 * seconds, f"waits elsewhere: {found}")
    for sample in profile.samples:
        if sample.frames[-1].name == "[read]":
            expect(isinstance(sample.labels.get("descriptor"), int), f"no descriptor: {sample.labels}")
    chains = {pprof.guest_chain(sample) for sample in profile.samples if sample.wall_ns}
    expect(chains == {("run", function) for function in WAITS}, f"chains {chains}")


def one_long_wait(version):
    profile = recorded(host(version, "waits.wasm", "nap", "argument=3000"))
    expect_near("a sleep of 3 s", sum(waits(profile).values()) / 1e9, 3, 0.02)


@test("wall: many threads")
def many_threads():
    profile = recorded(host(NEWEST, "waits.wasm", "run", "argument=1000", "calls=4", "threads=16"))
    found = waits(profile)
    for function, (call, share) in WAITS.items():
        expect_near(f"{function} in {call}", found[function, call] / 1e9, share * 16 * 4)
    threads = {sample.labels["thread_id"] for sample in profile.samples if sample.wall_ns}
    expect(len(threads) == 16, f"{len(threads)} threads")


@test("wall: stacks without the host")
def guest_stacks():
    profile = recorded(host(NEWEST, "waits.wasm", "run", "argument=200", "calls=10"),
                       env={"GUESTPROF_STACKS": "guest"})
    kinds = {frame.kind for sample in profile.samples for frame in sample.frames}
    expect(kinds == {"guest"}, f"kinds {kinds}")
    expect_near("waiting", sum(sample.wall_ns for sample in profile.samples) / 1e9, 2)


@test("wall: only where asked for")
def not_asked_for():
    """At a rate at which the clock interrupts no wait."""
    profile = record(host(NEWEST, "mixed.wasm", "rest", "argument=1200000", "calls=1"), hz=250)
    expect(profile.types == ["samples", "cpu"], f"types {profile.types}")
    expect(profile.stats["waits"] == 0, "waits without being asked")


@test("wall: cpu time is as without")
def cpu_time_is_as_without():
    """A busy guest: its shares and its CPU time do not change, and it does not wait."""
    command = host(NEWEST, "split.wasm", "run", "argument=300", "cpu_ms=2000")
    profile = recorded(command, hz=250, waits=False)
    expect_near("CPU time", sum(sample.cpu_ns for sample in profile.samples) / 1e9, 2)
    expect(sum(waits(profile).values()) < 0.05e9, f"waits of a busy guest: {waits(profile)}")


@test("wall: no interrupted call")
def no_interrupted_call():
    """100,800 waits in seven calls: as many end with EINTR as without guestprof, none."""
    command = host(NEWEST, "restless.wasm", "run", "argument=900", "threads=16")
    profile = recorded(command)
    found = re.search(r"restless: .*", profile.run.stdout)[0]
    expect(found == "restless: 100800 calls, 0 interrupted", found)
    calls = {call for _, call in waits(profile)}
    expect({"[accept]", "[poll]", "[epoll_wait]"} <= calls, f"seen in {calls}")


@test("wall: nested calls")
def nested_calls():
    """guest -> host -> guest -> host, where it sleeps: both guests are on the stack."""
    profile = recorded(host(NEWEST, "nested.wasm", "outer", "argument=500", "calls=4"))
    chains = collections.Counter()
    for sample in profile.samples:
        if sample.wall_ns:
            chains[pprof.guest_chain(sample)] += sample.wall_ns
    expect_near("both guests", chains.pop(("outer", "outer_lower", "callback", "callback_lower"), 0) / 1e9, 2)
    expect(not chains, f"others: {chains}")


@test("wall: wasmtime command line")
def command_line():
    """A static host, whose entries nobody sees: the stack tells, on a fiber."""
    found = sorted(harness.ENGINES.glob("wasmtime-cli-*/wasmtime"))
    if not found:
        raise Skip("no wasmtime command line")
    profile = recorded([found[-1], "run", "-C", "cache=n", harness.HOSTS / "naps.wasm"])
    slept = waits(profile)
    expect_near("naps in WASI", slept.pop(("napper", "[clock_nanosleep]"), 0) / 1e9, 2)
    expect(sum(slept.values()) < 0.05e9, f"waits elsewhere: {slept}")
    cells.waits("wasmtime's command line", found[-1].parent.name.rpartition("-")[2].partition(".")[0], profile, 2)


@test("wall: cost")
def cost():
    """50 threads that wait: our own thread takes less than 1 % of a core for it."""
    profile = recorded(host(NEWEST, "waits.wasm", "nap", "argument=5000", "threads=50"))
    expect_near("waiting", sum(waits(profile).values()) / 1e9, 50 * 5, 0.02)
    share = profile.info[10] / profile.duration_ns
    expect(share < 0.01, f"own thread took {100 * share:.2f} % of a core")


@test("wall: parked calls")
def parked_calls():
    """Two futures that nobody polls for 100 ms, 20 times: exact, on no thread, by instance."""
    profile = recorded(host(NEWEST, "calls.wasm", "callback", "argument=500", "calls=20", "async", "park_ms=100"))
    parked = collections.Counter()
    for sample in profile.samples:
        if [frame.name for frame in sample.frames] == ["(parked)"]:
            parked[sample.labels["wasm_module"]] += sample.wall_ns
            expect("thread_id" not in sample.labels, f"on a thread: {sample.labels}")
    expect(len(parked) == 1, f"{parked}")
    expect_near("parked", sum(parked.values()) / 1e9, 2 * 20 * 0.1, 0.02)


@test("wall: undumpable process")
def undumpable():
    """Nothing can be seen; that is counted and said once."""
    if os.geteuid() != 0:
        raise Skip("needs another user")
    with folder() as path:
        os.chmod(path, 0o777)
        file = path / "out.pb"
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *host(
            NEWEST, "waits.wasm", "run", "argument=100", "calls=10", "undumpable")]
        run = Run([str(GUESTPROF), "record", "--wall", "-F", "250", "-o", str(file), "--", *command])
    said = [line for line in run.stderr.splitlines() if "PR_SET_DUMPABLE" in line]
    expect(run.status == 0, f"status {run.status}: {run.stderr}")
    expect(len(said) == 1, f"said {len(said)} times: {run.stderr}")


@test("wall: report")
def report():
    with folder() as path:
        file = path / "out.pb.gz"
        Run([str(GUESTPROF), "record", "--wall", "-o", str(file), "--",
             *host(NEWEST, "waits.wasm", "run", "argument=200", "calls=10")])
        text = Run([str(GUESTPROF), "report", str(file)])
        whole = json.loads(Run([str(GUESTPROF), "report", "--json", str(file)]).stdout)
        folded = Run([str(GUESTPROF), "export", "--to", "folded", "--value", "wall", str(file)]).stdout
    expect(text.status == 0, text.stderr)
    expect("WAIT s" in text.stdout and re.search(r"\[read\] .*reader", text.stdout), text.stdout)
    expect(max(map(len, text.stdout.splitlines())) <= 100, "lines over 100 columns")
    expect_near("wall_ns", whole["wall_ns"] / 1e9, 2)
    expect(whole["waits"][0]["function"] == "napper", f"{whole['waits']}")
    counts = {line.rsplit(" ", 1)[0].split(";")[-1]: int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()}
    expect_near("folded", sum(counts.values()) / 1e9, 2)
    expect({call for call, _ in WAITS.values()} == set(counts), f"{counts}")


for each in VERSIONS:
    test("wasmtime {} known waits", each)(known_waits)
    test("wasmtime {} one long wait", each)(one_long_wait)

if __name__ == "__main__":
    sys.exit(harness.main())
