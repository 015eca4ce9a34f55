#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases_signals.py - hosts and their signals: none is lost, none is seen that the host did not send. See cases.md."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
from cases import case, preloaded
from harness import HOSTS, Run, Skip, expect, same_as_without, test

SPLIT = str(HOSTS / "split.wasm")


@test("19 a large process forks under a fast clock")
def large_fork():
    with harness.folder() as path:
        run, files = preloaded(path, case("forks", SPLIT, "leave", "20", "500"), GUESTPROF_HZ="1000")
        longest = int(run.stderr.split("longest ")[1].split()[0])
        plain = Run(case("forks", SPLIT, "leave", "10", "500"))
        alone = int(plain.stderr.split("longest ")[1].split()[0])
        print(f"# longest fork {longest} ms, without guestprof {alone} ms")
        expect(run.stdout == "failed 0\n", run.stdout)
        expect(longest < 10 * alone + 3000, f"a fork took {longest} ms, alone {alone} ms")
        expect(len(files) == 1, f"{files}")


@test("21 errno stays, whatever a tick interrupts")
def errno_stays():
    guest = str(HOSTS / "calls_out.wasm")
    for hz in ("250", "4000"):
        with harness.folder() as path:
            run, files = preloaded(path, case("errnos", guest, "open", "1500"), GUESTPROF_HZ=hz)
            expect(run.stdout == "0 wrong, some calls\n", run.stdout + run.stderr)
            expect(cases.total(files) > 100, "hardly any samples")


@test("22 Go host: goroutines, stacks that move, Go's own signals")
def go_host():
    program = HOSTS / "cases/host_go"
    if not program.exists():
        raise Skip("no go compiler when the hosts were built")
    plain = Run([str(program), SPLIT])
    expect(plain.status == 0, plain.stderr)
    samples = 0
    for _ in range(3):
        with harness.folder() as path:
            run, files = preloaded(path, [str(program), SPLIT], GUESTPROF_HZ="1000")
            expect(run.status == 0 and run.stdout == plain.stdout, f"{run.status}: {harness.tail(run.stderr)}")
            samples += cases.total(files)
    expect(samples > 400, f"{samples} samples")


@test("22 Go host that ends soon, by system call")
def short_go_host():
    """No destructor runs, and nobody sees it end: what it did is written all the while."""
    program = HOSTS / "cases/host_go"
    if not program.exists():
        raise Skip("no go compiler when the hosts were built")
    with harness.folder() as path:
        run, files = preloaded(path, [str(program), SPLIT, "soon"], GUESTPROF_HZ="1000")
        expect(run.status == 0 and run.stdout.startswith("go: sum "), f"{run.status}: {harness.tail(run.stderr)}")
        # 500 but for the last tenth of a second, and the first one's beginning
        expect(cases.total(files) > 100, f"{cases.total(files)} samples")


def own_use(when, how):
    """A host that uses SIGPROF sees what it would see alone; and is sampled."""
    command = case("sigprof", SPLIT, when, how)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000" if when == "early" else "100")
        same_as_without(run, Run(command))
        expect(cases.total(files) > 25, f"{cases.total(files)} samples")


for when in ("early", "late"):
    for how in ("handler", "restart", "signal", "ignore", "itimer"):
        test("23 SIGPROF is the host's: {}, {}", when, how)(own_use)


def moves(hz, how):
    """The host begins to handle the signal of the clock: that leaves it to the host, says so once, and goes on.

    Above 250 Hz the clock has another: nothing happens.
    """
    command = case("sigprof", SPLIT, "late", how)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ=str(hz), GUESTPROF_LOG="info")
        same_as_without(run, Run(command))
        expect(run.stderr.count("sampling with signal 26") == (hz <= 250), run.stderr)
        # 100 ms before, 300 ms after.
        cpu_ms = sum(sample.cpu_ns for sample in cases.profile(files).samples) / 1e6
    expect(cpu_ms > 200, f"{cpu_ms:.0f} ms sampled")


test("23 SIGPROF becomes the host's: {} Hz, {}", 100, "restart")(moves)
test("23 SIGPROF becomes the host's: {} Hz, {}", 1000, "itimer")(moves)


@test("23 SIGPROF is ignored or blocked from the start")
def inherited():
    command = case("sigprof", SPLIT, "early", "none")
    for option in ("--ignore-signal=PROF", "--block-signal=PROF"):
        with harness.folder() as path:
            run, files = preloaded(path, ["env", option, *command], GUESTPROF_HZ="100")
            same_as_without(run, Run(["env", option, *command]))
            if "ignore" in option:
                expect(cases.total(files) > 25, f"{cases.total(files)} samples")


@test("23 node profiles itself")
def node_profiles():
    """Node's own sampler takes SIGPROF; there is no engine with an API in it, and nothing to record."""
    code = "const end = Date.now() + 300; while (Date.now() < end); console.log('done')"
    with harness.folder() as path:
        run, files = preloaded(path, ["node", "--cpu-prof", "--cpu-prof-dir", str(path / "own"), "-e", code])
        expect(run.status == 0 and run.stdout == "done\n" and run.stderr == "", run.stdout + run.stderr)
        expect(len(list((path / "own").glob("*.cpuprofile"))) == 1, "node wrote no profile")


