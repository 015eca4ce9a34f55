#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""control.py - live control: a real host is asked, started, stopped, dumped while it runs."""

import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import live
import pprof
import schema
from harness import (GUESTPROF, LIBRARY, PPROF, PYTHON, ROOT, Run, Skip, environment, expect, expect_shares,
                     same_as_without, test)
from live import busy, wait_for

NOBODY = 65534
SIDECAR = 54321  # a group that exists nowhere

test("{} starts and stops leave nothing over", 200)(live.cycles)


def guestprof(*words, **options):
    return Run([str(GUESTPROF), *map(str, words)], **options)


def read(data):
    with harness.folder() as path:
        (path / "some.pb").write_bytes(data)
        return pprof.read(path / "some.pb")


def expect_split(profile, least):
    expect(profile.total() >= least, f"{profile.total()} samples, not {least}")
    counts = {}
    for sample in profile.samples:
        chain = pprof.guest_chain(sample)
        if chain:
            counts[chain[-1].split(".")[-1]] = counts.get(chain[-1].split(".")[-1], 0) + sample.count
    expect_shares(counts, guests.SPLIT_SHARES, slack=0.02)


@test("paused: one thread sleeps, until start")
def paused():
    with live.live(GUESTPROF_START="0") as host:
        tid = host.our_tid()

        def switches():
            return [host.task_number(tid, f"{kind}_ctxt_switches") for kind in ("voluntary", "nonvoluntary")]

        wait_for(lambda: host.task_number(host.pid, "Threads") >= 3)
        time.sleep(0.3)  # what the load announced has been taken in
        before = switches()
        time.sleep(3)  # the property is of a time: nothing happens in it
        expect(switches() == before, f"our thread woke: {before} then {switches()}")
        expect(host.timers() == "", f"timers: {host.timers()}")
        caught = int(re.search(r"^SigCgt:\s+(\w+)", open(f"/proc/{host.pid}/status").read(), re.M).group(1), 16)
        expect(not caught >> (signal.SIGPROF - 1) & 1, "the signal is taken already")
        expect(not list(host.folder.glob("guestprof.*")), "a file is there already")
        status = host.status()
        expect(status["state"] == "rests" and status["has_guest"] and status["by"] is None, f"{status}")
        run = host.run("start", "--hz", "1000", "--stacks", "guest")
        expect(run.status == 0 and "records at 1000 Hz" in run.stderr, f"{run.status}: {run.stderr}")
        wait_for(lambda: host.status()["samples"] > 1500)
        run = host.run("dump", "-o", "part.pb.gz")
        expect(run.status == 0, run.stderr)
        profile = pprof.read(host.folder / "part.pb.gz")
        expect_split(profile, 1500)
        run = host.run("stop")
        expect(run.status == 0 and ".pb.gz" in run.stderr, f"{run.status}: {run.stderr}")
        time.sleep(0.3)  # until the command's end of the connection has been seen
        before = switches()
        time.sleep(1)  # as above
        expect(switches() == before, f"our thread does not rest after stop: {before} then {switches()}")
        expect(host.timers() == "", f"timers after stop: {host.timers()}")
        # What was stopped can still be had.
        run = host.run("dump", "-o", "whole.pb.gz")
        expect(run.status == 0, run.stderr)
        whole = pprof.read(host.folder / "whole.pb.gz")
        expect(whole.total() >= profile.total(), "the whole is less than its part")
        expect(host.run("stop").status == 0, "stopping twice is an error")


@test("the host's result is the same")
def same_result():
    command = busy(cpu_ms=1500)
    plain = Run(harness.brief(command))
    with live.live(command, GUESTPROF_START="0") as host:
        expect(host.run("start", "--hz", "1000", "--duration", "1").status == 0, "start")
        wait_for(lambda: host.status()["state"] == "rests")
        output = host.status()["output"]
        out, err = host.process.communicate(timeout=60)
        expect(pprof.read(output).total() > 50, "hardly any samples in a second")
        expect(host.process.returncode == 0, f"status {host.process.returncode}: {err}")
        expect(sorted(out.decode().splitlines()) == sorted(plain.stdout.splitlines()),
               f"{out.decode()!r}, without guestprof {plain.stdout!r}")
        expect(err == b"", f"{err}")
        expect(not host.socket.exists(), "the socket is left")


