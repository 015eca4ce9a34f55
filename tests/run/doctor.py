#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor.py - what guestprof doctor says beforehand, beside what is so."""

import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import schema
from harness import (ENGINES, GUESTPROF, HOSTS, LIBRARY, NEWEST, PYTHON, ROOT, Run, Skip, environment, expect, folder,
                     host, test)

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

# Prints its own mappings: whether the library is among them is what the doctor foretells.
PROGRAM = """#include <stdio.h>
int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c;

	while (maps != NULL && (c = getc(maps)) != EOF)
		putchar(c);
	return 0;
}
"""


class Answer:
    """What the doctor says: .status, .checks (JSON), .text."""

    def __init__(self, *words, before=(), cwd=None, env=None):
        command = [*before, str(GUESTPROF), "doctor"]
        words = list(map(str, words))
        run = Run([*command, "--json", *words], cwd=cwd, env=env, timeout=20)
        self.status, self.stderr = run.status, run.stderr
        self.whole = schema.check(run.stdout, "doctor")
        self.checks, self.engines = self.whole["checks"], self.whole["engines"]
        text = Run([*command, *words], cwd=cwd, env=env, timeout=20)
        expect(text.status == run.status, f"status {text.status}, with --json {run.status}")
        self.text = text.stdout
        expect({"ok": 0, "limit": 1, "no": 3}[self.whole["verdict"]] == run.status,
               f"status {run.status} and {self.whole['verdict']}")
        for line in self.text.splitlines():
            expect(len(line) <= 100 or " " not in line.strip(), f"a long line: {line}")

    def expect(self, verdict, what, why):
        """A row about WHAT with WHY in it; and in the text, whatever its lines."""
        expect(any(row["verdict"] == verdict and row["what"] == what and why in row["why"] for row in self.checks),
               f"no row `{verdict} {what} {why}`: {json.dumps(self.checks)}")
        expect(why in " ".join(self.text.split()), f"not in the text: {why}: {self.text}")
        return self

    def expect_status(self, status):
        worse = [row for row in self.checks if row["verdict"] != "ok"]
        expect(self.status == status, f"status {self.status}, not {status}: {worse} {self.stderr}")
        return self


def ask(*words, **options):
    return Answer("--", *words, **options)


def build(path, *compiler):
    (path / "program.c").write_text(PROGRAM)
    if not shutil.which(compiler[0]):
        raise Skip(f"no {compiler[0]}: scripts/setup test")
    made = Run([*compiler, "-o", str(path / "program"), str(path / "program.c")])
    expect(made.status == 0, made.stderr)
    return path / "program"


def takes_the_library(program, before=()):
    run = Run([*before, "env", f"LD_PRELOAD={LIBRARY}", str(program)])
    return "libguestprof" in run.stdout


def expect_kind(program, status, verdict, what, why, before=()):
    answer = ask(program, before=before).expect(verdict, what, why).expect_status(status)
    taken = takes_the_library(program, before)
    expect(taken == (status != 3), f"status {status}, and the library is {'' if taken else 'not '}in it")
    return answer


@test("doctor: dynamic, static and musl programs")
def kinds():
    with folder() as path:
        # There is no engine in it, so it cannot be all well.
        expect_kind(build(path, "gcc"), 1, "limit", "engine", "none in the program")
        expect_kind(build(path, "gcc", "-static"), 3, "no", "program", "statically linked")
        expect_kind(build(path, "musl-gcc"), 3, "no", "program", "musl")


@test("doctor: setuid and setcap programs")
def privileges():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with folder() as path:
        os.chmod(path, 0o755)
        program = build(path, "gcc")
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        expect_kind(program, 3, "no", "privileges", "is setuid")
        # It changes nobody's user to nobody.
        expect_kind(program, 1, "ok", "privileges", "not for this one", before=NOBODY)
        os.chown(program, 0, 0)
        program.chmod(0o755)
        if Run(["setcap", "cap_net_raw+ep", str(program)]).status != 0:
            raise Skip("no setcap, or no file capabilities here")
        expect_kind(program, 3, "no", "privileges", "has file capabilities", before=NOBODY)
        expect_kind(program, 1, "ok", "privileges", "not for this one")


@test("doctor: a program for 32 bits, another machine, a cut one")
def foreign():
    with folder() as path:
        def header(bits, machine):
            file = path / "program"
            file.write_bytes(b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1)
                             + bytes(64))
            file.chmod(0o755)
            return file
        ask(header(1, 3)).expect("no", "program", "32-bit program").expect_status(3)
        ask(header(2, 183)).expect("no", "program", "is for aarch64").expect_status(3)
        whole = build(path, "gcc").read_bytes()
        (path / "program").write_bytes(whole[:200])
        ask(path / "program").expect("limit", "program", "outside the file").expect_status(1)


