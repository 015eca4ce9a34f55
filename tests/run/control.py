#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""control.py - live control: a real host is asked, started, stopped, dumped while it runs."""

import contextlib
import re
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import live
import pprof
from harness import GUESTPROF, NEWEST, PPROF, PYTHON, ROOT, Run, environment, expect, expect_shares, test
from live import busy, dumped, wait_for

test("{} starts and stops leave nothing over", 60, beside=True)(live.cycles)


def expect_split(profile, least):
    expect(profile.total() >= least, f"{profile.total()} samples, not {least}")
    counts = {}
    for sample in profile.samples:
        chain = pprof.guest_chain(sample)
        if chain:
            counts[chain[-1].split(".")[-1]] = counts.get(chain[-1].split(".")[-1], 0) + sample.count
    expect_shares(counts, guests.SPLIT_SHARES, slack=0.02)


@test("paused: one thread sleeps, until start", beside=True)
def paused():
    with live.live(GUESTPROF_START="0") as host:
        tid = host.our_tid()

        def switches():
            return [host.task_number(tid, f"{kind}_ctxt_switches") for kind in ("voluntary", "nonvoluntary")]

        def sleeps(seconds, what):
            """Once what came before has been taken in, it does not wake for so long."""
            deadline, before = time.monotonic() + 20, None
            while before != switches():
                expect(time.monotonic() < deadline, f"{what}: our thread does not come to rest: {before}")
                before = switches()
                time.sleep(0.3)  # between two looks
            time.sleep(seconds)  # the property is of a time: nothing happens in it
            expect(switches() == before, f"{what}: our thread woke: {before} then {switches()}")

        wait_for(lambda: host.task_number(host.pid, "Threads") >= 3)
        sleeps(3, "paused")
        expect(host.timers() == "", f"timers: {host.timers()}")
        caught = int(re.search(r"^SigCgt:\s+(\w+)", open(f"/proc/{host.pid}/status").read(), re.M).group(1), 16)
        expect(not caught >> (signal.SIGPROF - 1) & 1, "the signal is taken already")
        expect(not list(host.folder.glob("guestprof.*")), "a file is there already")
        status = host.status()
        expect(status["state"] == "rests" and status["has_guest"] and status["by"] is None, f"{status}")
        run = host.run("start", "--hz", "1000", "--stacks", "guest")
        expect(run.status == 0 and "records at 1000 Hz" in run.stderr, f"{run.status}: {run.stderr}")
        wait_for(lambda: host.status()["samples"] > 1000)
        run = host.run("dump", "-o", "part.pb.gz")
        expect(run.status == 0, run.stderr)
        profile = pprof.read(host.folder / "part.pb.gz")
        expect_split(profile, 1000)
        kinds = {frame.kind for sample in profile.samples for frame in sample.frames}
        expect("guest" in kinds and kinds <= {"guest", "trampoline"}, f"--stacks guest: {kinds}")
        run = host.run("stop")
        expect(run.status == 0 and ".pb.gz" in run.stderr, f"{run.status}: {run.stderr}")
        sleeps(1, "after stop")
        expect(host.timers() == "", f"timers after stop: {host.timers()}")
        # What was stopped can still be had.
        run = host.run("dump", "-o", "whole.pb.gz")
        expect(run.status == 0, run.stderr)
        whole = pprof.read(host.folder / "whole.pb.gz")
        expect(whole.total() >= profile.total(), "the whole is less than its part")
        expect(host.run("stop").status == 0, "stopping twice is an error")


@test("the host's result is the same", beside=True)
def same_result():
    command = busy(cpu_ms=1000)
    plain = Run(harness.brief(command))
    with live.live(command, GUESTPROF_START="0") as host:
        expect(host.run("start", "--hz", "1000").status == 0, "start")
        wait_for(lambda: host.status()["samples"] > 50)
        expect(host.run("stop").status == 0, "stop")
        output = host.status()["output"]
        out, err = host.process.communicate(timeout=60)
        expect(pprof.read(output).total() > 50, "hardly any samples")
        expect(host.process.returncode == 0, f"status {host.process.returncode}: {err}")
        expect(sorted(out.decode().splitlines()) == sorted(plain.stdout.splitlines()),
               f"{out.decode()!r}, without guestprof {plain.stdout!r}")
        expect(err == b"", f"{err}")
        expect(not host.socket.exists(), "the socket is left")


