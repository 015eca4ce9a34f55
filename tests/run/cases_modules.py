#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases_modules.py - what hosts do with modules: names are right at any time, and memory is bounded. See cases.md."""

import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import guests
import harness
import pprof
import wasmnames
from cases import case, preloaded
from harness import HOSTS, Run, environment, expect, expect_chains, test

SPLIT, TINY, PATTERNS = (HOSTS / f"{name}.wasm" for name in ("split", "tiny", "patterns"))
CHAINS = {"split": guests.SPLIT_CHAINS, "tiny": guests.TINY_CHAINS}


def modules(*words, hz=1000, **settings):
    """The host's run with us, compared with one without; its Profile."""
    command = case("modules", *words)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ=str(hz), **settings)
        expect(run.status == 0, f"status {run.status}: {run.stderr[-300:]}")
        profile = cases.profile(files)
    profile.run = run
    return profile


def kib(run):
    """What the host says of its memory: after a quarter of the loads, and at the end."""
    early, late = map(int, re.findall(r"^case: (\d+) KiB$", run.stderr, re.M))
    return early, late


def right_names(profile):
    """No function of one guest is shown in another."""
    for sample in profile.samples:
        chain = pprof.guest_chain(sample)
        kind = re.match(r"[a-z]*", sample.labels["wasm_module"]).group()
        for other, chains in CHAINS.items():
            expect(other == kind or len(chain) < 2 or chain not in chains, f"{chain} in {sample.labels['wasm_module']}")


@test("52 addresses used again, 50 times")
def addresses():
    profile = modules("alternate", 50, SPLIT, TINY)
    right_names(profile)
    expect_chains(profile, guests.SPLIT_CHAINS | guests.TINY_CHAINS)
    counts = profile.counts("wasm_module")
    split = sum(n for name, n in counts.items() if name.startswith("split"))
    expect(profile.total() > 500, f"{profile.total()} samples")
    # each had its 25 ms by the clock that samples
    share = split / profile.total()
    margin = 0.03 + 4 * 0.5 / profile.total() ** 0.5
    expect(abs(share - 0.5) < margin, f"split has {100 * share:.1f} % of {profile.total()}")
    starts = [pprof.fields_of(row, 2)[0] for row in profile.mappings.values() if pprof.fields_of(row, 2)]
    expect(len(set(starts)) < len(starts), f"{len(starts)} images, and no address was used again")
    print(f"#   {profile.total()} samples, {len(starts)} images at {len(set(starts))} addresses", flush=True)


@test("53 the handle is deleted, the code runs on")
def handle():
    profile = modules("early", SPLIT)
    expect(profile.total() > 100, f"{profile.total()} samples")
    expect_chains(profile, guests.SPLIT_CHAINS)
    expect(len(profile.counts("wasm_module")) == 1, f"{profile.counts('wasm_module')}")