@test("a second start is told of the first; clients side by side")
def two_clients():
    with live.live(GUESTPROF_START="0") as host:
        silent = [host.connect() for _ in range(3)]
        half = host.connect()
        half.sendall(b"guestprof/1 sta")
        expect(host.run("start", "--hz", "250").status == 0, "start beside silent clients")
        run = host.run("start")
        expect(run.status == 2, f"status {run.status}")
        expect(re.search(r"records already, since \d{4}-.* UTC, started by guestprof\[\d+\] of user \d+", run.stderr),
               run.stderr)
        asking = [subprocess.Popen([str(GUESTPROF), "dump", "--last", "5s", "-o", f"dump.{i}.pb", str(host.socket)],
                                   cwd=host.folder, env=environment(), stderr=subprocess.PIPE) for i in range(2)]
        for process in asking:
            _, err = process.communicate(timeout=30)
            expect(process.returncode == 0, f"{err}")
        half.sendall(b"tus\n")
        expect(half.recv(100).startswith(b"guestprof/1 ok pid="), "the line that came in two pieces")
        many = [host.connect() for _ in range(8)]
        wait_for(lambda: any(b"busy" in c.recv(1000) for c in many[-1:]))
        for client in silent + many + [half]:
            client.close()
        wait_for(lambda: host.run("status").status == 0)


@test("hostile lines are answered, or dropped")
def hostile():
    with live.live(GUESTPROF_START="0") as host:
        for line in (b"\n", b"GET / HTTP/1.1\r\n\r\n", b"guestprof/2 status\n", b"guestprof/1 start hz=0\n",
                     b"guestprof/1 start hz=99999999999999999999\n", b"guestprof/1 dump last_ns=-1\n",
                     b"guestprof/1 start stacks=%00\n", b"\0" * 511 + b"\n", b"x" * 512,
                     b"guestprof/1 " + b"a=b " * 100 + b"\n"):
            reply, _ = host.ask(line)
            expect(reply.startswith("guestprof/1 error what=bad_request"), f"{line[:40]}: {reply}")
        expect("version=1" in host.ask(b"guestprof/2 status\n")[0], "the version is not told")
        for junk in (b"", b"guestprof/1 status", os.urandom(400)):
            client = host.connect()
            client.sendall(junk)
            client.close()
        expect(host.status()["state"] == "rests", "it does not answer any more")


