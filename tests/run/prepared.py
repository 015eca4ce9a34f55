#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prepared.py - profiles that a host takes itself (guestprof.h), on a real wasmtime."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import ENGINES, GUESTPROF, HOSTS, LIBRARY, NEWEST, PYTHON, ROOT, Run, environment, expect, folder, tail, test


def stacks(profile):
    """Guest chain, root first, to number of samples."""
    counts = {}
    for sample in profile.samples:
        chain = tuple(pprof.guest_chain(sample))
        counts[chain] = counts.get(chain, 0) + sample.count
    return counts


def cpu(profile):
    return sum(sample.cpu_ns for sample in profile.samples)


def outer_and_inner(name, times):
    return {(f"{name}_outer",): times, (f"{name}_outer", f"{name}_inner"): times}


@test("prepared sets: the contract on wasmtime 50")
def contract():
    with folder() as path:
        run = Run([str(HOSTS / NEWEST / "prepared"), str(path)],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        listed = pprof.read(path / "listed.pb.gz")
        expect(stacks(listed) == outer_and_inner("listed", 50), f"listed: {stacks(listed)}")
        expect(cpu(listed) == 100 * 1_000_000, f"the CPU deltas add up to {cpu(listed)}")
        first, second = (pprof.read(path / f"{name}.pb.gz") for name in ("first", "second"))
        expect(stacks(first) == outer_and_inner("shared", 40), f"first: {stacks(first)}")
        expect(stacks(second) == {("shared_outer", "shared_inner"): 20}, f"second: {stacks(second)}")
        modules = {sample.labels["wasm_module"] for sample in first.samples}
        expect(modules == {"called by the host"}, f"modules are called {modules}")
        unlisted = pprof.read(path / "unlisted.pb.gz")
        expect(stacks(unlisted) == outer_and_inner("wanted", 1), f"unlisted: {stacks(unlisted)}")
        expect(b"unwanted" not in unlisted.raw, "the name of an unlisted module was stored")
        expect(stacks(pprof.read(path / "gone.pb.gz")) == outer_and_inner("gone", 10), "gone")
        expect(not pprof.read(path / "nothing.pb.gz").samples, "nothing has samples")
        expect(b"host.tick" in pprof.read(path / "calls.pb.gz").raw, "host calls are not in the profile")
        report = Run([str(GUESTPROF), "report", str(path / "nothing.pb.gz")])
        expect(report.status == 3, f"report of an empty profile: status {report.status}")


@test("prepared sets: without the preload every call says so")
def not_loaded():
    with folder() as path:
        source, program = path / "x.c", path / "x"
        source.write_text('#include "preload/guestprof.h"\nint main(void) { return '
                          "guestprof_profile_sample(NULL, 1) == GUESTPROF_NOT_LOADED ? 0 : 1; }\n")
        built = Run(["gcc", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-o", str(program), str(source)])
        expect(built.status == 0, tail(built.stderr))
        expect(Run([str(program)]).status == 0, "not told that guestprof is not loaded")
        cpp = Run(["g++", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-fsyntax-only", "-x", "c++", str(source)])
        expect(cpp.status == 0, tail(cpp.stderr))


@test("prepared sets: from Python, through the table of function pointers")
def python():
    with folder() as path:
        run = Run([str(PYTHON), str(ROOT / "tests/api/prepared.py"), str(path / "py.pb.gz")],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        expect(stacks(pprof.read(path / "py.pb.gz")) == {("work",): 25}, f"{stacks(pprof.read(path / 'py.pb.gz'))}")


@test("prepared sets: from Rust, through the table of function pointers")
def rust():
    program = HOSTS / NEWEST / "prepared_rs"
    if not program.exists():
        raise harness.Skip("no rustc here: scripts/setup test installs one")
    with folder() as path:
        run = Run([str(program), str(path / "rs.pb.gz")], env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        expect(stacks(pprof.read(path / "rs.pb.gz")) == {("work",): 25}, f"{stacks(pprof.read(path / 'rs.pb.gz'))}")


if __name__ == "__main__":
    harness.main()
