# SPDX-License-Identifier: MIT
"""cases.py - what the tests of known faults share: a program of tests/host/cases, preloaded, and its recordings;
and whether the tests that a text names are there."""

import re
import sys

import harness
import pprof
from harness import HOSTS, LIBRARY, Run, environment


def case(name, *words):
    return [str(HOSTS / "cases" / name), *map(str, words)]


def recordings(path):
    return sorted(p for p in path.iterdir() if p.name.startswith("guestprof.") and p.suffix in (".pb", ".gz"))


def preloaded(path, command, timeout=harness.TIMEOUT, cwd=None, **settings):
    """(Run, recordings in PATH): the library alone, as an operator sets it in a service's environment."""
    settings = {"LD_PRELOAD": str(LIBRARY), "GUESTPROF_OUTPUT": f"{path}/guestprof.%e.%p.pb.gz", **settings}
    run = Run(list(map(str, command)), timeout=timeout, cwd=cwd, env=environment(**settings))
    return run, recordings(path)


def profile(files):
    harness.expect(len(files) == 1, f"recordings: {[file.name for file in files]}")
    return pprof.read(files[0])


def total(files):
    return sum(pprof.read(file).total() for file in files)


def check_named_tests(text, least):
    """TEXT names tests as `FILE`: `NAME`, the beginning of it at least: each must exist."""
    named = re.findall(r"`(tests/[\w/.]+)`: `([^`]+)`", text)
    harness.expect(len(named) >= least, f"{len(named)} tests are named")
    known = {}
    for file, name in named:
        if file not in known:
            path = harness.ROOT / file
            known[file] = path.read_text() if path.suffix == ".c" else Run([sys.executable, str(path), "--list"]).stdout
        lines = known[file].splitlines()
        found = name in known[file] if file.endswith(".c") else any(line.startswith(name) for line in lines)
        harness.expect(found, f"{file} has no test {name!r}")
