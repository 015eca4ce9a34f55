#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lifecycle.py - how processes begin and end under guestprof, and what they leave."""

import concurrent.futures
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import kills
import pprof
from cases import case, preloaded
from harness import (GUESTPROF, HOSTS, LIBRARY, NEWEST, PYTHON, Run, environment, expect, host, run_recorded,
                     same_as_without, test)

test("kill -9 at {} moments", 20)(kills.kill_many)

# Prints threads, POSIX timers and descriptors of the process itself.
LOOK = """import os
timers = open('/proc/self/timers').read() if os.path.exists('/proc/self/timers') else ''
print(len(os.listdir('/proc/self/task')), repr(timers),
      sorted(f for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))"""


@test("no guest: no file, no thread, no timer")
def no_guest():
    look = [str(PYTHON), "-c", LOOK]
    with harness.folder() as path:
        run = Run(look, cwd=path, env=environment(LD_PRELOAD=str(LIBRARY)))
        same_as_without(run, Run(look, cwd=path))
        expect(run.stderr == "", run.stderr)
        expect(not list(path.iterdir()), f"files: {list(path.iterdir())}")


@test("no guest: record says so")
def nothing_seen():
    with harness.folder() as path:
        run = run_recorded(["true"], path / "out.pb.gz", cwd=path)
        expect(run.status == 0, f"status {run.status}")
        lines = run.stderr.splitlines()
        expect(len(lines) == 1 and lines[0].startswith("guestprof"), run.stderr)
        expect(not list(path.iterdir()), f"files: {list(path.iterdir())}")


@test("no guest: under 2 ms more at start")
def start_cost():
    """In turns, so that what else the machine does meets both alike."""
    def milliseconds(env):
        started = time.perf_counter()
        subprocess.run(["/bin/true"], env=env, check=True)
        return 1000 * (time.perf_counter() - started)

    environments = environment(LD_PRELOAD=str(LIBRARY)), environment()
    pairs = [[milliseconds(env) for env in environments] for _ in range(80)]
    more = statistics.median(with_us - without for with_us, without in pairs)
    print(f"# /bin/true: {statistics.median(pair[1] for pair in pairs):.2f} ms, preloaded {more:+.2f} ms")
    expect(more < 2, f"{more:.2f} ms more")


def status_of(command, **options):
    with harness.folder() as path:
        return run_recorded(command, path / "out.pb.gz", **options).status


@test("exit status is the child's")
def exit_status():
    for command, wanted in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -9 $$"], 137),
                            (["sh", "-c", "kill -TERM $$"], 143), (["sh", "-c", "kill -SEGV $$"], 139)):
        status = status_of(command)
        expect(status == wanted, f"{command}: {status}, not {wanted}")


@test("exit status of a host with a guest")
def host_status():
    for command in (host(NEWEST, "split.wasm", "nothing"), host(NEWEST, "split.wasm", "run", "bad=1"),
                    host(NEWEST, "split.wasm", "run", "calls=3")):
        with harness.folder() as path:
            same_as_without(run_recorded(command, path / "out.pb.gz"), Run(command))


@test("own failures: 125, 126, 127")
def own_failures():
    with harness.folder() as path:
        (path / "plain").write_text("no program\n")
        for words, wanted in ((["-F", "many", "--", "true"], 125), (["--", str(path / "plain")], 126),
                              (["--", str(path / "absent")], 127)):
            run = Run([str(GUESTPROF), "record", *words], cwd=path)
            expect(run.status == wanted, f"{words}: {run.status}, not {wanted}: {run.stderr}")
            expect(run.stderr.startswith("guestprof"), run.stderr)


@test("signals are forwarded")
def forwarded():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with harness.folder() as path:
            ready = path / "ready"
            command = ["sh", "-c", f"trap 'exit {40 + number}' {number}; : > {ready}; while :; do sleep 0.05; done"]
            with subprocess.Popen([str(GUESTPROF), "record", "-o", str(path / "out.pb.gz"), "--", *command],
                                  env=environment(), stderr=subprocess.PIPE, start_new_session=True) as process:
                wait_for(ready.exists)
                process.send_signal(number)
                process.wait(timeout=20)
            expect(process.returncode == 40 + number, f"signal {number}: {process.returncode}")


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < deadline, f"not within {seconds} s")
        time.sleep(0.01)  # between two looks


@test("record finishes the file of a killed host")
def killed_host():
    with harness.folder() as path:
        file = path / "out.pb.gz"
        (path / "out.pb.tmp").write_bytes(b"from one that was killed while it compressed")
        run = run_recorded(["sh", "-c", f"{HOSTS}/{NEWEST}/host {HOSTS}/split.wasm run cpu_ms=60000 & "
                            "sleep 2.5; kill -9 $!; wait $!"], file, hz=1000)
        expect(run.status == 137, f"status {run.status}")
        expect(file.exists(), f"no {file.name}, but {list(path.iterdir())}")
        expect(file.read_bytes()[:2] == b"\x1f\x8b", "not compressed")
        expect(pprof.read(file).total() > 50, "hardly any samples")
        expect("killed, or ended by system call" in run.stderr, f"nothing said of it: {run.stderr}")
        expect(list(path.iterdir()) == [file], f"left: {list(path.iterdir())}")


@test("several guest processes, a file each")
def several_processes():
    one = " ".join(host(NEWEST, "split.wasm", "run", "cpu_ms=400"))
    with harness.folder() as path:
        run = run_recorded(["sh", "-c", f"{one} & {one} & {one} & wait"], path / "out.pb.gz")
        files = sorted(p.name for p in path.iterdir())
        expect(len(files) == 3 and "out.pb.gz" in files, f"files {files}: {run.stderr}")
        expect(all(name.startswith("out.") and name.endswith(".pb.gz") for name in files), f"files {files}")
        for name in files:
            expect(pprof.read(path / name).total() > 0, f"no samples in {name}")


@test("preloaded without the command")
def preload_only():
    """The default name, the final form, and not a word."""
    command = host(NEWEST, "split.wasm", "run", "cpu_ms=500")
    with harness.folder() as path:
        run = Run(command, cwd=path, env=environment(LD_PRELOAD=str(LIBRARY)))
        same_as_without(run, Run(command))
        expect(run.stderr == "", run.stderr)
        files = [p.name for p in path.iterdir()]
        expect(len(files) == 1 and files[0].startswith("guestprof.host.") and files[0].endswith(".pb.gz"), f"{files}")
        expect(pprof.read(path / files[0]).total() > 20, "hardly any samples at 100 Hz")


LEAVERS_MS = 60


def leaves(way):
    command = case("leavers", HOSTS / "split.wasm", way, LEAVERS_MS)
    with harness.folder() as path, concurrent.futures.ThreadPoolExecutor(1) as beside:
        plain = beside.submit(Run, command)
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        same_as_without(run, plain.result())
        names = [file.name for file in files]
        expect(len(files) == 1 and names[0].endswith(".pb.gz"), f"left {names}")
        cpu_ms = sum(sample.cpu_ns for sample in pprof.read(files[0]).samples) / 1e6
    expect(cpu_ms > 3 * LEAVERS_MS / 2, f"{cpu_ms:.0f} ms of {3 * LEAVERS_MS} are in the recording")


for way in ("main", "thread", "return", "raw"):
    test("threads that all leave: {}", way)(leaves)


@test("library path")
def library_path():
    run = Run([str(GUESTPROF), "lib"])
    expect(run.status == 0 and run.stdout.strip() == str(LIBRARY), f"{run.status}: {run.stdout}")


if __name__ == "__main__":
    sys.exit(harness.main())
