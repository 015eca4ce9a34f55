# SPDX-License-Identifier: MIT
"""loading.py - modules: what a load costs the host, what preparing one costs our thread, and then a profile's start."""
import os
import pathlib
import statistics
import subprocess
import sys

from peers import BUILD, ENGINES

# With their numbers of functions.
GUESTS = [("toml", 772), ("typescript", 4653), ("splicer", 8711), ("biome", 35823)]
LARGEST = 35823
TARGET_LOAD_US = 1000
# A function's share, on the largest module: its tables; and all that our thread does of itself after a load, with the
# hash that tells which image it is.
TARGET_TABLES_NS, TARGET_PREPARE_NS = 400, 600
TARGET_SAMPLED_NS, TARGET_EXACT_NS = 2, 100
TARGET_START_US, TARGET_START_BYTES, TARGET_START_RATIO = 20, 64 << 10, 1000
OURS = {"LD_PRELOAD": str(BUILD / "libguestprof.so"), "GUESTPROF_OUTPUT": "none"}


def run(command, **more):
    """What COMMAND prints; the maps and dumps that it leaves for perf are removed."""
    process = subprocess.Popen(command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True, cwd=BUILD / "bench")
    output, _ = process.communicate()
    for left in (f"/tmp/perf-{process.pid}.map", BUILD / f"bench/jit-{process.pid}.dump"):
        pathlib.Path(left).unlink(missing_ok=True)
    if process.returncode != 0:
        sys.exit(f"bench: {command[0]} failed")
    return output


def load(quick, write, targets):
    """CPU time of the host's thread to load a module of 35,823 functions, by who watches."""
    host = [BUILD / "bench/load_host", ENGINES / "wasm/biome.wasm", BUILD / "bench/biome.cwasm"]
    rounds, repeats = ("5", 2) if quick else ("10", 6)
    ways = {"plain": ("none", {}), "guestprof": ("none", OURS), "perfmap": ("perfmap", {}), "jitdump": ("jitdump", {})}
    taken = {way: [] for way in ways}

    run([*host, "1", "none"])
    for _ in range(repeats):  # in turn, so that a drifting machine drifts for all
        for way, (strategy, environment) in ways.items():
            taken[way] += [float(line) for line in run([*host, rounds, strategy], **environment).split()]
    middle = {way: statistics.median(times) for way, times in taken.items()}
    more = {way: value - middle["plain"] for way, value in middle.items()}
    write("load of a module of 35,823 functions: CPU of the host's thread, us, median\n")
    write("| way | us | more |")
    write("| --- " * 3 + "|")
    for way in ways:
        write(f"| {way} | {middle[way]:.0f} | {more[way]:+.0f} |")
    return targets.note("load", f"{more['guestprof'] / 1e3:+.2f} ms", more["guestprof"] <= TARGET_LOAD_US,
                        f"perfmap {more['perfmap'] / 1e3:+.0f} ms, jitdump {more['jitdump'] / 1e3:+.0f} ms",
                        more["perfmap"] / max(more["guestprof"], 1))


def prepare_one(quick, write, targets, name, functions):
    """A module's preparation, and the start of the N-th profile beside the engine's guest profiler."""
    lines = [line.split() for line in
             run([BUILD / "bench/prepare_host", ENGINES / f"wasm/{name}.wasm", BUILD / f"bench/{name}.cwasm", "20" if quick else "100"],
                 **OURS).splitlines()]
    figures = {key: [float(value) for of, value in lines if of == key] for key in ("prepare", "set", "bytes", "ours", "engine")}
    figures["prepare"].pop(0)  # with the thread's own start
    first, ours, engine = (statistics.median(figures[key]) for key in ("prepare", "ours", "engine"))
    each, size = first * 1000 / functions, figures["bytes"][0]
    write(f"| {functions:,} | {first:.0f} | {each:.0f} | {ours:.2f} | {size:,.0f} | {engine:.0f} | {engine / ours:,.0f} |")
    good = ours <= TARGET_START_US and size <= TARGET_START_BYTES
    if functions >= LARGEST:
        good = good and engine / ours >= TARGET_START_RATIO and each <= TARGET_PREPARE_NS
        targets.note("start", f"{ours:.2f} us", ours <= TARGET_START_US, f"wasmtime_guestprofiler_new {engine / 1e3:.1f} ms", engine / ours)
        targets.note("start bytes", f"{size / 1e3:.1f} kB", size <= TARGET_START_BYTES)
    return good


def prepare_parts(write):
    """What preparing the largest module is made of. The index is made at the first sample in the module."""
    lines = [line.split() for line in run([BUILD / "bench/tables_bench", BUILD / "bench/biome.cwasm"]).splitlines()]
    part = {name: statistics.median(float(value) for of, value in lines if of == name) * 1000 / LARGEST
            for name in ("copy", "tables", "hash", "index")}
    tables = part["copy"] + part["tables"]
    write(f"\nof {LARGEST:,} functions, ns each: {tables:.0f} to prepare the tables ({part['copy']:.0f} to copy them out of "
          f"the image, {part['tables']:.0f} to read them; at most {TARGET_TABLES_NS}), {part['hash']:.0f} to hash the code, "
          f"for its identity; at the first sample {part['index']:.0f} for the unwinder's index")
    return tables <= TARGET_TABLES_NS


def prepare(quick, write, targets):
    write("modules that were compiled before: CPU of our thread to prepare each (hashing of up to 4 MB of code, 1 to 3 ms, with it); CPU of "
          "the host's thread to start a profile then, median of rounds in turn, and of wasmtime_guestprofiler_new, us\n")
    write("| functions | prepare us | ns each | start us | bytes | engine us | ratio |")
    write("| --- " * 7 + "|")
    good = all([prepare_one(quick, write, targets, *guest) for guest in GUESTS])
    return prepare_parts(write) and good


def hostcalls(quick, write, _targets):
    """A call of an empty host function, CPU ns, by how calls are watched."""
    host = [BUILD / "bench/hostcall_host", "1000000", "5"]
    ways = {"plain": {}, "sampled": OURS, "exact": {**OURS, "GUESTPROF_HOSTCALLS": "exact"}}
    taken = {way: [] for way in ways}

    for _ in range(1 if quick else 4):
        for way, environment in ways.items():
            taken[way] += [float(line) for line in run(host, **environment).split()]
    # the least: what else runs only adds
    least = {way: min(times) for way, times in taken.items()}
    write("a call of an empty host function, ns of CPU time, the least of rounds: " +
          ", ".join(f"{way} {value:.1f}" for way, value in least.items()))
    return least["sampled"] - least["plain"] <= TARGET_SAMPLED_NS and least["exact"] - least["plain"] <= TARGET_EXACT_NS
