#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sockets.py - the control socket: where it is, who may ask, who is found, and what becomes of nonsense."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import pprof
import schema
from harness import GUESTPROF, LIBRARY, PYTHON, ROOT, Skip, environment, expect, test
from live import busy, guestprof, wait_for

NOBODY = 65534
SIDECAR = 54321  # a group that exists nowhere


@test("a second start is told of the first; clients side by side", beside=True)
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
        wait_for(lambda: host.status()["samples"] > 0)
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
    # The usual place is its user's alone, so that a group needs another.
    with harness.folder() as path:
        sleeper = Sleeper(path, GUESTPROF_CONTROL="1", GUESTPROF_CONTROL_GID=str(SIDECAR), XDG_RUNTIME_DIR=str(path))
        err = sleeper.end()
        expect("GUESTPROF_CONTROL must name a directory" in err and err.count("\n") == 1, err)
    with live.live(GUESTPROF_START="0", GUESTPROF_CONTROL_GID=str(SIDECAR)) as host:
        facts = os.stat(host.socket)
        expect(facts.st_mode & 0o7777 == 0o660 and facts.st_gid == SIDECAR, f"{facts}")
        os.chmod(host.folder, 0o711)
        expect(" ok " in ask_as(host, NOBODY, SIDECAR), "the group is refused")
        expect(" ok " in ask_as(host, NOBODY, NOBODY, [SIDECAR]), "the group is refused as a further one")
        expect(ask_as(host, NOBODY, NOBODY) == "OSError 13", "somebody else reaches the socket")


