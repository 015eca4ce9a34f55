#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""server.py [--rounds N] [-o FILE] - a server of requests at a fixed rate: what its clients notice.

Each request has an instance of its own. Every way runs once a round, in turn and then in the other
order; figures are medians of rounds, and `again` is a second plain run, which shows the noise.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from peers import BUILD, HOSTS, ROOT, Table, machine, newest, ways
from targets import Targets, within_noise

RATE, CONNECTIONS, SECONDS = 2000, 4, 3
ROUNDS = 10
NAMES = ("plain", "again", "stopped", "100 Hz", "1000 Hz", "100 Hz wall", "epochs alone")


def build():
    engine = newest("wasmtime-50*")
    for name, words in (("server_host", ["-isystem", engine / "include", f"-L{engine}", "-lwasmtime", f"-Wl,-rpath,{engine}"]),
                        ("server_client", [])):
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-o", BUILD / "bench" / name,
                        ROOT / f"tests/bench/{name}.c", *words, "-lpthread"], check=True)


def measure(way):
    """(requests a second, p50, p99, p99.9, instance us, CPU s) of one run."""
    host = [BUILD / "bench/server_host", HOSTS / "split.wasm", CONNECTIONS, *(["epochs"] if way.epoch else [])]
    with tempfile.TemporaryDirectory(prefix="guestprof-server-") as folder:
        process = subprocess.Popen(list(map(str, host)), cwd=folder, env=way.whole_environment(), stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL)
        port = process.stdout.readline().strip()
        client = subprocess.run([BUILD / "bench/server_client", port, str(CONNECTIONS), str(RATE), str(SECONDS)],
                                capture_output=True, text=True)
        instance = process.stdout.read().strip()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if client.returncode != 0 or process.returncode != 0:
        sys.exit(f"server: status {client.returncode} and {process.returncode}: {client.stderr}")
    return [float(word) for word in client.stdout.split()] + [float(instance), usage.ru_utime + usage.ru_stime]


def judge(rows, targets):
    """What clients notice of us at 100 Hz, beside what a second plain run differs by."""
    for column, key in ((5, "cpu"), (1, "p50"), (2, "p99"), (3, "p99.9"), (4, "instance")):
        ratios = {name: [row[column] / plain[column] for row, plain in zip(found, rows["plain"])] for name, found in rows.items()}
        middle = {name: statistics.median(found) for name, found in ratios.items()}
        targets.note(f"server {key}", f"{middle['100 Hz']:.3f} (a second plain run {middle['again']:.3f})",
                     within_noise(ratios["100 Hz"], ratios["again"], 1.01), f"epochs alone {middle['epochs alone']:.3f}",
                     middle["epochs alone"] / middle["100 Hz"])


def main():
    parser = argparse.ArgumentParser(prog="server.py")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("-o", dest="file", help="also write the table there")
    options = parser.parse_args()
    build()
    known = ways()
    chosen = {name: known[name] for name in NAMES}
    rows = {name: [] for name in chosen}
    rounds = options.rounds
    for number in range(rounds):
        for name in list(chosen) if number % 2 == 0 else reversed(list(chosen)):
            rows[name].append(measure(chosen[name]))
    write, targets = Table(), Targets(is_kept=options.file is not None)
    write(f"{machine()}\n")
    write(f"{RATE} requests a second, {CONNECTIONS} connections, {SECONDS} s, {rounds} rounds\n")
    write("| way | answered a second | p50 us | p99 us | p99.9 us | instance us | CPU, median ratio |")
    write("| --- " * 7 + "|")
    for name, found in rows.items():
        middle = [statistics.median(column) for column in zip(*found)]
        ratio = statistics.median(row[5] / plain[5] for row, plain in zip(found, rows["plain"]))
        write(f"| {name} | {middle[0]:.0f} | {middle[1]:.0f} | {middle[2]:.0f} | {middle[3]:.0f} | {middle[4]:.1f} | {ratio:.3f} |")
    judge(rows, targets)
    write.save(options.file)
    targets.save()
    return 1 if targets.missed else 0


if __name__ == "__main__":
    sys.exit(main())
