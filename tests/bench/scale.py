# SPDX-License-Identifier: MIT
"""scale.py - past this machine: where one thread, rings, publication and recording end, from what is measured here.

tests/bench/scale.md is written by a full run: synthetic rings are drained for the thread's limit, the rest is arithmetic
with constants that the run measures or reads from the sources.
"""
import pathlib
import re
import statistics
import subprocess

from peers import BUILD, ROOT, machine

CORES, THREADS, INSTANCES, LOADS = 128, 2000, 10000, 1000
RATES = (100, 1000)
FILE = ROOT / "tests/bench/scale.md"


def constant(file, name):
    """NAME = VALUE << SHIFT of an enum in FILE."""
    found = re.search(rf"\b{name} = (\d+)(?: << (\d+))?,", (ROOT / file).read_text())
    return int(found[1]) << int(found[2] or 0)


def setting(name):
    """The default of a setting, in bytes."""
    found = re.search(rf'"{name}",[^}}]*?"(\d+)M"', (ROOT / "preload/base/config.c").read_text(), re.S)
    return int(found[1]) << 20


class Measured:
    """What one run of the programs says."""

    def __init__(self, quick):
        image = BUILD / "bench/toml.cwasm"
        lines = [line.split() for line in self.output("scale_bench", image, *(["quick"] if quick else []))]
        self.drains = [list(map(float, line[1:])) for line in lines if line[0] == "drain"]
        self.publish_ns = {int(line[1]): float(line[2]) for line in lines if line[0] == "publish"}
        parts = [line.split() for line in self.output("tables_bench", image)]
        # what a loading costs our thread whose wasm was seen before; the index only if it is sampled
        self.load_us = sum(statistics.median(float(value) for of, value in parts if of == part) for part in ("copy", "hash", "tables"))
        warm = re.search(r"unwind, warm: (\d+) frames, ([0-9.]+) us a frame", "\n".join(self.output("unwind_bench")))
        self.unwind_frames, self.unwind_us = int(warm[1]), int(warm[1]) * float(warm[2])

    @staticmethod
    def output(program, *arguments):
        return subprocess.run(list(map(str, [BUILD / "bench" / program, *arguments])), capture_output=True, text=True, check=True).stdout.splitlines()


def drain_table(measured):
    lines = ["| modules | threads | instances | stacks | ns a sample | samples a second, one thread | " +
             " | ".join(f"{CORES} cores at {hz:,} Hz" for hz in RATES) + " | file, bytes a sample |", "| --- " * (7 + len(RATES)) + "|"]
    for modules, threads, instances, stacks, ns, _, file_bytes in measured.drains:
        lines.append(f"| {modules:,.0f} | {threads:,.0f} | {instances:,.0f} | {f'{stacks:,.0f}' if stacks else 'all new'} | {ns:,.0f} | {1e9 / ns:,.0f} | " +
                     " | ".join(f"{100 * CORES * hz * ns / 1e9:.1f} %" for hz in RATES) + f" | {file_bytes:.0f} |")
    return lines


def ring_lines(measured):
    half, sample = setting("GUESTPROF_MEMORY") // 2, measured.drains[0][5]
    for hz, name in zip(RATES, ("POOL_RING_SIZE", "POOL_FAST_RING_SIZE")):
        size = constant("preload/sampler/pool.h", name)
        yield (f"- {hz:,} Hz: a ring of {size >> 10:,} KiB holds {size / (sample * hz):.1f} s of a thread that never sleeps ({sample:.0f} bytes a sample of 24 "
               f"frames). Half of the default memory is {half // size:,} rings; {THREADS:,} threads in guests need {THREADS * size >> 20:,} MiB, "
               f"`GUESTPROF_MEMORY={2 * THREADS * size >> 20}M`. Threads beyond have no ring: their samples are lost, and counted.")