# A module is there, and nothing runs.
SLEEPER = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from wasmtime import Engine, Module
module = Module(Engine(), '(module (func (export "f")))')
print("there", flush=True)
time.sleep(60)
"""


class Sleeper:
    """SLEEPER, preloaded, with the settings of ENV."""

    def __init__(self, folder, **env):
        self.process = subprocess.Popen([str(PYTHON), "-c", SLEEPER], cwd=folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_START="0", **env))
        self.pid = self.process.pid
        self.process.stdout.readline()

    def end(self):
        """Its stderr."""
        self.process.kill()
        return self.process.communicate()[1]


# What XDG_RUNTIME_DIR (below the test's folder) is made to be, with its mode and owner; whether the socket is there.
RUNTIME_PLACES = {
    "private": (lambda path: path.mkdir(0o700), True),
    "absent": (lambda path: None, False),
    "a file": (lambda path: path.write_text(""), False),
    "for all": (lambda path: (path.mkdir(), path.chmod(0o777)), False),
    "another's": (lambda path: (path.mkdir(0o700), os.chown(path, NOBODY, NOBODY)), False),
    "led away": (lambda path: (path.mkdir(0o700), (path / "guestprof").symlink_to("/")), False),
}
# The same of the directory in TMPDIR; whether there is a socket at all.
TEMPORARY_PLACES = {
    "absent": (lambda path: None, True),
    "private": (lambda path: path.mkdir(0o700), True),
    "led away": (lambda path: (path.with_name("else").mkdir(0o700), path.symlink_to("else")), False),
    "open": (lambda path: (path.mkdir(), path.chmod(0o755)), False),
    "another's": (lambda path: (path.mkdir(0o700), os.chown(path, NOBODY, NOBODY)), False),
}


def start_at(folder, runtime, temporary):
    """A sleeper whose two usual places are as these rows say."""
    runtime(folder / "run")
    (folder / "tmp").mkdir()
    temporary(folder / "tmp" / f"guestprof-{os.geteuid()}")
    return Sleeper(folder, GUESTPROF_CONTROL="1", XDG_RUNTIME_DIR=str(folder / "run"), TMPDIR=str(folder / "tmp"))


def expect_place(folder, sleeper, directory, what):
    """The socket is in DIRECTORY, which is private, and the process is found by its pid."""
    socket = directory / f"{sleeper.pid}.sock"
    wait_for(socket.exists)
    expect(os.stat(socket).st_mode & 0o7777 == 0o600 and os.stat(directory).st_mode & 0o7777 == 0o700, what)
    run = guestprof("status", sleeper.pid)
    expect(run.status == 0 and f"[{sleeper.pid}]" in run.stdout, f"{what}: {run.status} {run.stderr}")
    run = guestprof("list", "--json", env=environment(XDG_RUNTIME_DIR=str(folder / "run"), TMPDIR=str(folder / "tmp")))
    sockets = {row["pid"]: row["socket"] for row in schema.check(run.stdout, "list")["processes"]}
    expect(sockets.get(sleeper.pid) == str(socket), f"{what}: {sockets}")


@test("the usual places of the socket: private, or none", beside=True)
def usual_places():
    if os.geteuid() != 0:
        raise Skip("only root can make another's directory")
    with contextlib.ExitStack() as stack:
        rows = []
        for name, (runtime, is_taken) in RUNTIME_PLACES.items():
            rows.append((f"runtime directory {name}", runtime, lambda path: None, "run" if is_taken else "tmp"))
        for name, (temporary, is_taken) in TEMPORARY_PLACES.items():
            rows.append((f"temporary directory {name}", lambda path: None, temporary, "tmp" if is_taken else None))
        started = []
        for what, runtime, temporary, where in rows:
            folder = stack.enter_context(harness.folder())
            sleeper = start_at(folder, runtime, temporary)
            stack.callback(sleeper.end)
            started.append((what, folder, sleeper, where))
        for what, folder, sleeper, where in started:
            if where == "run":
                expect_place(folder, sleeper, folder / "run/guestprof", what)
            elif where == "tmp":
                expect_place(folder, sleeper, folder / f"tmp/guestprof-{os.geteuid()}", what)
            else:
                run = guestprof("status", sleeper.pid)
                expect(run.status == 4 and len(run.stderr.splitlines()) == 1, f"{what}: {run.status} {run.stderr}")
                expect(not list(folder.glob("**/*.sock")), f"{what}: {list(folder.glob('**/*.sock'))}")
                err = sleeper.end()
                expect(err.count("\n") == 1 and "no control socket" in err, f"{what}: {err}")


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
            run = guestprof("start", "--hz", "1000", "--dir", host.folder)
            expect(run.status == 0 and "records at 1000 Hz" in run.stderr, f"{run.status}: {run.stderr}")
            wait_for(lambda: host.status()["samples"] > 0)
            for words in ((host.pid,), ("--dir", host.folder)):
                run = guestprof("dump", "-o", "-", *words)
                expect(run.status == 0 and pprof.Profile(run.output).total() > 0, f"dump {words}: {run.status} {run.stderr}")
            expect(guestprof("stop", host.pid).status == 0 and host.status()["state"] == "rests", "stop by pid")
        finally:
            other.kill()


@test("two processes that name one socket are told apart")
def shared_name():
    with harness.folder() as path, contextlib.ExitStack() as stack:
        first, second = (Sleeper(path, GUESTPROF_CONTROL=f"{path}/one.sock") for _ in range(2))
        for sleeper in (first, second):
            stack.callback(sleeper.end)
        wait_for(lambda: guestprof("status", path / "one.sock").status == 0)
        pid = int(re.search(r"\[(\d+)\]", guestprof("status", path / "one.sock").stdout).group(1))
        other = first.pid + second.pid - pid
        expect(pid in (first.pid, second.pid), f"{pid}")
        expect(guestprof("status", pid).status == 0, "its own pid does not reach it")
        run = guestprof("start", other)
        expect(run.status == 4 and "is another's" in run.stderr, f"{run.status}: {run.stderr}")
        expect("rests" in guestprof("status", pid).stdout, "the wrong one was started")
        rows = {row["pid"]: (row["state"], row["socket"])
                for row in schema.check(guestprof("list", "--json").stdout, "list")["processes"]}
        expect(rows[pid] == ("rests", f"{path}/one.sock") and rows[other] == (None, None), f"{rows}")


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


@test("a stale socket is replaced, another's is not", beside=True)
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
