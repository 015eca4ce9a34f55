#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accuracy.py [-o FILE] - whose shares are right: a guest with known parts, under each profiler.

A round of the guest is a quarter each of straight code (no loop, no call), a loop, calls, and a
host call. How long each part takes is measured apart, without a profiler: that is the truth. What a
profiler does not name, or gives to another function, stands under "other or unnamed".
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from peers import Table, Way, machine, newest, pprof, recording, ways

PARTS = ("straight", "loop", "calls", "host")
SECONDS = 3
STEP = """(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))
"""
GUEST = f"""(module $accuracy
(import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
(memory (export "memory") 1)
(global $x (mut i64) (i64.const 1))
(func $straight (local $x i64) (local.set $x (global.get $x))
{STEP * 8000}(global.set $x (local.get $x)))
(func $loop (local $x i64) (local $n i32) (local.set $x (global.get $x)) (local.set $n (i32.const 8000))
(loop $more {STEP}(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
(global.set $x (local.get $x)))
(func $callee (param $x i64) (result i64) {STEP}(local.get $x))
(func $calls (local $n i32) (local.set $n (i32.const 6000))
(loop $more (global.set $x (call $callee (global.get $x)))
(br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
(func $host (drop (call $random_get (i32.const 0) (i32.const 8000))))
(func $some (param $part i32) (if (i32.and (local.get $part) (i32.const 1)) (then (call $straight)))
(if (i32.and (local.get $part) (i32.const 2)) (then (call $loop)))
(if (i32.and (local.get $part) (i32.const 4)) (then (call $calls)))
(if (i32.and (local.get $part) (i32.const 8)) (then (call $host))))
(func (export "run") (param $parts i32) (param $rounds i32)
(loop $more (call $some (local.get $parts))
(br_if $more (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))))
"""


def run(guest, parts, rounds, way=None, folder="/"):
    """(CPU seconds, stderr) of ROUNDS rounds of PARTS, a bit each."""
    way = way or Way()
    words = [*way.before, newest("wasmtime-cli-*/wasmtime"), "run", "--allow-precompiled", *way.options, "--invoke", "run",
             guest["epoch" if way.epoch else "plain"], parts, rounds]
    with open(f"{folder}/err" if folder != "/" else os.devnull, "wb") as err:
        process = subprocess.Popen(list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=err, env=way.whole_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"accuracy: {' '.join(map(str, words))}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, process.pid


def truth(guest):
    """(shares, rounds a second), from each part alone, less what a run costs that does nothing."""
    rounds, bare = 8000, min(run(guest, 0, 1)[0] for _ in range(3))
    cost = [min(run(guest, 1 << i, rounds)[0] for _ in range(3)) - bare for i in range(len(PARTS))]
    return {part: each / sum(cost) for part, each in zip(PARTS, cost)}, rounds / sum(cost)


def part_of(names):
    """NAMES are a stack's functions, root first: the innermost that is a part."""
    for name in reversed(names):
        plain = re.sub(r"^.*::|^.*!", "", name)
        if plain == "random_get" or "random_get" in name:
            return "host"
        if plain == "callee":
            return "calls"
        if plain in PARTS:
            return plain
    return "other"


def add(counts, names, weight):
    part = part_of(names)
    counts[part] = counts.get(part, 0) + weight


def from_ours(folder, _pid):
    counts = {}
    for sample in pprof.read(recording(folder)).samples:
        add(counts, [frame.name for frame in reversed(sample.frames)], sample.count)
    return counts


def from_guest_profiler(folder, _pid):
    profile, counts = json.loads((folder / "guest.json").read_text()), {}
    for thread in profile["threads"]:
        texts, stacks, frames = thread.get("stringArray") or profile["shared"]["stringArray"], thread["stackTable"], thread["frameTable"]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"].get("weight") or [1] * len(thread["samples"]["stack"])):
            names = []
            while stack is not None:
                names.insert(0, texts[thread["funcTable"]["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            if names:
                add(counts, names, weight)
    return counts


def from_perf(folder, _pid):
    text = subprocess.run(["perf", "script", "-i", folder / "perf.data", "-F", "ip,sym"], capture_output=True, text=True).stdout
    counts = {}
    for stack in text.split("\n\n"):
        lines = [line.split(maxsplit=1)[1] for line in stack.splitlines() if len(line.split(maxsplit=1)) == 2]
        if lines:
            add(counts, list(reversed(lines)), 1)
    return counts


def from_collapsed(folder, _pid):
    counts = {}
    for line in (folder / "async.collapsed").read_text().splitlines():
        stack, weight = line.rsplit(" ", 1)
        add(counts, stack.split(";"), int(weight))
    return counts


def from_gperftools(folder, _pid):
    """As its own format's readers see it: addresses, which no file names."""
    text = subprocess.run([newest("pprof/pprof"), "-traces", folder / "gperf.prof"], capture_output=True, text=True).stdout
    counts = {}
    for stack in text.split("-----------+")[1:]:
        rows = [line.split() for line in stack.splitlines()[1:] if line.strip()]
        if rows and rows[0][0][:1].isdigit():
            seconds = re.match(r"([0-9.]+)(ms|s)", rows[0][0])
            weight = float(seconds[1]) * (1 if seconds and seconds[2] == "s" else 0.001) if seconds else 0
            add(counts, [row[-1] for row in reversed(rows)], weight)
    return counts


READERS = {"1000 Hz": from_ours, "100 Hz": from_ours, "guest profiler 1 ms": from_guest_profiler,
           "guest profiler 10 ms": from_guest_profiler, "perf 997 Hz": from_perf, "gperftools 100 Hz": from_gperftools,
           "async-profiler ctimer 1ms": from_collapsed}


def main():
    parser = argparse.ArgumentParser(prog="accuracy.py")
    parser.add_argument("-o", dest="file", help="also write the table there")
    options = parser.parse_args()
    write, known = Table(), ways()
    with tempfile.TemporaryDirectory(prefix="guestprof-accuracy-") as name:
        top = pathlib.Path(name)
        (top / "guest.wat").write_text(GUEST)
        guest = {"plain": top / "plain.cwasm", "epoch": top / "epoch.cwasm"}
        for kind, words in (("plain", []), ("epoch", ["-W", "epoch-interruption=y"])):
            subprocess.run([newest("wasmtime-cli-*/wasmtime"), "compile", *words, "-o", guest[kind], top / "guest.wat"], check=True)
        shares, each_second = truth(guest)
        write(f"{machine()}\n")
        write("| way | " + " | ".join(PARTS) + " | other or unnamed | furthest off, points | samples |")
        write("| --- " * (len(PARTS) + 4) + "|")
        write("| truth | " + " | ".join(f"{100 * shares[part]:.1f}" for part in PARTS) + " | 0.0 | | |")
        for way, reader in READERS.items():
            if way not in known:
                continue
            folder = top / way.replace(" ", "-")
            folder.mkdir()
            _, pid = run(guest, 15, round(SECONDS * each_second), known[way], folder)
            counts = reader(folder, pid)
            total = sum(counts.values()) or 1
            found = {part: counts.get(part, 0) / total for part in (*PARTS, "other")}
            off = max(abs(found[part] - shares[part]) for part in PARTS)
            write(f"| {way} | " + " | ".join(f"{100 * found[part]:.1f}" for part in (*PARTS, "other")) + f" | {100 * off:.1f} | {total:.0f} |")
    write.save(options.file)


if __name__ == "__main__":
    main()