def program(pattern):
    found = sorted(ENGINES.glob(pattern))
    if not found:
        raise Skip(f"no {pattern} in {ENGINES}")
    return found[-1]


@test("doctor: engines inside static Rust programs")
def linked_in():
    split = HOSTS / "split.wasm"
    answer = ask(program("wasmtime-cli-*/wasmtime"), "run", split)
    answer.expect("ok", "engine", "wasmtime 49").expect("limit", "instances", "not told apart").expect_status(1)
    answer.expect("ok", "guest", "6 of them named")
    expect([engine["seen_by"] for engine in answer.engines] == ["registration"], answer.engines)
    answer = ask(program("dprint-*/dprint"), "fmt").expect("ok", "engine", "wasmtime 43").expect_status(1)
    answer.expect("ok", "program", "stripped")
    expect([engine["seen_by"] for engine in answer.engines] == ["scan"], answer.engines)


@test("doctor: a host of the C API, and Python")
def by_calls():
    for version in harness.VERSIONS:
        command = host(version, "split.wasm", "run")
        answer = ask(*command).expect("ok", "engine", f"wasmtime {version}").expect_status(0)
        expect([engine["seen_by"] for engine in answer.engines] == ["calls"], answer.engines)
    ask(PYTHON, ROOT / "tests/host/app.py").expect("ok", "engine", "wasmtime 50").expect_status(0)


@test("doctor: what does not run the program")
def runs_nothing():
    with folder() as path:
        script = path / "script"
        script.write_text(f"#!/bin/sh\ntouch {path}/was-run\n")
        script.chmod(0o755)
        ask(script).expect("ok", "script", "/bin/sh runs").expect("limit", "wrapper", "other programs")
        ask(PYTHON, "-c", f"open({str(path / 'was-run')!r}, 'w')").expect_status(0)
        expect(sorted(p.name for p in path.iterdir()) == ["script"], list(path.iterdir()))


@test("doctor: guests that are stripped, or for the interpreter")
def guests():
    with folder() as path:
        stripped = path / "stripped.wasm"
        # One function, no names: types, functions, code.
        stripped.write_bytes(b"\0asm\1\0\0\0" + b"\1\4\1\x60\0\0" + b"\3\2\1\0" + b"\x0a\4\1\2\0\x0b")
        cli = program("wasmtime-cli-*/wasmtime")
        ask(cli, "run", stripped).expect("limit", "guest", "is stripped").expect_status(1)
        image = path / "pulley.cwasm"
        made = Run([str(cli), "compile", "--target", "pulley64", str(stripped), "-o", str(image)])
        if made.status != 0:
            raise Skip(f"this wasmtime has no pulley: {made.stderr[-100:]}")
        ask(cli, "run", image).expect("no", "guest", "interpreter").expect_status(3)
        # where its calls are seen, they tell whose time it is
        ask(*host(NEWEST, "split.wasm", "run"), image).expect("limit", "guest", "time of each instance").expect_status(1)
        made = Run([str(cli), "compile", str(stripped), "-o", str(image)])
        expect(made.status == 0, made.stderr)
        ask(cli, "run", image).expect("ok", "guest", "native code by wasmtime 49").expect_status(1)


@test("doctor: other preloads, settings, folders")
def surroundings():
    command = host(NEWEST, "split.wasm", "run")
    with folder() as path:
        (path / "bad.c").write_text("void __register_frame(void *p) { (void)p; }")
        made = Run(["gcc", "-shared", "-fPIC", "-o", str(path / "bad.so"), str(path / "bad.c")])
        expect(made.status == 0, made.stderr)
        ask(*command, env=environment(LD_PRELOAD=str(path / "bad.so"))).expect(
            "limit", "preloads", "frame registrations").expect_status(1)
        ask(*command, env=environment(GUESTPROF_HZ="fast")).expect("limit", "settings", "GUESTPROF_HZ")
        ask(*command, env=environment(GUESTPROF_OUTPUT=str(path / "none/x.pb"))).expect(
            "limit", "output", "the recording goes to").expect_status(1)
        ask("no-such-program").expect("no", "program", "not in PATH").expect_status(3)
        ask(*command, env=environment(GUESTPROF_LIB=str(path / "none.so"))).expect(
            "no", "library", "not found").expect_status(3)
        for content, why in (LIBRARY.read_bytes()[:5000], "does not start with it"), (b"text", "cannot be preloaded"):
            (path / "broken.so").write_bytes(content)
            ask(*command, env=environment(GUESTPROF_LIB=str(path / "broken.so"))).expect(
                "no", "library", why).expect_status(3)
        ask(*command, before=["env", "--block-signal=PROF"]).expect(
            "limit", "signals", "SIGPROF is blocked here").expect_status(1)
    for words in [], ["0"], ["1", "2"], ["--no-such-option"]:
        run = Run([str(GUESTPROF), "doctor", *words])
        expect(run.status == 2 and run.stderr.startswith("guestprof: doctor"), f"{words}: {run.status} {run.stderr}")