def paper(measured):
    few, most = measured.drains[0], max(row[6] for row in measured.drains)
    change = measured.publish_ns[INSTANCES]
    rotate = 64 << 20
    host_share = 0.25
    mixed = (1 - host_share) * few[4] / 1e3 + host_share * measured.unwind_us
    yield from (machine(), "", f"# {CORES} cores, {THREADS:,} threads, {INSTANCES:,} instances, {LOADS:,} loads a second", "",
                "Written by `scripts/bench scale`. Samples come by CPU time: however many threads, all cores busy give at most "
                + ", ".join(f"{CORES * hz:,} a second at {hz:,} Hz" for hz in RATES) + ".", "", "## One thread", "")
    yield from drain_table(measured)
    yield from ("", "Where all stacks are new the tables are full at once, with the default memory: what is beyond them counts as `(other)`, and takes fewer bytes.")
    yield from ("", f"A sample in the host is unwound too: {measured.unwind_us:.1f} us for {measured.unwind_frames} frames. With a quarter of those the thread's "
                f"limit is {1e6 / mixed:,.0f} samples a second: " + ", ".join(f"{100 * CORES * hz * mixed / 1e6:.0f} % of it at {hz:,} Hz" for hz in RATES) + ".",
                "", "What is above 100 % ends as lost samples, counted, when the rings are full. Then: `GUESTPROF_HZ` lower (a sample of each core 100 times a second "
                "is more than shares need), or `GUESTPROF_BUDGET`, which lowers the rate by itself. A second drain thread would halve the rings each has to visit, "
                "for rings have one reader each; what both count would have to be merged once a chunk. That is not built: at 100 Hz one thread is enough.",
                "", "## Rings", "")
    yield from ring_lines(measured)
    yield from ("", "Then: more memory, as said; or smaller rings for more threads, which a sample with a slice of a stack (32 KiB) does not fit into.", "", "## Publication", "",
                f"Each load and each unload publishes a new array of code ranges: {change / 1e3:.1f} us with {INSTANCES:,} of them "
                f"({measured.publish_ns[1000] / 1e3:.1f} us with 1,000), on the thread that loads. {LOADS:,} loads and as many unloads a second take "
                f"{100 * 2 * LOADS * change / 1e9:.1f} % of one core, in all threads together, under one lock: its end is at {1e9 / change / 2:,.0f} loads a second. "
                f"Of our thread they take {100 * LOADS * measured.load_us / 1e6:.0f} % of a core, {measured.load_us:.0f} us each for a module of 772 functions; it is "
                f"the first to end, at {1e6 / measured.load_us:,.0f} different loadings a second. Instances of one module are no loads. "
                "Then: loads wait for their copy no longer than their tables take; what is not taken in is shown as `[jit 0xADDR+SIZE]`.",
                "", "## The recording", "")
    for hz in RATES:
        grows = CORES * hz * most
        yield (f"- {hz:,} Hz: at most {grows / 1e6:.1f} MB a second ({most:.0f} bytes a sample), before gzip. A file of 64 MiB is full after {rotate / grows:.0f} s, the eight that are kept hold {8 * rotate / grows / 60:.0f} minutes.")
    yield from ("", "Then: `GUESTPROF_ROTATE` says how much is kept; `GUESTPROF_INSTANCES=none` and a lower rate make less. Stacks beyond `GUESTPROF_MEMORY` are counted for "
                "their group as `(other)`, and the next file begins with empty tables.")


def run(quick, write, _targets):
    measured = Measured(quick)
    for line in drain_table(measured):
        write(line)
    write("\na load or unload publishes, ns: " + ", ".join(f"{ns:,.0f} among {count:,}" for count, ns in measured.publish_ns.items()))
    if not quick:
        pathlib.Path(FILE).write_text("\n".join(paper(measured)) + "\n")
    # one thread is to be enough at the default rate, with stacks that come again
    return all(CORES * RATES[0] * row[4] / 1e9 <= 1 for row in measured.drains if row[3])