def ask_as(host, uid, gid, groups=()):
    """The reply that another user gets; "" when not even connected."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(list(groups))
            os.setgid(gid)
            os.setuid(uid)
            reply, _ = host.ask(b"guestprof/1 status\n")
            os.write(writer, reply.encode())
        except OSError as error:
            os.write(writer, f"OSError {error.errno}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        reply = stream.read()
    os.waitpid(child, 0)
    return reply


@test("other users are refused, a sidecar's group is not")
def peers():
    if os.geteuid() != 0:
        raise Skip("only root can be somebody else")
    with live.live(GUESTPROF_START="0") as host:
        expect(os.stat(host.socket).st_mode & 0o7777 == 0o600, "mode of the socket")
        os.chmod(host.folder, 0o711)
        expect(ask_as(host, NOBODY, NOBODY) == "OSError 13", "another user reaches the socket")
        os.chmod(host.socket, 0o666)
        expect("what=denied" in ask_as(host, NOBODY, NOBODY), "the peer is not checked")
        expect(" ok " in ask_as(host, 0, 0), "root is refused")
    with live.live(GUESTPROF_START="0", GUESTPROF_CONTROL_GID=str(SIDECAR)) as host:
        facts = os.stat(host.socket)
        expect(facts.st_mode & 0o7777 == 0o660 and facts.st_gid == SIDECAR, f"{facts}")
        os.chmod(host.folder, 0o711)
        expect(" ok " in ask_as(host, NOBODY, SIDECAR), "the group is refused")
        expect(" ok " in ask_as(host, NOBODY, NOBODY, [SIDECAR]), "the group is refused as a further one")
        expect(ask_as(host, NOBODY, NOBODY) == "OSError 13", "somebody else reaches the socket")


@test("list: with a socket and without, and in a directory")
def listing():
    plain = [str(PYTHON), "-c", "import time; print('there', flush=True); time.sleep(60)"]
    with live.live(GUESTPROF_START="0") as host, \
            subprocess.Popen(plain, env=environment(LD_PRELOAD=str(LIBRARY)), stdout=subprocess.PIPE) as other:
        try:
            other.stdout.readline()
            rows = {row["pid"]: row for row in schema.check(guestprof("list", "--json").stdout, "list")["processes"]}
            expect(rows[host.pid]["state"] == "rests" and rows[host.pid]["socket"], f"{rows.get(host.pid)}")
            expect(rows[other.pid]["state"] is None and rows[other.pid]["socket"] is None, f"{rows.get(other.pid)}")
            table = guestprof("list").stdout
            expect(re.search(rf"^ *{host.pid} host .*rests", table, re.M), table)
            expect(re.search(rf"^ *{other.pid} python3\S* +no socket", table, re.M), table)
            run = guestprof("status", other.pid)
            expect(run.status == 4 and "LD_PRELOAD" in run.stderr, f"{run.status}: {run.stderr}")
            run = guestprof("status", "--dir", host.folder)
            expect(run.status == 0 and f"[{host.pid}]" in run.stdout, f"{run.status}: {run.stdout}")
            run = guestprof("status", host.pid)
            expect(run.status == 0 and f"[{host.pid}]  rests" in run.stdout, f"{run.status}: {run.stdout}")
        finally:
            other.kill()


@test("unreachable: 4 and one line")
def unreachable():
    with harness.folder() as path, subprocess.Popen(["sleep", "60"], env=environment()) as sleeper:
        try:
            for words in (["status", sleeper.pid], ["start", sleeper.pid], ["top", sleeper.pid], ["stop", 2 ** 22 + 1],
                          ["dump", path / "absent.sock"], ["record", "-p", sleeper.pid, "-d", "1"]):
                run = guestprof(*words, cwd=path)
                expect(run.status == 4, f"{words}: status {run.status}: {run.stderr}")
                expect(len(run.stderr.splitlines()) == 1 and run.stderr.startswith("guestprof"), run.stderr)
            expect("LD_PRELOAD" in guestprof("record", "-p", sleeper.pid, "-d", "1").stderr, "how to preload")
            for words in (["start", "--hz", "x"], ["start", "--duration", "0"], ["record", "-p", 1], ["status", "x"],
                          ["record", "-d", "5", "--", "true"], ["top", "-n", "0"]):
                run = guestprof(*words, cwd=path)
                expect(run.status in (2, 125), f"{words}: status {run.status}: {run.stderr}")
        finally:
            sleeper.kill()


@test("memory only, and the last seconds of it")
def memory_only():
    with live.live(GUESTPROF_OUTPUT="none", GUESTPROF_HZ="1000") as host:
        wait_for(lambda: host.status()["samples"] > 2500 and host.status()["kept_ns"] > 6e9, seconds=60)
        data = {}
        for last in ("2s", "60s"):
            run = host.run("dump", "--last", last, "-o", "-")
            expect(run.status == 0, run.stderr)
            data[last] = run.output
        short, long = read(data["2s"]), read(data["60s"])
        expect_split(long, 2000)
        expect_split(short, 100)
        expect(short.total() < 0.8 * long.total(), f"{short.total()} in 2 s, {long.total()} in all")
        expect("are all that is kept" in run.stderr, run.stderr)
        expect(1.9e9 <= short.duration_ns <= 4.5e9, f"{short.duration_ns} ns")
        expect_instances = {s.labels.get("wasm_instance") for s in short.samples}
        expect(None not in expect_instances, f"{expect_instances}")
        names = {path.name for path in host.folder.iterdir()}
        expect(names == {"control.sock"}, f"files: {names}")
        if PPROF.exists():
            (host.folder / "short.pb").write_bytes(data["2s"])
            run = Run([str(PPROF), "-symbolize=none", "-top", str(host.folder / "short.pb")])
            expect(run.status == 0 and "inner" in run.stdout, run.stderr)


@test("rotation keeps so many files, each whole")
def rotation():
    with live.live(GUESTPROF_ROTATE="1s,64M,3", GUESTPROF_HZ="1000") as host:
        most, last = 0, host.folder / f"guestprof.host.{host.pid}.6.pb"
        deadline = time.monotonic() + 25
        while not list(host.folder.glob(last.name + "*")):
            most = max(most, len(list(host.folder.glob("guestprof.*"))))
            expect(time.monotonic() < deadline, f"no {last.name}: {list(host.folder.iterdir())}")
            time.sleep(0.02)  # between two looks
        err = host.end()
        files = sorted(host.folder.glob("guestprof.*"))
        expect(most <= 3 and len(files) <= 3, f"{most} files at a time, {files} at the end")
        # Between two: the next begins with its first samples.
        expect(len(files) >= 2, f"{files}")
        for file in files:
            profile = pprof.read(file)
            expect(profile.total() > 0 and profile.duration_ns < 5e9, f"{file.name}: {profile.total()}")
            if PPROF.exists():
                run = Run([str(PPROF), "-symbolize=none", "-top", str(file)])
                expect(run.status == 0 and "inner" in run.stdout, f"{file.name}: {run.stderr}")
        expect(err == "", err)


@test("rotation is off under record -o")
def rotation_off():
    with harness.folder() as path:
        run = harness.run_recorded(busy(threads=1, cpu_ms=2500), path / "one.pb.gz", hz=500,
                                   env=environment(GUESTPROF_ROTATE="1s,64M,3"))
        expect([p.name for p in path.iterdir()] == ["one.pb.gz"], f"{list(path.iterdir())}: {run.stderr}")


@test("top: a line a group, again and again")
def top():
    with live.live(GUESTPROF_HZ="1000") as host:
        wait_for(lambda: host.status()["samples"] > 500)
        run = host.run("top", "-n", "3")
        expect(run.status == 0, run.stderr)
        rows = [line for line in run.stdout.splitlines() if "split@" in line]
        expect(len(rows) == 3, run.stdout)
        expect(all(re.search(r"100\.0 % +\d+ samples inner$", row) for row in rows), run.stdout)
        cores = float(re.search(r"([\d.]+) cores", rows[-1]).group(1))
        expect(0.05 < cores < 2.6, f"{cores} cores")


@test("record -p: start, wait, stop, dump")
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


@test("a stale socket is replaced, another's is not")
def stale():
    with live.live(GUESTPROF_START="0") as host:
        second = live.Live(host.folder, busy(threads=1, cpu_ms=300), GUESTPROF_START="0")
        _, err = second.process.communicate(timeout=60)
        expect(second.process.returncode == 0 and err == b"", f"{second.process.returncode}: {err}")
        expect(host.status()["pid"] == host.pid, "the socket is not the first one's any more")
        host.end(signal.SIGKILL)
        expect(host.socket.exists(), "killed, and no file left")
        third = live.Live(host.folder, busy(), GUESTPROF_START="0")
        try:
            wait_for(lambda: host.run("status").status == 0)
            expect(host.status()["pid"] == third.pid, "not the new one's")
        finally:
            third.end()
        # What is no socket stays, and the host goes on.
        host.socket.unlink(missing_ok=True)
        host.socket.write_text("mine")
        fourth = live.Live(host.folder, busy(threads=1, cpu_ms=200), GUESTPROF_LOG="info")
        _, err = fourth.process.communicate(timeout=60)
        expect(fourth.process.returncode == 0 and host.socket.read_text() == "mine", f"{err}")


FORKS = """
import os, sys, time
sys.path.insert(0, {root!r})
from wasmtime import Engine, Module
module = Module(Engine(), "(module (func (export \\"f\\")))")
child = os.fork()
print(child, flush=True) if child else None
time.sleep(60)
"""


@test("a child has a socket of its own")
def forked():
    with harness.folder() as path:
        with subprocess.Popen([str(PYTHON), "-c", FORKS.format(root=str(ROOT))], cwd=path, stdout=subprocess.PIPE,
                              env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_START="0",
                                              GUESTPROF_CONTROL=f"{path}/")) as parent:
            child = int(parent.stdout.readline())
            try:
                wait_for(lambda: len(list(path.glob("*.sock"))) == 2)
                for pid in (parent.pid, child):
                    run = guestprof("status", "--json", path / f"{pid}.sock")
                    expect(run.status == 0, run.stderr)
                    expect(json.loads(run.stdout)["processes"][0]["pid"] == pid, run.stdout)
            finally:
                os.kill(child, signal.SIGKILL)
                parent.kill()


if __name__ == "__main__":
    sys.exit(harness.main())