@test("memory only, and the last seconds of it", beside=True)
def memory_only():
    with live.live(GUESTPROF_OUTPUT="none", GUESTPROF_HZ="1000") as host:
        wait_for(lambda: host.status()["samples"] > 2000 and host.status()["kept_ns"] > 6e9, seconds=60)
        run = host.run("dump", "--last", "2s", "-o", "short.pb")
        expect(run.status == 0, run.stderr)
        short, names = pprof.read(host.folder / "short.pb"), {"control.sock", "short.pb"}
        run = host.run("dump", "--last", "60s", "-o", "-")
        expect(run.status == 0, run.stderr)
        long = pprof.Profile(run.output)
        expect_split(long, 1500)
        expect_split(short, 100)
        expect(short.total() < 0.8 * long.total(), f"{short.total()} in 2 s, {long.total()} in all")
        expect("are all that is kept" in run.stderr, run.stderr)
        expect(1.9e9 <= short.duration_ns <= 4.5e9, f"{short.duration_ns} ns")
        expect_instances = {s.labels.get("wasm_instance") for s in short.samples}
        expect(None not in expect_instances, f"{expect_instances}")
        expect({path.name for path in host.folder.iterdir()} == names, f"files: {list(host.folder.iterdir())}")
        if PPROF.exists():
            run = Run([str(PPROF), "-symbolize=none", "-top", str(host.folder / "short.pb")])
            expect(run.status == 0 and "inner" in run.stdout, run.stderr)


def expect_calls(profile, count, what):
    """COUNT calls of env.note, each told as an interval or as one that has none."""
    found = sum(row.get(4, 0) for (name, _), row in profile.hostcalls.items() if name == "env.note")
    expect(found == count, f"{what}: {found} calls, not {count}: {profile.hostcalls}")
    timed = len(profile.intervals) + profile.info.get(14, 0)
    expect(timed == count, f"{what}: {len(profile.intervals)} intervals and {profile.info.get(14, 0)} calls without, "
           f"not {count}")


def dumped_calls(output):
    """Those before a session and between two count for nobody; those of the last second for it alone."""
    with live.on_demand(GUESTPROF_START="0", GUESTPROF_HOSTCALLS="exact", GUESTPROF_HZ="1000", **output) as demand:
        host = demand.host
        demand.calls(700)
        expect(host.run("start").status == 0, "start")
        demand.calls(3000)
        expect_calls(dumped(host), 3000, "all")
        kept = host.status()["kept_ns"]
        wait_for(lambda: host.status()["kept_ns"] > kept + 4.5e9)
        demand.calls(1500)
        # By the connection itself: a command takes its time to start.
        _, last = host.ask(b"guestprof/1 dump last_ns=2000000000\n")
        expect_calls(pprof.Profile(last), 1500, "the last two seconds")
        expect_calls(dumped(host, "--last", "1m"), 4500, "the last minute")
        expect_calls(dumped(host), 4500, "all of it")
        expect(host.run("stop").status == 0, "stop")
        demand.calls(200)
        expect(host.run("start").status == 0, "start")
        demand.calls(2000)
        expect_calls(dumped(host), 2000, "the second session")


test("a dump's host calls are those of its time: from memory", {"GUESTPROF_OUTPUT": "none"}, beside=True)(dumped_calls)
test("a dump's host calls are those of its time: of a file", {}, beside=True)(dumped_calls)


@test("waiting while nobody records counts for nobody", beside=True)
def waits_between():
    command = harness.host(NEWEST, "waits.wasm", "nap", "argument=60000")  # one sleep, all the time
    with live.live(command, GUESTPROF_START="0", GUESTPROF_WALL="1") as host:
        for pause in (0, 4):
            time.sleep(pause)  # the property is of this time
            started = time.monotonic()
            expect(host.run("start").status == 0, "start")
            time.sleep(1)  # of the sleep: so much is to be seen
            found = sum(sample.wall_ns for sample in dumped(host).samples) / 1e9
            passed = time.monotonic() - started
            expect(0.5 <= found <= passed + 0.5, f"{found:.2f} s of waiting in {passed:.2f} s")
            expect(host.run("stop").status == 0, "stop")


@test("rotation keeps so many files, each whole", beside=True)
def rotation():
    with live.live(GUESTPROF_ROTATE="1s,64M,3", GUESTPROF_HZ="1000") as host:
        def there():
            """For a moment a file has two names, of .pb, .pb.tmp and .pb.gz; or for ever, if it is killed then."""
            return {path.name.split(".pb")[0] for path in host.folder.glob("guestprof.*")}

        most, last = 0, f"guestprof.host.{host.pid}.5"
        deadline = time.monotonic() + 25
        while last not in there():
            most = max(most, len(there()))
            expect(time.monotonic() < deadline, f"no {last}: {there()}")
            time.sleep(0.02)  # between two looks
        err = host.end()
        expect(most <= 3 and len(there()) <= 3, f"{most} files at a time, {there()} at the end")
        files = sorted(path for path in host.folder.glob("guestprof.*") if path.suffix != ".tmp")
        # Between two: the next begins with its first samples.
        expect(len(there()) >= 2, f"{there()}")
        for file in files:
            profile = pprof.read(file)
            expect(profile.total() > 0 and profile.duration_ns < 5e9, f"{file.name}: {profile.total()}")
            if PPROF.exists():
                run = Run([str(PPROF), "-symbolize=none", "-top", str(file)])
                expect(run.status == 0 and "inner" in run.stdout, f"{file.name}: {run.stderr}")
        expect(err == "", err)


