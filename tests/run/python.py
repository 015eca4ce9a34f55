#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python.py - Python programs on the `wasmtime` package: ctypes, dlsym, callbacks, threads."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
from harness import HOSTS, PYTHON, ROOT, THREAD_SLACK, expect, expect_chains, expect_instances, expect_shares, rate, record, test

sys.path.insert(0, str(ROOT / "tests/host"))
import app

APP_CHAINS = {("thumbnail",), ("thumbnail", "blur"), ("thumbnail", "blur", "resize"),
              ("thumbnail", "blur", "resize", "encode")}


def callbacks(guest, export, samples=3000):
    return [PYTHON, ROOT / "tests/host/callbacks.py", HOSTS / guest, export, f"{samples * 1.2 / rate():.1f}"]


@test("python split")
def split():
    profile = record(callbacks("split.wasm", "run", 6000))
    expect(profile.total() >= 5000, f"only {profile.total()} samples")
    expect_shares(expect_chains(profile, guests.SPLIT_CHAINS), guests.SPLIT_SHARES)


@test("python demo program")
def demo():
    """Two threads, two instances each."""
    profile = record([PYTHON, ROOT / "tests/host/app.py", f"{8000 / rate():.1f}"])
    leaves = expect_chains(profile, APP_CHAINS)
    expect_shares(leaves, {name: share / 100 for name, share in app.SHARES.items()})
    instances = expect_instances(profile, 4)
    expect_shares(instances, dict.fromkeys(instances, 0.25), "instances", THREAD_SLACK)


@test("python callback")
def callback():
    profile = record(callbacks("calls.wasm", "callback"))
    expect_chains(profile, guests.into_host("callback"), "host", 0.97)


@test("python nested calls")
def nested():
    profile = record(callbacks("calls.wasm", "again"))
    expect_chains(profile, guests.AGAIN_CHAINS | guests.into_host("again"), "host", 0.97)


if __name__ == "__main__":
    sys.exit(harness.main())
