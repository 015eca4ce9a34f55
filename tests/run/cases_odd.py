#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases_odd.py - hosts that do what hardly any does: none ends otherwise because we are there. See cases.md."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
from cases import case, preloaded
from harness import HOSTS, LIBRARY, Run, environment, expect, same_as_without, test

SPLIT = HOSTS / "split.wasm"


def odd(way, least=40, said=None, must_say=False, **settings):
    """Output and status are as without us; LEAST samples of 1 kHz; what we say, two lines at most, is SAID."""
    command = case("odd", SPLIT, way)
    with harness.folder() as path:
        run, files = preloaded(path, command, **{"GUESTPROF_HZ": "1000", **settings})
        same_as_without(run, Run(command))
        expect(run.status == 4, f"{run.status}: {run.stderr}")
        ours = [line for line in run.stderr.splitlines() if line.startswith("guestprof")]
        expect(len(ours) <= 2 and all(said and said in line for line in ours), f"said {ours}")
        expect(ours or not must_say, "not a word of what is lost")
        found = cases.total(files)
    print(f"# {way}: {found} samples {ours}", flush=True)
    expect(found >= least, f"{found} samples")


@test("odd: a namespace of its own by dlmopen")
def namespace():
    odd("dlmopen")


@test("odd: threads with the smallest stacks")
def small_stacks():
    odd("small-stacks")


@test("odd: guest code that may be executed only")
def execute_only():
    """Unreadable where the CPU has protection keys; elsewhere only /proc says so."""
    odd("execute-only", GUESTPROF_STACKS="full")


@test("odd: an alternate stack at the end of a mapping")
def alternate_stack():
    odd("alternate-stack", GUESTPROF_STACKS="full")


# Where nothing can be recorded, that is said. A short recording fits in the one page that `fsize` allows.
for arguments in (("nofile", 0, "Too many open files", True), ("nofile-before", 0, "Too many open files", True),
                  ("fsize", 0, "File too large"), ("as", 0, "memory"), ("cpu",)):
    test("odd: limits: {}", *arguments)(odd)
for arguments in (("perf_event_open", 10), ("timer_create", 10), ("clocks", 0, "no clock", True), ("close_range",),
                  ("table", 0, "no descriptor table", True), ("process_vm_readv",), ("rt_tgsigqueueinfo",)):
    test("odd: refused by a filter: {}", *arguments)(odd)


@test("odd: no timers at 100 Hz: perf_event serves")
def no_timers():
    with harness.folder() as path:
        command = case("odd", SPLIT, "timer_create")
        run, files = preloaded(path, command, GUESTPROF_HZ="100")
        same_as_without(run, Run(command))
        profile = cases.profile(files)
    expect(profile.total() > 4 and profile.info[4] == b"perf_event", f"{profile.total()} samples, {profile.info}")


@test("odd: a daemon by two forks")
def daemon():
    odd("daemon")


@test("odd: a child that shares the memory")
def shared():
    odd("clone")


@test("odd: another program, from a thread")
def exec_on_thread():
    odd("exec-on-thread")


@test("odd: other preloaded libraries before and behind us")
def neighbours():
    """One that wraps what we wrap, by RTLD_NEXT; and again for a host that itself loads and execs."""
    other = HOSTS / "cases/neighbour.so"
    for way in ("dlmopen", "exec-on-thread"):
        command = case("odd", SPLIT, way)
        plain = Run(command, env=environment(LD_PRELOAD=str(other)))
        for order in ((LIBRARY, other), (other, LIBRARY), (other, LIBRARY, HOSTS / "cases/spy.so")):
            with harness.folder() as path:
                run, files = preloaded(path, command, GUESTPROF_HZ="1000", LD_PRELOAD=":".join(map(str, order)))
                same_as_without(run, plain)
                expect(cases.total(files) >= 40, f"{[p.name for p in order]}: {cases.total(files)} samples")


if __name__ == "__main__":
    sys.exit(harness.main())
