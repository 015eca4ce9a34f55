#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""command.py - the reading commands on a real recording: report, export, and bad input."""

import functools
import gzip
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import pprof
from harness import GUESTPROF, NEWEST, PPROF, Run, Skip, expect, expect_shares, host, run_recorded, test


@functools.lru_cache(maxsize=None)
def recording():
    """One recording for all tests of this file: two instances of the split guest."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="guestprof-test-"))
    recording.folder = path
    run = run_recorded(host(NEWEST, "split.wasm", "run", "instances=2", "argument=300", "cpu_ms=2000"),
                       path / "split.pb.gz")
    expect(run.status == 0, run.stderr)
    return path / "split.pb.gz", run


def guestprof(*words, **options):
    return Run([str(GUESTPROF), *map(str, words)], **options)


@test("record says what it made and what is next")
def record_lines():
    file, run = recording()
    lines = [line for line in run.stderr.splitlines() if line.startswith("guestprof:")]
    expect(len(lines) == 2, run.stderr)
    expect(str(file) in lines[0] and "samples" in lines[0] and "2 instances" in lines[0], lines[0])
    expect("guestprof report" in lines[1] and str(file) in lines[1], lines[1])


@test("report")
def report():
    file, _ = recording()
    run = guestprof("report", file)
    expect(run.status == 0 and run.stderr == "", f"{run.status}: {run.stderr}")
    expect("split" in run.stdout, f"no module in: {run.stdout}")
    for name, share in guests.SPLIT_SHARES.items():
        row = re.search(rf"^ *[\d,]+ +([\d.]+) %.*\b{name}$", run.stdout, re.M)
        expect(row and abs(float(row.group(1)) - 100 * share) < 4, f"no {name} with {100 * share:.0f} % in: {run.stdout}")


@test("report --json")
def report_json():
    file, _ = recording()
    run = guestprof("report", "--json", file)
    expect(run.status == 0 and run.stderr == "", f"{run.status}: {run.stderr}")
    expect("inner" in json.dumps(json.loads(run.stdout)), run.stdout[:300])


@test("report: the newest, and several at once")
def report_choice():
    file, _ = recording()
    expect("inner" in guestprof("report", cwd=file.parent).stdout, "the newest is not found")
    run = guestprof("report", file, file)
    expect(run.status == 0 and "inner" in run.stdout, run.stderr)


@test("export folded")
def export_folded():
    file, _ = recording()
    run = guestprof("export", "--to", "folded", file)
    expect(run.status == 0, run.stderr)
    counts = {}
    for line in run.stdout.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        expect(all(frames), f"an empty frame: {line}")
        leaf = frames[-1].split("`")[-1]
        counts[leaf] = counts.get(leaf, 0) + int(count)
    expect(sum(counts.values()) == pprof.read(file).total(), "counts do not add up")
    expect_shares(counts, guests.SPLIT_SHARES)


@test("export firefox")
def export_firefox():
    file, _ = recording()
    run = guestprof("export", "--to", "firefox", file)
    expect(run.status == 0, run.stderr)
    text = gzip.decompress(run.output) if run.output[:2] == b"\x1f\x8b" else run.output
    profile = json.loads(text)
    expect(profile["meta"]["preprocessedProfileVersion"] >= 55, "version")
    expect(profile["threads"] and b"inner" in text, "no threads, or no names")


@test("google/pprof reads it")
def google_pprof():
    if not PPROF.exists():
        raise Skip("no google/pprof: scripts/setup test")
    file, _ = recording()
    run = Run([str(PPROF), "-symbolize=none", "-top", str(file)])
    expect(run.status == 0 and "inner" in run.stdout, run.stderr)
    tags = Run([str(PPROF), "-symbolize=none", "-tags", str(file)])
    for label in ("wasm_module", "wasm_instance", "wasm_state", "thread_id"):
        expect(label in tags.stdout, f"no label {label}: {tags.stdout}")


@test("record of a guest that was too quick")
def too_quick():
    with harness.folder() as path:
        run = run_recorded(host(NEWEST, "split.wasm", "run", "argument=1", "calls=1"), path / "out.pb.gz", hz=1)
        expect("guestprof: no samples: " in run.stderr, run.stderr)


@test("--version and --help")
def version():
    for word in ("--version", "--help"):
        run = guestprof(word)
        expect(run.status == 0 and "guestprof" in run.stdout, f"{word}: {run.status} {run.stderr}")


if __name__ == "__main__":
    status = harness.main()
    if hasattr(recording, "folder"):
        shutil.rmtree(recording.folder, ignore_errors=True)
    sys.exit(status)
