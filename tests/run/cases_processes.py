#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases_processes.py - how hosts begin, end, and change; what they do to files and descriptors. See cases.md."""

import gzip
import os
import shutil
import signal
import subprocess
import sys
import threading

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
import pprof
from cases import case, preloaded
from harness import HOSTS, LIBRARY, Run, Skip, environment, expect, same_as_without, test

SPLIT = str(HOSTS / "split.wasm")
PLAIN = str(HOSTS / "cases/plain")


@test("34 the clock read through the vDSO, in a host call")
def vdso():
    command = case("errnos", HOSTS / "calls_out.wasm", "clock", "800")
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000", GUESTPROF_STACKS="full")
        same_as_without(run, Run(command))
        profile = cases.profile(files)
    inside = complete = 0
    for sample in profile.samples:
        names = [frame.name for frame in sample.frames]
        mapped = [frame.module for frame in sample.frames]
        if not any("vdso" in text for text in names + mapped):
            continue
        inside += sample.count
        complete += sample.count * ("lower" in names and "main" in names and "run" in names)
    expect(inside > 100, f"{inside} of {profile.total()} samples in the vDSO: "
           f"{sorted({frame.name for sample in profile.samples for frame in sample.frames})[:40]}")
    expect(complete >= 0.97 * inside, f"{complete} of {inside} stacks reach from main through the guest")



EXECS = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "raw", "absent"]


def becomes(way, hz):
    """The new program ends as it would, and what was sampled until then is in the recording."""
    command = case("becomes", SPLIT, way, PLAIN, "300", "6")
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ=str(hz))
        expect((run.status, run.stdout, run.stderr) == (6, "plain: done\n", ""),
               f"{run.status}: {run.stdout} {run.stderr}")
        if way == "raw" and not files:
            return  # no chunk was written yet: the system call goes past us
        cpu_ms = sum(sample.cpu_ns for sample in cases.profile(files).samples) / 1e6
    least = 0 if way == "raw" else 700 * 0.6 if way == "absent" else 300 * 0.6
    expect(cpu_ms >= least, f"{cpu_ms:.0f} ms sampled before the exec")


for number, way in enumerate(EXECS):
    test("37 another program by {}, {} Hz", way, 4000 if number % 2 else 100)(becomes)


def child_programs(way, *words):
    command = case("becomes", SPLIT, way, *words)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        same_as_without(run, Run(command))
        expect(cases.total(files) > 100, f"{cases.total(files)} samples")


test("37 programs started by {}", "vfork", PLAIN, "300", "6")(child_programs)
test("37 programs started by {}", "spawn", PLAIN, "300", "6")(child_programs)
test("37 programs started by {}", "system", "sh", "-c", f"{PLAIN} 100 6")(child_programs)


def forks(what, count, recordings):
    command = case("forks", SPLIT, what, count, 0)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        expect(run.status == 0 and run.stdout == "failed 0\n", f"{run.status}: {run.stdout} {run.stderr}")
        expect(len(files) == recordings, f"{len(files)} recordings, not {recordings}")
        totals = sorted(sum(s.cpu_ns for s in pprof.read(file).samples) / 1e6 for file in files)
    # Each process that ran 300 ms of guest has that in its own, and nobody has the parent's.
    for cpu_ms in totals[:-1]:
        expect(300 * 0.5 <= cpu_ms <= 300 * 1.5 + 100, f"a child's recording has {cpu_ms:.0f} ms: {totals}")


test("38 children that run a guest and {}", "exit", 3, 4)(forks)
test("38 children that run a guest and {}", "_exit", 3, 4)(forks)
test("38 children that {} at once", "leave", 40, 1)(forks)
test("38 children that end {}", "silent", 10, 1)(forks)
test("38 grandchildren: {}", "have some", 2, 5)(forks)

# way: (status, is the recording whole, at most so much of it missing)
ENDS = {
    "return": (7, True), "exit": (8, True), "atexit": (9, True), "quick_exit": (10, True), "_exit": (11, True),
    "_Exit": (12, True), "exit_group": (13, False), "abort": (134, False), "throw": (134, False),
    "SIGTERM": (143, False), "SIGINT": (130, False), "SIGKILL": (137, False), "SIGSEGV": (139, False),
    "handler": (21, True), "handler-exit": (22, True), "thread": (23, True),
}


