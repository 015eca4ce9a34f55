#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb.py - whole stacks against a second opinion: gdb's backtrace at the same stop.

Host frames must be the same addresses in the same order, and as many frames of generated code must
lie between them. Where gdb itself does not get to the program's start it is compared as far as it
got, if that is past the guest; else the stop does not count, and is told.
"""

import collections
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import pprof
from harness import ENGINES, HOSTS, LIBRARY, PYTHON, ROOT, Run, Skip, environment, expect, host, test

STOPS = 60
HZ = 200


def recorded_stacks(file):
    """Each stack as words, leaf first: host pcs as they were found, `?` for each frame of generated code."""
    profile = pprof.read(file)
    stacks = collections.Counter()
    for sample in profile.samples:
        words = []
        for frame in reversed(sample.frames):
            if frame.kind != "host":
                words.append("?")
            elif frame.address != 0:
                words.append(frame.address)
        stacks[tuple(words)] += sample.count
    return stacks


def gdb_stack(line):
    """The same of a line of gdb_stops.py, and why gdb stopped."""
    text, _, reason = line.partition("|")
    words = []
    for number, word in enumerate(text.split()):
        if word[0] == "?":
            words.append("?")
        elif word[0] != "-":
            words.append(int(word, 16) - (number > 0))
    return tuple(words), reason


def agrees(ours, gdbs):
    """gdb's, as far as it goes; one who stopped in generated code, or before it, has said nothing."""
    return ours[:len(gdbs)] == gdbs


def reached_host(stack):
    """Past the guest, and into the host that called it."""
    return "?" in stack and stack[-1] != "?"


def compare(command, least=STOPS // 2, **environ):
    if shutil.which("gdb") is None:
        raise Skip("no gdb")
    with harness.folder() as path:
        env = environment(STOPS_COUNT=str(STOPS), STOPS_FILE=str(path / "stops"), STOPS_PRELOAD=str(LIBRARY),
                          GUESTPROF_STACKS="full", GUESTPROF_HZ=str(HZ), GUESTPROF_OUTPUT=str(path / "out.pb.gz"),
                          GUESTPROF_EXACT_OUTPUT="1", **environ)
        run = Run(["gdb", "-nx", "-batch", "-x", str(ROOT / "tests/run/lib/gdb_stops.py"), "--args", *map(str, command)],
                  env=env, timeout=400)
        expect((path / "stops").exists(), f"gdb made no stops: {harness.tail(run.stdout + run.stderr)}")
        stops = [gdb_stack(line) for line in (path / "stops").read_text().splitlines()]
        files = sorted(path.glob("out*"))
        expect(files, f"no recording: {harness.tail(run.stdout + run.stderr)}")
        ours = recorded_stacks(files[0])
    judge(stops, ours, least)


def judge(stops, ours, least):
    same, gave_up, different = 0, collections.Counter(), []
    for stack, reason in stops:
        if "?" not in stack:
            continue
        if not reached_host(stack):
            gave_up[reason or "went astray"] += 1
            continue
        match = next((one for one in ours if ours[one] > 0 and agrees(one, stack)), None)
        if match is None:
            different.append(stack)
        else:
            ours[match] -= 1
            same += 1
    print(f"#   {same} stops the same, {len(different)} different, gdb did not get past the guest in "
          f"{sum(gave_up.values())} {dict(gave_up)}", flush=True)
    show = [[word if word == "?" else hex(word) for word in stack] for stack in different[:1]]
    expect(not different, f"{len(different)} of {len(stops)} stops differ: gdb {show}, "
                          f"ours {[[w if w == '?' else hex(w) for w in s] for s in list(ours)[:3]]}")
    expect(same >= least, f"only {same} stops of {len(stops)} could be compared: {dict(gave_up)}")


@test("gdb: wasmtime 50, host calls")
def newest():
    compare(host("50.0.1", "calls.wasm", "callback", "argument=300", "cpu_ms=1500"))


@test("gdb: wasmtime 50, nested calls")
def nested():
    compare(host("50.0.1", "calls.wasm", "again", "argument=300", "cpu_ms=1500"))


@test("gdb: wasmtime 50, nested calls, own unwinder")
def own_unwinder():
    compare(host("50.0.1", "calls.wasm", "again", "argument=300", "cpu_ms=1500"), GUESTPROF_UNWINDER="own")


@test("gdb: wasmtime 43, in the guest")
def in_guest():
    compare(host("43.0.0", "split.wasm", "run", "argument=300", "cpu_ms=1500"))


@test("gdb: wasmtime command line")
def command_line():
    compare([sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))[-1], "run", "-C", "cache=n", HOSTS / "wasi.wasm"])


@test("gdb: python")
def python():
    compare([PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / "calls.wasm", "callback", "4"])


@test("gdb: python, own unwinder")
def python_own():
    compare([PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / "calls.wasm", "callback", "4"], GUESTPROF_UNWINDER="own")


@test("gdb: wizer")
def wizer():
    with harness.folder() as path:
        compare([sorted(ENGINES.glob("wizer-*/wizer"))[-1], HOSTS / "split.wasm", "-o", path / "out.wasm"])


if __name__ == "__main__":
    sys.exit(harness.main())