def blocked(way, what, hz):
    """No tick is pending, waited for or read while a thread blocks; the clock goes on where it was."""
    with harness.folder() as path:
        run, files = preloaded(path, case("masks", SPLIT, way, what), GUESTPROF_HZ=str(hz), GUESTPROF_LOG="info")
        expect(run.status == 0 and run.stdout == "pending 0, waited for 0, readable 0\n", run.stdout + run.stderr)
        if what == "born" and not files:  # no thread had a sample, and it was said why
            expect("blocks signal" in run.stderr, f"nothing said of it: {run.stderr}")
            return
        profile = cases.profile(files)
        cpu_ms = sum(sample.cpu_ns for sample in profile.samples) / 1e6
    # Open: 2 threads of 13 times 60 ms; 0.9 of 600 ms and more.
    low, high = {"windows": (1560 * 0.75, 1560 * 1.2), "short": (250 if hz == 100 else 60, 1200), "born": (0, 120)}[what]
    expect(low <= cpu_ms <= high, f"{cpu_ms:.0f} ms sampled, not {low:.0f} to {high:.0f}")
    if what == "born":
        expect("blocks signal" in run.stderr and profile.stats["threads_blocking"] >= 2,
               f"nothing said of it: {run.stderr} {profile.stats}")


for what in ("windows", "short", "born"):
    for hz in (100, 1000):
        test("27 threads block all signals: {}, {}, {} Hz", "pthread_sigmask", what, hz)(blocked)
test("27 threads block all signals: {}, {}, {} Hz", "sigprocmask", "windows", 1000)(blocked)


@test("27 a thread blocks SIGURG alone, 1000 Hz")
def waits_for_urgent():
    """It waits for that signal: it is left to it, and the thread is sampled by another."""
    command = case("masks", SPLIT, "sigprocmask", "urgent")
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000", GUESTPROF_LOG="info")
        same_as_without(run, Run(command))
        expect(run.stdout == "pending 0, waited for 0, readable 0\n", run.stdout)
        cpu_ms = sum(sample.cpu_ns for sample in cases.profile(files).samples) / 1e6
    # 720 ms; some 100 of them pass before it is seen.
    expect(cpu_ms > 350, f"{cpu_ms:.0f} ms sampled: {run.stderr}")


@test("28 faster than the handler: the host gets on")
def too_fast():
    command = harness.host(harness.NEWEST, "split.wasm", "run", "calls=2500")
    alone = min(Run(command).seconds for _ in range(2))
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="10000", GUESTPROF_STACKS="full")
        same_as_without(run, Run(command))
        profile = cases.profile(files)
    print(f"# at 10,000 Hz {run.seconds:.2f} s, alone {alone:.2f} s")
    expect(run.seconds < 5 * alone + 5, f"{run.seconds:.1f} s, alone {alone:.1f} s")
    expect(profile.total() > 100, f"{profile.total()} samples")


@test("28 four threads on two cores have equal shares: {} Hz", 250)
@test("28 four threads on two cores have equal shares: {} Hz", 1000)
def equal_shares(hz):
    """Each uses 600 ms of CPU time and is sampled by a clock of its own; within 10 % of each other."""
    command = harness.host(harness.NEWEST, "split.wasm", "run", "threads=4", "cpu_ms=600")
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ=str(hz))
        expect(run.status == 0, f"{run.status}: {harness.tail(run.stderr)}")
        used = {}
        for sample in cases.profile(files).samples:
            thread = sample.labels.get("thread_id")
            used[thread] = used.get(thread, 0) + sample.cpu_ns / 1e6
    shares = [cpu_ms / sum(used.values()) for cpu_ms in used.values() if cpu_ms > 100]
    expect(len(shares) == 4, f"{used}")
    # A thread's first moments, before it has its clock, are a few hundredths of that.
    expect(all(0.225 <= share <= 0.275 for share in shares), f"shares {shares}, ms {used}")


@test("29 nothing forbidden in the handler, with 400 short threads")
def spied():
    spy = str(HOSTS / "cases/spy.so")
    command = case("short_lives", SPLIT, "400")
    for order in ((harness.LIBRARY, spy), (spy, harness.LIBRARY)):
        with harness.folder() as path:
            run, files = preloaded(path, command, GUESTPROF_HZ="2000", GUESTPROF_STACKS="full",
                                   LD_PRELOAD=":".join(map(str, order)))
            expect(run.status == 0 and run.stdout == "400 threads ended\n",
                   f"{run.status}: {run.stdout} {harness.tail(run.stderr)}")
            expect(cases.total(files) > 200, f"{cases.total(files)} samples")


@test("30 traps of the guest, faults of the host, under a fast clock")
def traps():
    command = case("traps", HOSTS / "traps.wasm", "3000")
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        same_as_without(run, Run(command))
        expect(run.stdout == "traps 12000, own faults 3000, wrong addresses 0\n", run.stdout)
        expect(cases.total(files) > 100, f"{cases.total(files)} samples")


if __name__ == "__main__":
    sys.exit(harness.main())