def ends(way):
    """The status is the host's; a whole recording has all, any other lacks a second at most."""
    status, is_whole = ENDS[way]
    burn_ms = 250 if is_whole else 1300
    command = case("dying", SPLIT, way, burn_ms)
    with harness.folder() as path:
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        expect(run.stdout == "" and (run.stderr == "" or way == "throw"), run.stdout + run.stderr)
        expect(run.status == status, f"status {run.status}, not {status}")
        expect(len(files) == 1, f"{[file.name for file in files]}")
        expect(files[0].name.endswith(".pb.gz") == is_whole, f"left {files[0].name}")
        cpu_ms = sum(s.cpu_ns for s in pprof.read(files[0]).samples) / 1e6
    # The main thread's 1300 ms; a second one beside it; two cores at least.
    least = burn_ms * 0.7 if is_whole else 100
    expect(cpu_ms >= least, f"{cpu_ms:.0f} ms sampled, not {least:.0f}")


for way in ENDS:
    test("39 it ends by {}", way)(ends)


@test("42 wrappers and shells leave nothing, and say nothing")
def wrappers():
    inner = " ".join(case("dying", SPLIT, "return", 900))
    with harness.folder() as path:
        run, files = preloaded(path, ["timeout", "60", "sh", "-c", f"{inner} | cat; true; env true"],
                               GUESTPROF_OUTPUT=f"{path}/guestprof.fixed.pb.gz")
        expect(run.status == 0 and run.output == b"" and run.stderr == "", f"{run.status}: {run.stderr}")
        expect([file.name for file in files] == ["guestprof.fixed.pb.gz"], f"{files}")
        expect(cases.total(files) > 50, "the guest's recording was replaced")


@test("42 two processes with one name, and fifty without a guest")
def same_name():
    inner = " ".join(case("dying", SPLIT, "exit", 900))
    with harness.folder() as path:
        script = f"{inner} & {inner} & wait; i=0; while [ $i -lt 50 ]; do {PLAIN} 1; i=$((i + 1)); done | wc -l"
        run, files = preloaded(path, ["sh", "-c", script], GUESTPROF_OUTPUT=f"{path}/guestprof.fixed.pb.gz")
        expect(run.stdout.strip() == "50" and run.stderr == "", run.stdout + run.stderr)
        expect(len(files) == 2 and all(pprof.read(file).total() > 50 for file in files), f"{files}")


def streams(what, leaves_file=True, **settings):
    """The host's data file, which is descriptor 2, holds what the host wrote and no more."""
    with harness.folder() as path:
        data, gone = path / "data", path / "gone"
        gone.mkdir()
        path.chmod(0o777)
        run, files = preloaded(path, case("streams", SPLIT, data, gone, what), cwd=gone, GUESTPROF_HZ="250", **settings)
        expect(run.status == 5, f"status {run.status}: {run.stderr} {data.read_bytes()[-200:] if data.exists() else ''}")
        expect(data.read_bytes() == b"data\n" * 40, f"the data file has {data.read_bytes()[-200:]}")
        if leaves_file:
            expect(files and cases.total(files) > 100, f"{files}")
            expect(all(file.stat().st_mode & 0o777 == 0o600 for file in files), "others may read it")
        return run


test("43 closed streams, another directory: {}", "none")(streams)
test("43 closed streams, another directory: {}", "umask")(streams)


@test("43 a root of its own, and another user")
def other_root():
    if os.geteuid() != 0:
        raise Skip("not root")
    streams("chroot")
    streams("nobody")


@test("43 a relative name is of the directory at the start")
def relative_name():
    with harness.folder() as path:
        (path / "start").mkdir()
        data = path / "data"
        run, _ = preloaded(path, case("streams", SPLIT, data, "-", "none"), cwd=path / "start",
                           GUESTPROF_OUTPUT="guestprof.here.pb.gz")
        expect(run.status == 5, f"{run.status}: {run.stderr}")
        expect((path / "start/guestprof.here.pb.gz").exists(), f"{list((path / 'start').iterdir())}")