@test("doctor: a process that runs, with and without the library")
def process():
    with live.live() as there:
        live.wait_for(lambda: there.status()["samples"] > 0)
        answer = Answer(there.pid).expect("ok", "preloaded", "is in it").expect_status(0)
        answer.expect("ok", "control", str(there.socket)).expect("ok", "engine", f"wasmtime {NEWEST}")
        answer.expect("ok", "guest", "native code by wasmtime")
        # Nothing was disturbed.
        before = there.status()["samples"]
        live.wait_for(lambda: there.status()["samples"] > before)
    with running(live.busy()) as pid:
        answer = Answer(pid).expect("no", "preloaded", "cannot be given it").expect_status(3)
        answer.expect("ok", "engine", f"wasmtime {NEWEST}")
    run = Run([str(GUESTPROF), "doctor", "99999999"])
    expect(run.status == 4 and "there is none" in run.stderr, f"status {run.status}: {run.stderr}")


@contextlib.contextmanager
def running(command, **env):
    """A process, once it is COMMAND; its pid."""
    with folder() as path:
        os.chmod(path, 0o777)
        process_there = subprocess.Popen(list(map(str, command)), cwd=path, env=environment(**env),
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            yield process_there.pid
        finally:
            process_there.kill()
            process_there.communicate()


def says(pid, label, value):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return any(line.split()[:2] == [label + ":", value] for line in text.splitlines())


# seccomp(2) and its filters, of (code, jump if true, jump if false, operand).
FILTER = """import ctypes, os, signal, struct, sys, time
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
def confine(*rows):
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in rows))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, ctypes.byref(Filter(len(rows), ctypes.addressof(code))))
ALLOW = (6, 0, 0, 0x7fff0000)
"""

# That there is a filter is what counts. It handles SIGPROF, and waits.
SANDBOXED = FILTER + """
signal.signal(signal.SIGPROF, lambda *_: None)
confine(ALLOW)
time.sleep(100)
"""

# Of x86_64's numbers perf_event_open gives EPERM, timer_create kills; and becomes its words.
CONFINED = FILTER + """
confine((0x20, 0, 0, 0), (0x15, 0, 1, 298), (6, 0, 0, 0x00050001), (0x15, 0, 1, 222), (6, 0, 0, 0x80000000), ALLOW)
os.execv(sys.argv[1], sys.argv[1:])
"""


@test("doctor: in a sandbox")
def confined():
    command = host(NEWEST, "split.wasm", "run")
    answer = ask(*command, before=[str(PYTHON), "-c", CONFINED], env=environment(GUESTPROF_HZ="1000"))
    answer.expect("no", "timer", "the sandbox kills for it").expect("limit", "perf_event", "Operation not permitted")
    answer.expect("ok", "seccomp", "inherits").expect_status(3)


@test("doctor: a sandboxed process")
def sandboxed():
    with running([PYTHON, "-c", SANDBOXED], LD_PRELOAD=str(LIBRARY)) as pid:
        live.wait_for(lambda: says(pid, "Seccomp", "2"))
        answer = Answer(pid).expect("limit", "seccomp", "seccomp filter").expect_status(1)
        answer.expect("ok", "preloaded", "is in it")
    with running([PYTHON, "-c", SANDBOXED]) as pid:
        live.wait_for(lambda: says(pid, "Seccomp", "2"))
        Answer(pid).expect("ok", "signals", "SIGVTALRM is used").expect_status(3)


@test("doctor: an undumpable process")
def undumpable():
    if os.geteuid() != 0:
        raise Skip("needs another user")
    command = [*NOBODY, *host(NEWEST, "split.wasm", "run", "cpu_ms=60000", "undumpable")]
    with running(command, LD_PRELOAD=str(LIBRARY)) as pid:
        maps = pathlib.Path(f"/proc/{pid}/maps")
        live.wait_for(lambda: says(pid, "Uid", "65534") and maps.stat().st_uid == 0
                      and "libwasmtime" in maps.read_text())
        Answer(pid).expect("limit", "dumpable", "is not dumpable").expect_status(1)


if __name__ == "__main__":
    sys.exit(harness.main())
