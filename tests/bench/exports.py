# SPDX-License-Identifier: MIT
"""exports.py - what turning a recording into other formats takes, beside what peers do to theirs."""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

from compare import command
from peers import BUILD, newest, pprof, recording, ways

FORMATS = ("folded", "pprof", "speedscope", "firefox", "html")


def record(way, folder):
    """The guest with the most functions, once."""
    folder.mkdir()
    subprocess.run(list(map(str, command("sqlite", way))), cwd=folder, env=way.whole_environment(), stdout=subprocess.DEVNULL, check=True)


def convert(command, out, rounds):
    """(CPU seconds, bytes) of a shell COMMAND that writes file OUT."""
    seconds = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["sh", "-c", command], cwd=out.parent, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(seconds), os.path.getsize(out)


def peers(folder, known, rounds):
    """Rows of (peer and its steps, seconds, bytes, samples), of those that are installed."""
    found = []
    if "perf 997 Hz" in known:
        record(known["perf 997 Hz"], folder / "perf")
        row = convert("perf script -F ip,sym >out", folder / "perf/out", rounds)
        stacks = (folder / "perf/out").read_text(errors="replace").strip().split("\n\n")
        found.append(("perf script: text, not folded yet", *row, len(stacks)))
    record(known["guest profiler 1 ms"], folder / "engine")
    file = folder / "engine/guest.json"
    threads = json.loads(file.read_text())["threads"]
    found.append(("guest profiler 1 ms: firefox, written by the host at its end", None, os.path.getsize(file),
                  sum(thread["samples"]["length"] for thread in threads)))
    if "gperftools 1000 Hz" in known:
        record(known["gperftools 1000 Hz"], folder / "gperftools")
        row = convert(f"{newest('pprof/pprof')} -proto -output out.pb.gz gperf.prof", folder / "gperftools/out.pb.gz", rounds)
        found.append(("gperftools, pprof -proto: pprof, no guest's names", *row, pprof.read(folder / "gperftools/out.pb.gz").total()))
    return found


def run(quick, write, _targets):
    rounds, known = 1 if quick else 5, ways()
    with tempfile.TemporaryDirectory(prefix="guestprof-exports-") as name:
        folder = pathlib.Path(name)
        record(known["1000 Hz"], folder / "ours")
        ours = recording(folder / "ours")
        count = pprof.read(ours).total()
        rows = [(f"guestprof: {kind}", *convert(f"{BUILD}/guestprof export --to {kind} -o out {ours.name}", folder / "ours/out", rounds), count)
                for kind in FORMATS]
        rows += [] if quick else peers(folder, known, rounds)
        recorded = os.path.getsize(recording)
    write(f"exports of a recording of {count:,} samples ({recorded / 1e3:.0f} kB), sqlite at 1,000 Hz\n")
    write("| to | CPU s | kB | samples |")
    write("| --- " * 4 + "|")
    for what, seconds, size, samples in rows:
        write(f"| {what} | {'' if seconds is None else f'{seconds:.3f}'} | {size / 1e3:.0f} | {samples:,} |")
    return True