@test("43 nowhere to write: the host goes on, one line says so")
def nowhere():
    command = case("dying", SPLIT, "return", 300)
    with harness.folder() as path:
        # A file in the place of the directory, and of the directory that is used instead.
        (path / "file").write_text("")
        run, files = preloaded(path, command, GUESTPROF_OUTPUT=f"{path}/file/out.pb.gz", TMPDIR=f"{path}/file")
        lines = run.stderr.splitlines()
        expect(run.status == 7 and not files and len(lines) == 1, f"{run.status}: {run.stderr}")
        if os.geteuid() == 0:
            full_disk(path, command)


def full_disk(path, command):
    """A file system of 8 KiB, in a mount namespace of its own."""
    place = path / "small"
    place.mkdir()
    script = f'mount -t tmpfs -o size=8k none {place} && LD_PRELOAD={LIBRARY} GUESTPROF_OUTPUT={place}/a.pb.gz "$@"'
    run = Run(["unshare", "-m", "sh", "-c", script, "sh", *command], env=environment(GUESTPROF_HZ="1000"))
    if run.status == 1 and "unshare" in run.stderr:
        return
    expect(run.status == 7 and len(run.stderr.splitlines()) <= 2, f"full disk: {run.status}: {run.stderr}")


@test("44 whoever reads meanwhile sees whole files")
def read_meanwhile():
    """Final names appear whole, the running file is whole up to its last chunk, and nothing else is left."""
    seen, wrong = [], []
    with harness.folder() as path:
        done = threading.Event()

        def look():
            while not done.wait(0.02):
                for file in path.iterdir():
                    try:
                        data = file.read_bytes()
                        seen.append(pprof.Profile(data).total())
                        if file.suffix == ".gz":
                            gzip.decompress(data)
                    except FileNotFoundError:
                        continue
                    except Exception as reason:
                        wrong.append(f"{file.name}: {type(reason).__name__} {reason}")

        reader = threading.Thread(target=look)
        reader.start()
        try:
            run, files = preloaded(path, harness.host(harness.NEWEST, "split.wasm", "run", "cpu_ms=3500"),
                                   GUESTPROF_HZ="1000", GUESTPROF_ROTATE="1s,64M,8")
        finally:
            done.set()
            reader.join()
        names = sorted(file.name for file in path.iterdir())
        expect(run.status == 0 and not wrong and seen, f"{run.status}: {wrong[:3]}")
        expect(len(files) == len(names) and all(name.endswith(".pb.gz") for name in names), f"left: {names}")


@test("48 no signal asks for a file: those that might are the host's")
def dump_signals():
    """SIGUSR1, SIGUSR2 and the like do in a preloaded process what they do without."""
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPROF, signal.SIGVTALRM, signal.SIGALRM):
        statuses = []
        for preload in ({}, {"LD_PRELOAD": str(LIBRARY), "GUESTPROF_CONTROL": "1", "GUESTPROF_OUTPUT": "none"}):
            with subprocess.Popen([PLAIN, "20000"], env=environment(**preload), stdout=subprocess.DEVNULL) as process:
                process.send_signal(number)
                statuses.append(process.wait(timeout=30))
        expect(statuses[0] == statuses[1] == -number, f"signal {number}: {statuses}")


@test("49 a filter that refuses files and timers, or kills for them")
def sandboxed():
    streams("sandbox", leaves_file=False)
    streams("killing", leaves_file=False)


@test("49 process 1 of a pid namespace, /proc of its own, /tmp read-only")
def first_process():
    if os.geteuid() != 0 or Run(["unshare", "-pfm", "--mount-proc", "true"]).status != 0:
        raise Skip("no namespaces here")
    with harness.folder() as path:
        # Not where the library itself is in /tmp.
        hide = "" if str(harness.BUILD).startswith("/tmp/") else "mount -t tmpfs none /tmp -o ro && "
        script = (f"{hide}cd /; "
                  f"LD_PRELOAD={LIBRARY} GUESTPROF_HZ=1000 GUESTPROF_OUTPUT=\"$0/guestprof.%e.%p.%h.pb.gz\" exec \"$@\"")
        place = harness.BUILD / "cases-output"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            run = Run(["unshare", "-pfm", "--mount-proc", "sh", "-c", script, str(place),
                       *case("dying", SPLIT, "return", 300)])
            files = cases.recordings(place)
            expect(run.status == 7 and run.stderr == "", f"{run.status}: {run.stderr}")
            expect(len(files) == 1 and ".1." in files[0].name and cases.total(files) > 100, f"{files}")
        finally:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(harness.main())
