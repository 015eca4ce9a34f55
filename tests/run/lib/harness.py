# SPDX-License-Identifier: MIT
"""harness.py - what the end-to-end tests share: hosts, recording, comparing, and one line a test.

A test file defines functions under @test(...) and ends with harness.main(). Each prints
`ok NAME`, `FAIL NAME (reason)` or `skip NAME (reason)`.
"""

import concurrent.futures
import contextlib
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pprof

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("TEST_BUILD", "build")
ENGINES = ROOT / os.environ.get("TEST_ENGINES", "build/engines")
HOSTS = ROOT / os.environ.get("TEST_HOSTS", "build/hosts")
GUESTPROF = BUILD / "guestprof"
LIBRARY = BUILD / "libguestprof.so"
PYTHON = ENGINES / "python/bin/python3"
PPROF = ENGINES / "pprof/pprof"
VERSIONS = sorted((p.name for p in HOSTS.glob("[0-9]*")), key=lambda name: int(name.split(".")[0]))
NEWEST = VERSIONS[-1] if VERSIONS else None
HZ = 4000
TIMEOUT = 120

BESIDE = 4  # tests at a time

tests = []
waiting_tests = []


class Skip(Exception):
    """The test cannot run here; the text says why."""


class Failure(Exception):
    """The test ran and something is not as it must be."""


def test(name, *arguments, beside=False):
    """Registers a test; NAME may hold {} for the arguments.

    BESIDE: it waits most of its time and measures nothing that others disturb; such tests run side by side, last.
    """
    def register(function):
        (waiting_tests if beside else tests).append((name.format(*arguments), function, arguments))
        return function
    return register


def expect(condition, reason):
    if not condition:
        raise Failure(reason)


def python_with(package):
    """A Python that has PACKAGE, and its engine, alone."""
    found = sorted(ENGINES.glob(f"{package}-*/bin/python3"))
    if not found:
        raise Skip(f"no {package} in {ENGINES}")
    return found[-1]


def major(version):
    return int(version.split(".")[0])


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="guestprof-test-")
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def host(version, guest, export, *options):
    return [str(HOSTS / version / "host"), str(HOSTS / guest), export, *options]


def environment(**more):
    """Ours, without settings that a developer may have exported."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GUESTPROF_") and k != "LD_PRELOAD"}
    clean.update(more)
    return clean


class Run:
    """A finished process: status as the shell shows it, stdout (bytes: output), stderr."""

    def __init__(self, command, timeout=TIMEOUT, cwd=None, env=None):
        started = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=cwd, env=env or environment(),
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                raise Failure(f"no end within {timeout} s: {' '.join(command)}: {tail(err)}") from None
        self.status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        self.output, self.stdout, self.stderr = out, out.decode(errors="replace"), err.decode(errors="replace")
        self.seconds = time.monotonic() - started

    @property
    def host_stderr(self):
        """What the program said, without guestprof's own lines."""
        return "".join(line for line in self.stderr.splitlines(True) if not re.match(r"guestprof[:\[]", line))


def tail(text, size=300):
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    return text.strip().replace("\n", " | ")[-size:]


def same_as_without(run, plain):
    """What the host shows must not depend on us."""
    for what, with_us, without in (
            ("status", run.status, plain.status),
            ("stdout", sorted(run.stdout.splitlines()), sorted(plain.stdout.splitlines())),
            ("stderr", run.host_stderr, plain.stderr)):
        expect(with_us == without, f"{what} is {with_us!r}, without guestprof {without!r}")


def run_recorded(command, file, hz=HZ, **options):
    return Run([str(GUESTPROF), "record", "-F", str(hz), "-o", str(file), "--", *map(str, command)], **options)


def report(file):
    """What the command shows of a recording."""
    done = Run([str(GUESTPROF), "report", str(file)])
    expect(done.status == 0, done.stderr)
    return done.stdout


def brief(command):
    """The same command with the least work; its output is the same."""
    return [re.sub(r"^cpu_ms=\d+$", "cpu_ms=1", str(word)) for word in command]


def record(command, hz=HZ, compare=True, timeout=TIMEOUT, env=None, cwd=None, waits=False):
    """Runs COMMAND under guestprof, compares it with a run without, returns the Profile (with .run).

    A host that WAITS most of its time has the run without us beside it, not after it.
    """
    with folder() as path, concurrent.futures.ThreadPoolExecutor(1) as beside:
        file = path / "out.pb.gz"
        plain = beside.submit(Run, brief(command), timeout=timeout, cwd=cwd) if compare and waits else None
        run = run_recorded(command, file, hz, timeout=timeout, env=env, cwd=cwd)
        expect(file.exists(), f"no recording; status {run.status}: {tail(run.stderr)}")
        profile = pprof.read(file)
    profile.run = run
    if compare:
        same_as_without(run, plain.result() if plain else Run(brief(command), timeout=timeout, cwd=cwd))
    return profile


