# SPDX-License-Identifier: MIT
"""cells.py - what tests measured of each engine, for the README's table (scripts/readme-engines).

A row is an engine in one version; a test that measured something of it says so, and the last one that did counts. What is
measured as a share is told as the bound that the test holds it to, so that two runs tell the same.
"""

import json
import pathlib
import sys

import pprof
from harness import BUILD, expect

# In the order of the table, with their headings.
COLUMNS = {
    "modules": "modules are seen by",
    "names": "names, at least",
    "stacks": "whole guest stacks, at least",
    "instances": "instances",
    "waiting": "waiting",
}
FOLDER = BUILD / "cells"


def measured(engine, version, column, value, found=None):
    """VALUE, a short text, is what COLUMN of the row of ENGINE in VERSION says; FOUND, the number behind it, is kept."""
    expect(column in COLUMNS, f"no column {column}")
    for text, forbidden in ((engine, "|\n"), (str(version), "|\n, "), (value, "|\n")):
        expect(text and text == text.strip() and not set(forbidden) & set(text), f"not for a table: {text!r}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = pathlib.Path(sys.argv[0]).stem
    with open(FOLDER / f"{file}.jsonl", "a") as results:  # one write: tests run side by side
        results.write(json.dumps([engine, str(version), column, value, f"{file}.py", found]) + "\n")


def at_least(engine, version, column, found, least):
    """FOUND, a share from 0 to 1, must be LEAST or more; LEAST is what is told."""
    expect(found >= least, f"{engine} {version}: {column} of {100 * found:.2f} %, not {100 * least:g} %")
    measured(engine, version, column, f"{100 * least:g} %", round(found, 5))


def named(profile, state="guest"):
    """The share of the samples in STATE whose innermost guest frame has a name of its own."""
    good = all_of_them = 0
    for sample in profile.samples:
        chain = pprof.guest_chain(sample)
        if chain and state in (None, sample.labels.get("wasm_state")):
            all_of_them += sample.count
            good += sample.count * (not chain[-1].startswith("[") and "wasm-function[" not in chain[-1])
    expect(all_of_them > 0, f"no guest in state {state}")
    return good / all_of_them


def whole(profile, legal, state="guest"):
    """The share of the samples in STATE whose guest frames are one of the LEGAL chains, root first; glue alone is one."""
    good = all_of_them = 0
    for sample in profile.samples:
        if state in (None, sample.labels.get("wasm_state")):
            all_of_them += sample.count
            good += sample.count * pprof.is_whole(sample, legal)
    expect(all_of_them > 0, f"no sample in state {state}")
    return good / all_of_them


def measure(engine, version, profile, legal, state="guest", least=0.99):
    """Names and whole stacks of PROFILE, as bounded by LEAST."""
    at_least(engine, version, "names", named(profile, state), least)
    at_least(engine, version, "stacks", whole(profile, legal, state), least)


def interpreted(engine, version):
    """What a test of an interpreter found: the time of each instance, and no frames."""
    for column, text in (("modules", "its C API"), ("names", "(interpreter)"), ("stacks", "one frame"), ("instances", "each")):
        measured(engine, version, column, text)


def waits(engine, version, profile, seconds, chain=None):
    """At least half of the SECONDS that the guest waited in a host call were seen, below its frames, or those of CHAIN."""
    found = sum(sample.wall_ns for sample in profile.samples
                if sample.labels.get("wasm_state") == "waiting" and any(f.kind in ("guest", "interpreter") for f in sample.frames)
                and chain in (None, pprof.guest_chain(sample)))
    expect(found >= 0.5e9 * seconds, f"{engine} {version}: {found / 1e9:.2f} s of waiting in a guest, not {seconds} s")
    measured(engine, version, "waiting", "yes", found / 1e9)