@test("54 an image that is cut short is the host's error alone")
def cut_image():
    """A precompiled module of which the last byte, or the half, is missing: the same words, the same status."""
    with harness.folder() as path:
        image = path / "split.cwasm"
        harness.record(harness.host(harness.NEWEST, "split.wasm", "run", "cpu_ms=100", f"cwasm={image}"), compare=False)
        whole = image.read_bytes()
        script = """
import sys
import wasmtime
engine = wasmtime.Engine()
for path in sys.argv[1:]:
    try:
        wasmtime.Module.deserialize_file(engine, path)
        print("loaded")
    except Exception as error:
        print(type(error).__name__)
"""
        names = []
        for size in (len(whole) - 1, len(whole) // 2, 64, 1, 0):
            names.append(path / f"cut-{size}.cwasm")
            names[-1].write_bytes(whole[:size])
        command = [harness.PYTHON, "-c", script, *names]
        run, _ = preloaded(path, command)
        harness.same_as_without(run, Run(list(map(str, command))))
        expect(run.status == 0 and run.stdout.count("WasmtimeError") >= 3, run.stdout + run.stderr)


@test("54 a mapped image whose file is cut while it is there")
def truncated():
    with harness.folder() as path:
        profile = modules("truncated", SPLIT, path / "image")
    expect(profile.run.stdout == "truncated: done\n", profile.run.stdout)
    expect_chains(profile, guests.SPLIT_CHAINS)


@test("57 what is no binary: text, its mark, 0 to 8 bytes, nothing")
def odd():
    profile = modules("odd", SPLIT)
    harness.same_as_without(profile.run, Run(case("modules", "odd", SPLIT)))
    names = profile.counts("wasm_module")
    expect({name.split("@")[0] for name in names} == {"split"}, f"{names}")


@test("60 bytes that end where memory does, and are gone at once")
def edge():
    profile = modules("edge", SPLIT)
    expect(profile.total() > 60, f"{profile.total()} samples")
    expect_chains(profile, guests.SPLIT_CHAINS)


@test("60 bytes that another thread changes meanwhile")
def scribbled():
    names = next(body for number, body in wasmnames.sections(SPLIT.read_bytes()) if number == 0)
    # behind the word `name`, which makes it the name section
    command = case("modules", "scribbled", SPLIT, SPLIT.stat().st_size - len(names) + 5, 400)
    with harness.folder() as path:
        run, _ = preloaded(path, command, GUESTPROF_HZ="1000")
        expect(run.status == 0 and run.stdout == "scribbled: done\n", f"{run.status}: {run.stderr[-300:]}")


@test("61 10,000 loads that fail")
def failing():
    profile = modules("failing", SPLIT, 10000)
    harness.same_as_without(profile.run, Run(case("modules", "failing", SPLIT, 10000)))
    expect("memory grew: no" in profile.run.stdout, profile.run.stdout)
    expect(len(profile.counts("wasm_module")) == 1, f"ghosts: {profile.counts('wasm_module')}")


@test("61 eight threads load, run and drop 100 each at once")
def at_once():
    """8 threads x 500 in tests/run/long."""
    profile = modules("many", 8, 100, SPLIT, TINY)
    expect(profile.run.stdout == "800 loads\nmany: done\n", profile.run.stdout)
    right_names(profile)


@test("92 5,000 different modules, then a heavy one, in 16 MB")
def different():
    """100,000 in tests/run/long. What came late and is heavy has a row of its own."""
    many_modules(5000, 1)


def many_modules(loads, each_ms, timeout=harness.TIMEOUT):
    command = case("modules", "different", TINY, loads, each_ms, SPLIT)
    with harness.folder() as path:
        run, files = preloaded(path, command, timeout=timeout, GUESTPROF_HZ="4000", GUESTPROF_MEMORY="16M")
        expect(run.status == 0, f"status {run.status}: {run.stderr[-300:]}")
        report = Run([str(harness.GUESTPROF), "report", "--json", str(files[0])])
        text = Run([str(harness.GUESTPROF), "report", str(files[0])]).stdout
        profile = cases.profile(files)
    early, late = kib(run)
    expect(late - early < 24 * 1024, f"memory grew from {early} to {late} KiB")
    rows = re.findall(r"^(\S.*?)  +\d", text, re.M)
    expect(any(row.startswith("split") for row in rows), f"the heavy one has no row: {text[:2000]}")
    groups = json.loads(report.output)["groups"]
    total = sum(group["samples"] for group in groups)
    expect(total == profile.total(), f"groups have {total} samples, not {profile.total()}")
    expect(len(groups) <= 1001, f"{len(groups)} groups")
    print(f"#   {loads} loads, {profile.total()} samples, {len(groups)} groups, {early} to {late} KiB; "
          f"{next((row for row in rows if row.startswith('(other)')), 'no (other)')}", flush=True)


@test("92 stacks without end, in 4 MB")
def stacks():
    """3,000,000 calls in tests/run/long. The rare ones are (other), and none is lost."""
    unbounded(60000, 4)


def unbounded(calls, memory_mb, timeout=harness.TIMEOUT):
    profile = None
    command = case("modules", "patterns", PATTERNS, calls)
    with harness.folder() as path:
        run, files = preloaded(path, command, timeout=timeout, GUESTPROF_HZ="4000", GUESTPROF_MEMORY=f"{memory_mb}M")
        expect(run.status == 0, f"status {run.status}: {run.stderr[-300:]}")
        profile = cases.profile(files)
        report = Run([str(harness.GUESTPROF), "report", str(files[0])])
    expect(report.status == 0, report.stderr)
    early, late = kib(run)
    expect(late - early < memory_mb * 1024 + 4096, f"memory grew from {early} to {late} KiB")
    other = sum(sample.count for sample in profile.samples if [frame.name for frame in sample.frames] == ["(other)"])
    print(f"#   {profile.total()} samples, {other} as (other), {early} to {late} KiB", flush=True)
    return profile, other


@test("90 a host that is stopped and goes on: CPU time, not the clock on the wall")
def stopped():
    with harness.folder() as path:
        command = harness.host(harness.NEWEST, "split.wasm", "run", "cpu_ms=900")
        settings = {"LD_PRELOAD": str(harness.LIBRARY), "GUESTPROF_OUTPUT": f"{path}/guestprof.%p.pb.gz",
                    "GUESTPROF_HZ": "250"}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(**settings)) as process:
            for _ in range(3):
                time.sleep(0.1)
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.3)
                process.send_signal(signal.SIGCONT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        expect(process.returncode == 0, f"status {process.returncode}")
        profile = cases.profile(cases.recordings(path))
    cpu_s, seen_s = usage.ru_utime + usage.ru_stime, sum(sample.cpu_ns for sample in profile.samples) / 1e9
    # the host's start is nobody's guest, and 900 ms are
    expect(0.75 < seen_s < cpu_s * 1.1, f"{seen_s:.3f} s seen of {cpu_s:.3f} s used")
    times = [sample.labels["time"] for sample in profile.samples]
    expect(all(0 <= at <= profile.duration_ns for at in times), f"times {min(times)} to {max(times)}")
    expect(profile.duration_ns > 1.2e9, f"the recording lasts {profile.duration_ns} ns")


@test("95 sixteen threads at 4,000 Hz in little memory: what is lost is counted")
def losses():
    """The rings of 1 MB hold little; whatever does not fit is in the file by its reason, and the shares stay right."""
    with harness.folder() as path:
        command = harness.host(harness.NEWEST, "split.wasm", "run", "threads=16", "cpu_ms=150")
        run, files = preloaded(path, command, GUESTPROF_HZ="4000", GUESTPROF_MEMORY="1M", GUESTPROF_STACKS="full")
        expect(run.status == 0, f"status {run.status}: {run.stderr[-300:]}")
        profile = cases.profile(files)
        report = Run([str(harness.GUESTPROF), "report", str(files[0])]).stdout
    lost = sum(value for name, value in profile.stats.items() if name.startswith("lost_"))
    signals = profile.stats.get("signals", 0)
    expect(signals > 0 and profile.total() > 100, f"{signals} signals, {profile.total()} samples")
    # each signal is a sample, is lost for a reason, or met no guest
    known = profile.total() + lost + profile.stats.get("no_guest_found", 0)
    expect(known >= 0.9 * signals, f"{profile.stats}, {profile.total()}")
    expect(re.search(r"^  lost +[\d,]+ ", report, re.M), report[:500])
    print(f"#   {signals} signals, {profile.total()} samples, {lost} lost", flush=True)


if __name__ == "__main__":
    sys.exit(harness.main())