_rate = None


def rate():
    """Samples per CPU second that this machine delivers at HZ; measured once per test file."""
    global _rate
    if _rate is None:
        profile = record(host(NEWEST, "split.wasm", "run", "cpu_ms=800"), compare=False)
        _rate = max(profile.total() / 0.8, 200.0)  # a broken clock must not make tests run for ever
        print(f"# delivered rate {_rate:.0f} of {HZ} Hz", flush=True)
    return _rate


def cpu_ms_for(samples):
    """An option that makes a host use the CPU time for that many samples, a tenth more."""
    return f"cpu_ms={int(math.ceil(samples * 1100 / rate()))}"


# Threads run side by side on two cores, and each gets its clock a moment after its start.
THREAD_SLACK = 0.05


def expect_shares(counts, known, what="shares", slack=0.005):
    """Each share within 4 standard errors and SLACK, half a point."""
    total = sum(counts.values())
    expect(total > 0, f"{what}: no samples")
    for name, share in known.items():
        found = counts.get(name, 0) / total
        margin = 4 * math.sqrt(share * (1 - share) / total) + slack
        expect(abs(found - share) <= margin,
               f"{what}: {name} has {100 * found:.2f} %, not {100 * share:.0f} (n {total}, margin {100 * margin:.2f})")


def expect_instances(profile, count):
    """COUNT instances are named; the samples before an instance's tenth carry `#*`. Returns their counts."""
    counts = profile.counts("wasm_instance")
    named = {name: n for name, n in counts.items() if name and not name.endswith("#*")}
    expect(None not in counts, f"{counts[None]} samples without an instance")
    expect(len(named) == count, f"{count} instances, not {dict(counts)}")
    others = sum(counts.values()) - sum(named.values())
    expect(others < 10 * count, f"{others} samples of unnamed instances: {dict(counts)}")
    expect(sum(counts.values()) == profile.total(), "the counts do not add up")
    return named


def expect_chains(profile, legal, state="guest", least=0.995, module=None):
    """The guest part of each stack in STATE is one of LEGAL (root first). Returns self counts.

    A stack of nothing but glue is complete too: the guest was being entered, or had just been left.
    """
    good = bad = 0
    strange, leaves = {}, {}
    for sample in profile.samples:
        if state and sample.labels.get("wasm_state") not in state.split():
            continue
        if module and sample.labels.get("wasm_module") != module:
            continue
        chain = pprof.guest_chain(sample)
        if pprof.is_whole(sample, legal):
            good += sample.count
        else:
            bad += sample.count
            strange[chain] = strange.get(chain, 0) + sample.count
        if chain:
            leaves[chain[-1]] = leaves.get(chain[-1], 0) + sample.count
    worst = sorted(strange.items(), key=lambda pair: -pair[1])[:3]
    expect(good + bad > 0, f"no samples in state {state}")
    expect(good >= least * (good + bad),
           f"{100 * good / (good + bad):.2f} % of {good + bad} {state} stacks are complete, not {100 * least} %: {worst}")
    return leaves


def say(line):
    """In one write: lines of tests that run side by side must not mix."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def verdict(name, function, arguments):
    """Runs a test and prints its line; whether it failed."""
    started = time.monotonic()
    failed = False
    try:
        function(*arguments)
        line = f"ok {name} [{time.monotonic() - started:.1f} s]"
    except Skip as reason:
        line = f"skip {name} ({reason})"
    except Failure as reason:
        failed, line = True, f"FAIL {name} ({tail(str(reason), 2000)})"
    except Exception as reason:  # one broken test must not hide the others
        failed, line = True, f"FAIL {name} ({type(reason).__name__}: {tail(str(reason), 2000)})"
    say(line)
    return failed


def main(argv=None):
    """Runs the tests whose names hold the pattern (-k PATTERN); --list names them."""
    words = sys.argv[1:] if argv is None else argv
    pattern = words[words.index("-k") + 1] if "-k" in words else ""
    chosen, waiting = ([row for row in rows if re.search(pattern, row[0])] for rows in (tests, waiting_tests))
    if "--list" in words:
        print("".join(f"{name}\n" for name, _, _ in chosen + waiting), end="")
        return 0
    failed = [verdict(*row) for row in chosen]
    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        failed += pool.map(lambda row: verdict(*row), waiting)
    return 1 if any(failed) else 0