@test("rotation is off under record -o", beside=True)
def rotation_off():
    with harness.folder() as path:
        run = harness.run_recorded(busy(threads=1, cpu_ms=1500), path / "one.pb.gz", hz=500,
                                   env=environment(GUESTPROF_ROTATE="1s,64M,3", XDG_RUNTIME_DIR=str(path)))
        # Nor is there a socket, or a place for one, that nobody has asked for.
        expect([p.name for p in path.iterdir()] == ["one.pb.gz"], f"{list(path.iterdir())}: {run.stderr}")


@test("top: a line a group, again and again", beside=True)
def top():
    with live.live(GUESTPROF_HZ="1000") as host:
        wait_for(lambda: host.status()["samples"] > 500)
        run = host.run("top", "-n", "3")
        expect(run.status == 0, run.stderr)
        rows = [line for line in run.stdout.splitlines() if "split@" in line]
        expect(len(rows) == 3, run.stdout)
        expect(all(re.search(r"100\.0 % +\d+ samples \w+$", row) for row in rows), run.stdout)
        expect(any(row.endswith(" inner") for row in rows), run.stdout)
        cores = float(re.search(r"([\d.]+) cores", rows[-1]).group(1))
        expect(0.05 < cores < 2.6, f"{cores} cores")


@contextlib.contextmanager
def top_on_terminal(host, frames, **env):
    """`top` on a terminal of 16 lines, once it has drawn so many pages; and how long that took."""
    started = time.monotonic()
    terminal = live.Terminal([GUESTPROF, "top", host.socket], 16, 80, **env)
    try:
        terminal.read_until(lambda text: text.count("\033[J") >= frames)
        yield terminal, time.monotonic() - started
    finally:
        terminal.end()


@test("top on a terminal: drawn in place, as large as that, until ^C", beside=True)
def top_terminal():
    with live.live(GUESTPROF_HZ="1000") as host:
        with top_on_terminal(host, 4) as (terminal, seconds):
            expect(seconds > 2.9, f"four pages, a second apart, within {seconds:.1f} s")
            status = terminal.interrupt()
        first, *pages = terminal.output.split("\033[H")
        expect(status == 0, f"status {status}")
        expect(first.startswith("\033[?7l") and terminal.output.endswith("\033[?7h"), f"lines wrap: {terminal.output!r}")
        for page in pages:
            lines = page.split("\033[J")[0].split("\r\n")
            # The last newline is followed by nothing: the sixteenth line.
            expect(len(lines) <= 16 and lines[-1] == "" and all(line.endswith("\033[K") for line in lines[:-1]), f"{lines}")
            expect("split@" in page and "\033[1mGROUP" in page and " samples in " in lines[0], f"{page!r}")
        # A process that is stopped must not keep it from ending; and NO_COLOR.
        with top_on_terminal(host, 1, NO_COLOR="1") as (terminal, _):
            host.process.send_signal(signal.SIGSTOP)
            status = terminal.interrupt()
            host.process.send_signal(signal.SIGCONT)
        expect(status == 0 and "GROUP" in terminal.output, f"status {status}: {terminal.output!r}")
        expect("\033[1m" not in terminal.output and "\033[0m" not in terminal.output, f"colours: {terminal.output!r}")


@test("top of what does not record, or not any more", beside=True)
def top_ends():
    with live.live(GUESTPROF_START="0", GUESTPROF_HZ="500") as host:
        run = host.run("top", "-n", "1")
        expect(run.status == 3 and "guestprof start" in run.stderr, f"{run.status}: {run.stderr}")
        expect(host.run("start").status == 0, "start")
        with top_on_terminal(host, 1) as (terminal, _):
            expect(host.run("stop").status == 0, "stop")
            terminal.read_until(None)
            status = terminal.process.wait(timeout=10)
        expect(status == 0 and "does not record any more" in terminal.output, f"{status}: {terminal.output[-300:]!r}")


@test("record -p: start, wait, stop, dump", beside=True)
def record_running():
    with live.live([str(PYTHON), str(ROOT / "tests/host/app.py"), "30"], GUESTPROF_START="0") as host:
        run = Run([str(GUESTPROF), "record", "-p", str(host.pid), "-d", "2", "-F", "1000", "-o", "two.pb.gz"],
                  cwd=host.folder)
        expect(run.status == 0 and "next: guestprof report " in run.stderr, f"{run.status}: {run.stderr}")
        profile = pprof.read(host.folder / "two.pb.gz")
        expect(profile.total() > 100, f"{profile.total()} samples")
        expect(host.status()["state"] == "rests", "it was not stopped")
        expect(host.run("start", "--hz", "1000").status == 0, "start")
        run = Run([str(GUESTPROF), "record", "-p", str(host.pid), "-d", "2", "-o", "other.pb.gz"], cwd=host.folder)
        expect(run.status == 0 and "records already" in run.stderr, f"{run.status}: {run.stderr}")
        expect(pprof.read(host.folder / "other.pb.gz").total() > 100, "hardly any samples")
        expect(host.status()["state"] == "runs", "the other's recording was stopped")
        expect(host.run("stop").status == 0 and host.run("start", "--duration", "1").status == 0, "start --duration")
        wait_for(lambda: host.status()["state"] == "rests")


if __name__ == "__main__":
    sys.exit(harness.main())
