#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""interpreters.py - guests that leave no frames on the stack: whose time it is, and that it is said."""

import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import harness
import pprof
import schema
from harness import (ENGINES, GUESTPROF, NEWEST, PYTHON, ROOT, Run, environment, expect, expect_instances, expect_shares, folder,
                     host, major, record, test)

FIRST = 43  # no library of the C API before it has pulley (wasmtime 14 to 42)
PACKAGES = ENGINES / "python-wasmtime"
INTERPRETER = "(interpreter)"
ENGINE = "wasmtime's interpreter, pulley (C API)"
SLACK = 0.02
HZ = 1000


def python(version, seconds, mode="split"):
    return [PYTHON, ROOT / "tests/host/interpreted.py", str(seconds), mode], environment(PYTHONPATH=str(PACKAGES / version))


def compiled_host(export, *options, guest="split.wasm"):
    return host(NEWEST, guest, export, "interpreted", *options)


def expect_interpreted(profile, least):
    """All time is the interpreter's, for a named instance: one frame, and nothing of the host's."""
    expect(profile.total() >= least, f"only {profile.total()} samples")
    states = profile.counts("wasm_state")
    expect(set(states) == {"interpreter"}, f"states {dict(states)}")
    for sample in profile.samples:
        expect([(frame.name, frame.kind) for frame in sample.frames] == [(INTERPRETER, "interpreter")], f"{sample}")
        expect(sample.frames[0].module == sample.labels["wasm_module"] and not sample.truncated, f"{sample}")
    return expect_instances(profile, 2)


def by_package(version):
    """Three quarters of the work are the first instance's; the program's output is what it is without us."""
    command, env = python(version, 0.5)
    profile = record(command, hz=HZ, env=env, compare=False)
    expect(profile.run.stdout == "interpreted: split, done\n" and profile.run.host_stderr == "", profile.run.stderr)
    instances = expect_interpreted(profile, 150)
    (module,) = profile.counts("wasm_module")
    expect(module.startswith("spinner@"), f"module {module}")
    expect_shares(instances, {f"{module}#1": 0.75, f"{module}#2": 0.25}, "instances", SLACK)
    cells.interpreted(ENGINE, major(version))


def waiting_package(version):
    env = environment(PYTHONPATH=str(PACKAGES / version), GUESTPROF_WALL="1")
    profile = record([PYTHON, ROOT / "tests/host/waiting.py", "0.5", "interpreted"], hz=100, env=env, compare=False)
    cells.waits(ENGINE, major(version), profile, 0.5)


for each in sorted((path.name for path in PACKAGES.glob("[0-9]*")), key=major):
    if major(each) >= FIRST:
        test("interpreter: wasmtime {} by its Python package", each)(by_package)
        test("interpreter: wasmtime {} by its Python package, waiting", each, beside=True)(waiting_package)


@test("interpreter: the C API, a program with two instances")
def by_c_api():
    """The second one is called twice as often; and again from a precompiled image, whose wasm nobody sees."""
    for options in ((), ("serialize",)):
        profile = record(compiled_host("run", "instances=2", "skewed", "cpu_ms=500", *options), hz=HZ)
        instances = expect_interpreted(profile, 150)
        (module,) = profile.counts("wasm_module")
        expect_shares(instances, {f"{module}#1": 1 / 3, f"{module}#2": 2 / 3}, "instances", SLACK)


@test("interpreter: host calls that are counted are told apart")
def host_calls():
    command = compiled_host("callback", "cpu_ms=500", guest="calls.wasm")
    profile = record(command, hz=HZ, env=environment(GUESTPROF_HOSTCALLS="exact"), compare=False)
    expect(profile.total() > 100, f"only {profile.total()} samples")
    for sample in profile.samples:
        names, state = [frame.name for frame in sample.frames], sample.labels["wasm_state"]
        expect(names == [INTERPRETER] + ["env.work"] * (state == "host"), f"{state}: {names}")
    expect(profile.total(wasm_state="host") > 0.8 * profile.total(), f"{dict(profile.counts('wasm_state'))}")
    # Unless they are, such a function is part of what its caller's interpreter does.
    profile = record(command, hz=HZ, compare=False)
    expect(set(profile.counts("wasm_state")) == {"interpreter"}, f"{dict(profile.counts('wasm_state'))}")


