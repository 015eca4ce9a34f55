# SPDX-License-Identifier: MIT
"""live.py - hosts that run while a test talks to them."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time

import harness
import pprof
import schema
from harness import GUESTPROF, LIBRARY, NEWEST, PYTHON, ROOT, Run, environment, expect, host


class Live:
    """A host that runs, preloaded, in FOLDER with its socket there."""

    def __init__(self, folder, command, stdin=subprocess.DEVNULL, **env):
        self.folder = folder
        self.socket = folder / "control.sock"
        # harness.environment() drops LD_PRELOAD of ours, not of the host's.
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(LD_PRELOAD=str(LIBRARY), **{"GUESTPROF_CONTROL": str(self.socket), **env}),
            start_new_session=True)
        self.pid = self.process.pid

    def wait_for_socket(self):
        wait_for(lambda: self.socket.exists() or self.process.poll() is not None)
        expect(self.process.poll() is None, f"the host has ended: {self.process.returncode}")
        return self

    def run(self, *words, **options):
        """guestprof WORDS on it."""
        return Run([str(GUESTPROF), *map(str, words), str(self.socket)], cwd=self.folder, **options)

    def status(self):
        run = self.run("status", "--json")
        expect(run.status == 0, f"status: {run.status}: {run.stderr}")
        return schema.check(run.stdout, "status")["processes"][0]

    def ask(self, line, timeout=40):
        """The reply to LINE, and the bytes behind it, over a connection of its own."""
        with contextlib.closing(self.connect(timeout)) as client:
            # Who may not ask is turned away at once, perhaps before the line is sent.
            with contextlib.suppress(BrokenPipeError):
                client.sendall(line)
            with client.makefile("rb") as stream:
                reply = stream.readline().decode()
                size = re.search(r" bytes=(\d+)", reply)
                return reply, stream.read(int(size.group(1))) if size else b""

    def connect(self, timeout=40):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(timeout)
        client.connect(str(self.socket))
        return client

    def our_tid(self):
        """The thread id of our thread in the host."""
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{tid}/comm") as comm:
                if comm.read() == "guestprof\n":
                    return int(tid)
        raise harness.Failure("no thread of ours in the host")

    def task_number(self, tid, label):
        with open(f"/proc/{self.pid}/task/{tid}/status") as status:
            return int(re.search(rf"^{label}:\s+(\w+)", status.read(), re.M).group(1))

    def timers(self):
        with open(f"/proc/{self.pid}/timers") as timers:
            return timers.read()

    def end(self, number=signal.SIGTERM):
        """Ends it; its stderr."""
        self.process.send_signal(number)
        try:
            _, err = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, err = self.process.communicate()
            raise harness.Failure("the host does not end") from None
        return err.decode(errors="replace")


def busy(threads=2, cpu_ms=60000):
    return host(NEWEST, "split.wasm", "run", f"threads={threads}", f"cpu_ms={cpu_ms}")


@contextlib.contextmanager
def live(command=None, stdin=subprocess.DEVNULL, **env):
    with harness.folder() as folder:
        host_there = Live(folder, command or busy(), stdin, **env)
        try:
            yield host_there.wait_for_socket()
        finally:
            if host_there.process.poll() is None:
                host_there.process.kill()
                host_there.process.communicate()


def guestprof(*words, **options):
    return Run([str(GUESTPROF), *map(str, words)], **options)


def dumped(host_there, *words):
    """What `guestprof dump WORDS` gives."""
    run = host_there.run("dump", "-o", "-", *words)
    expect(run.status == 0, run.stderr)
    return pprof.Profile(run.output)


class OnDemand:
    """tests/host/demand.py, which calls its guest when told to; with .host, a Live."""

    def __init__(self, host_there):
        self.host = host_there
        self.expect("ready")

    def expect(self, line):
        found = self.host.process.stdout.readline().decode().strip()
        expect(found == line, f"the host says {found!r}, not {line!r}")

    def calls(self, count):
        """COUNT calls of env.note: they are over."""
        self.host.process.stdin.write(f"{count}\n".encode())
        self.host.process.stdin.flush()
        self.expect(str(count))


@contextlib.contextmanager
def on_demand(**env):
    with live([str(PYTHON), str(ROOT / "tests/host/demand.py")], subprocess.PIPE, **env) as host_there:
        yield OnDemand(host_there)


class Terminal:
    """COMMAND on a pseudo terminal of its own, ROWS x COLUMNS."""

    def __init__(self, command, rows, columns, **env):
        self.fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # setsid: ^C is for those whose controlling terminal it is.
        self.process = subprocess.Popen(["setsid", "-c", *map(str, command)], stdin=inner, stdout=inner, stderr=inner,
                                        env=environment(TERM="xterm", **env))
        os.close(inner)
        self.output = ""

    def read_until(self, condition, seconds=60):
        """Reads until CONDITION(output); or, with none, until the program has closed the terminal."""
        deadline = time.monotonic() + seconds
        while condition is None or not condition(self.output):
            expect(time.monotonic() < deadline, f"not within {seconds} s: {self.output[-500:]!r}")
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            try:
                self.output += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:  # EIO: nobody has it open any more
                expect(condition is None, f"it has ended: {self.output[-500:]!r}")
                return

    def interrupt(self, seconds=15):
        """^C, and what it is about to say; its status. Less than a command waits for an answer."""
        os.write(self.fd, b"\x03")
        self.read_until(None, seconds)
        return self.process.wait(timeout=seconds)

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


def wait_for(condition, seconds=60, what="what is waited for"):
    deadline = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < deadline, f"{what}: not within {seconds} s")
        time.sleep(0.01)  # between two looks


def cycles(count):
    """COUNT times start and stop at 1 kHz over four threads: nothing is left over."""
    with live(busy(threads=4, cpu_ms=600000), GUESTPROF_START="0", GUESTPROF_ROTATE="0,0,3") as host_there:
        def once():
            reply, _ = host_there.ask(b"guestprof/1 start hz=1000\n")
            expect(reply.startswith("guestprof/1 ok"), reply)
            time.sleep(0.02)  # a session of some length
            reply, _ = host_there.ask(b"guestprof/1 stop\n")
            expect(reply.startswith("guestprof/1 ok"), reply)

        def descriptors():
            return len(os.listdir(f"/proc/{host_there.pid}/task/{host_there.our_tid()}/fd"))

        def held():
            return descriptors(), host_there.timers().count("ID:"), host_there.task_number(host_there.pid, "VmRSS") // 1024

        for _ in range(20):
            once()
        before = held()
        for _ in range(count):
            once()
        # The host sees a moment later that its last client has gone.
        with contextlib.suppress(harness.Failure):
            wait_for(lambda: descriptors() <= before[0], seconds=5)
        after = held()
        harness.say(f"# descriptors, timers, MiB: {before} then {after}")
        expect(after[0] <= before[0] and after[1] == 0, f"left over: {before} then {after}")
        expect(after[2] <= before[2] + 8, f"memory grows: {before} then {after}")
        files = sorted(host_there.folder.glob("guestprof.*"))
        expect(len(files) <= 3, f"{len(files)} files are kept, not 3")
        # And it still samples.
        run = host_there.run("start", "--hz", "1000")
        expect(run.status == 0, run.stderr)
        wait_for(lambda: host_there.status()["samples"] > 200)
        host_there.end(signal.SIGTERM)
        expect(host_there.process.returncode == -signal.SIGTERM, f"status {host_there.process.returncode}")
