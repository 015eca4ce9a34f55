#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""engines.py - C hosts on each version of wasmtime: shares, stacks, and guests in the host."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
from harness import VERSIONS, cpu_ms_for, expect, expect_chains, expect_instances, expect_shares, host, major, record, test

LEAST_SAMPLES = 5000

WAYS = {
    "direct": [],
    "linker": ["linker"],
    "deserialize": ["serialize"],
    "deserialize-file": ["cwasm={folder}/split.cwasm"],
    "no-unwind-info": ["no_unwind_info"],
}


def split_shares(version, way):
    with harness.folder() as path:
        options = [word.format(folder=path) for word in WAYS[way]]
        profile = record(host(version, "split.wasm", "run", "argument=300", cpu_ms_for(LEAST_SAMPLES), *options))
    expect(profile.total() >= LEAST_SAMPLES, f"only {profile.total()} samples")
    expect_shares(expect_chains(profile, guests.SPLIT_CHAINS), guests.SPLIT_SHARES)
    cells.measure("wasmtime (C API)", major(version), profile, guests.SPLIT_CHAINS)


def tiny_functions(version):
    profile = record(host(version, "tiny.wasm", "run", "argument=300", cpu_ms_for(LEAST_SAMPLES)))
    expect(profile.total() >= LEAST_SAMPLES, f"only {profile.total()} samples")
    leaves = expect_chains(profile, guests.TINY_CHAINS)
    expect({"run", "step", "mix", "bump"} <= set(leaves), f"functions missing: {sorted(leaves)}")


def in_the_host(version, export):
    """At least 97 % of the samples in the host or in a builtin have the guest's frames."""
    profile = record(host(version, "calls.wasm", export, "argument=500", cpu_ms_for(3000)))
    states = profile.counts("wasm_state")
    away = states["host"] + states["builtin"]
    # table.fill became compiled code in newer versions: only its helpers are left in the host
    least = 50 if export == "fill" else 1500
    expect(away >= least, f"only {away} samples in the host: {dict(states)}")
    expect_chains(profile, guests.into_host(export), "host builtin", 0.97)
    nothing_found = profile.stats.get("no_guest_found", 0) + profile.stats.get("lost_stack", 0)
    expect(nothing_found <= 0.03 * (away + nothing_found), f"{nothing_found} of {away + nothing_found} without a guest")


def nested_calls(version):
    profile = record(host(version, "calls.wasm", "again", "argument=500", cpu_ms_for(3000)))
    expect_chains(profile, guests.AGAIN_CHAINS, "host", 0.97)


def traps(version):
    profile = record(host(version, "calls.wasm", "trap", "calls=100000"))
    expect("100000 calls, 100000 traps, 0 errno changes" in profile.run.stdout, profile.run.stdout)
    expect(profile.total() > 0, "no samples")
    expect_chains(profile, guests.on_the_way("trap"), None, 0.97)


def components(version):
    profile = record(host(version, "comp.wasm", "run", "component", "argument=300", cpu_ms_for(LEAST_SAMPLES)))
    expect_shares(expect_chains(profile, guests.COMPONENT_CHAINS), guests.COMPONENT_SHARES)
    cells.measured("wasmtime, components (C API)", major(version), "modules", "its C API")
    cells.measure("wasmtime, components (C API)", major(version), profile, guests.COMPONENT_CHAINS)


def component_callback(version):
    profile = record(host(version, "comp.wasm", "call-out", "component", "serialize", "argument=500", cpu_ms_for(3000)))
    expect_chains(profile, {("upper_out", "lower_out")}, "host", 0.97)


def async_calls(version):
    """Two futures polled in turn: both instances have half."""
    profile = record(host(version, "split.wasm", "run", "async", "argument=300", cpu_ms_for(LEAST_SAMPLES)))
    expect_shares(expect_chains(profile, guests.SPLIT_CHAINS), guests.SPLIT_SHARES)
    instances = expect_instances(profile, 2)
    expect_shares(instances, dict.fromkeys(instances, 0.5), "instances")
    cells.measured("wasmtime, async calls (C API)", major(version), "modules", "its C API")
    cells.measure("wasmtime, async calls (C API)", major(version), profile, guests.SPLIT_CHAINS)
    cells.measured("wasmtime, async calls (C API)", major(version), "instances", "each")


def async_callback(version):
    profile = record(host(version, "calls.wasm", "callback", "async", "argument=500", cpu_ms_for(3000)))
    expect_chains(profile, guests.into_host("callback"), "host", 0.97)


for each in VERSIONS:
    for name in WAYS:
        test("wasmtime {} split {}", each, name)(split_shares)
    test("wasmtime {} tiny functions", each)(tiny_functions)
    for name in ("callback", "grow", "fill"):
        test("wasmtime {} in the host: {}", each, name)(in_the_host)
    test("wasmtime {} nested calls", each)(nested_calls)
    test("wasmtime {} 100,000 traps", each)(traps)
    test("wasmtime {} async", each)(async_calls)
    test("wasmtime {} async callback", each)(async_callback)
    if major(each) >= 43:  # the C API has components since 33; their host functions as used here since 43
        test("wasmtime {} component", each)(components)
        test("wasmtime {} component callback", each)(component_callback)

if __name__ == "__main__":
    sys.exit(harness.main())