@test("interpreter: within a call of a compiled guest")
def nested():
    command, env = python(major_package(), 0.5, "nested")
    profile = record(command, hz=HZ, env=env, compare=False)
    inner = sum(sample.count for sample in profile.samples if sample.frames[-1].name == INTERPRETER)
    expect(inner > 60 and inner >= 0.5 * profile.total(), f"{inner} of {profile.total()}")
    for sample in profile.samples:
        if sample.frames[-1].name == INTERPRETER:
            chain = [(frame.kind, frame.module.partition("@")[0]) for frame in sample.frames if frame.kind != "host"]
            # The first few come before the layout of the outer engine's records is confirmed.
            expect(chain[-1] == ("interpreter", "spinner") and chain[:-1] in ([], [("guest", "caller")]), f"{chain}")
            expect(sample.labels["wasm_module"].startswith("spinner@"), f"{sample.labels}")
    both = sum(sample.count for sample in profile.samples if [frame.kind for frame in sample.frames][:1] == ["guest"])
    expect(both >= 0.9 * inner, f"the caller is on {both} of {inner} stacks")


def major_package():
    found = sorted((path.name for path in PACKAGES.glob("[0-9]*")), key=major)
    if not found or major(found[-1]) < FIRST:
        raise harness.Skip(f"no wasmtime of {FIRST} or later in {PACKAGES}")
    return found[-1]


@test("interpreter: whole stacks have the host's frames below it")
def whole_stacks():
    env = environment(GUESTPROF_STACKS="full")
    profile = record(compiled_host("run", "cpu_ms=400"), hz=HZ, env=env, compare=False)
    good = 0
    for sample in profile.samples:
        names, kinds = [frame.name for frame in sample.frames], [frame.kind for frame in sample.frames]
        expect(names[-1] == INTERPRETER and set(kinds[:-1]) <= {"host"}, f"{names}")
        good += sample.count * ("main" in names and len(names) > 3)
    expect(profile.total() > 80 and good >= 0.95 * profile.total(), f"{good} of {profile.total()} stacks reach main")


@test("interpreter: waiting within it")
def waiting():
    env = environment(GUESTPROF_WALL="1")
    profile = record(compiled_host("run", "argument=400", "calls=1", guest="waits.wasm"), hz=100, env=env, compare=False)
    waits = [sample for sample in profile.samples if sample.wall_ns]
    expect(waits and all(sample.labels["wasm_state"] == "waiting" for sample in waits), f"{waits}")
    seconds = sum(sample.wall_ns for sample in waits) / 1e9
    expect(0.3 < seconds < profile.run.seconds, f"{seconds:.3f} s of waiting, not 0.4")
    names = {tuple(frame.name for frame in sample.frames) for sample in waits}
    expect(names <= {(INTERPRETER, f"[{call}]") for call in ("clock_nanosleep", "read", "futex")}, f"{names}")


def tool(*words, status=0):
    run = Run([str(GUESTPROF), *map(str, words)])
    expect(run.status == status, f"{words}: status {run.status}: {run.stdout[-300:]}{run.stderr[-300:]}")
    return run.stdout


@test("interpreter: every output says it")
def outputs():
    with folder() as path:
        file, part = path / "run.pb.gz", path / "part.pb.gz"
        run = harness.run_recorded(compiled_host("run", "instances=2", "cpu_ms=300"), file, HZ)
        expect(run.status == 0, run.stderr)
        text = tool("report", file)
        expect("INTRP" in text and "is in an interpreter, whose guests leave no frames" in text, text)
        expect(all(len(line) <= 100 for line in text.splitlines()), text)
        said = tool("report", "--json", file)
        schema.check(said, "report")
        found = json.loads(said)
        states = found["groups"][0]["states"]
        expect(states["interpreter"] == found["samples"] == sum(states.values()), f"{states}")
        expect([(row["name"], row["kind"]) for row in found["functions"]] == [(INTERPRETER, "interpreter")], f"{found['functions']}")
        expect("interpreted" in [row["id"] for row in found["warnings"]], f"{found['warnings']}")
        module = found["groups"][0]["module"]
        expect(f"{module};{INTERPRETER} " in tool("export", "--to", "folded", "-o", "-", file), "folded")
        for kind in ("firefox", "speedscope", "html", "pprof"):
            out = path / f"out.{kind}"
            tool("export", "--to", kind, "-o", out, file)
            read = pprof.read(out).strings if kind == "pprof" else out.read_text()
            expect(INTERPRETER in read, f"nothing of it in {kind}")
        categories = [row["name"] for row in json.loads((path / "out.firefox").read_text())["meta"]["categories"]]
        expect("Interpreter" in categories, f"{categories}")
        tool("share", "--module", module, "-o", part, file)
        tool("audit", "--module", module, "--against", file, part)
        shared = pprof.read(part)
        expect(shared.total(wasm_state="interpreter") == found["samples"], f"{dict(shared.counts('wasm_state'))}")
        expect(all([frame.name for frame in sample.frames] == [INTERPRETER] for sample in shared.samples), "shared frames")
        schema.check(tool("diff", "--json", file, file), "diff")
        expect(INTERPRETER in tool("diff", file, file) and INTERPRETER in tool("report", "--tree", file), "diff, tree")


if __name__ == "__main__":
    sys.exit(harness.main())
