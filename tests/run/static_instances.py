#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static_instances.py - whose instance a sample is in, where the host's calls of the engine are seen by nobody.

The host of instances.py, built so that no library can come between it and the engine: what it does is known.
"""

import collections
import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
import pprof
from harness import ENGINES, HOSTS, VERSIONS, Skip, cpu_ms_for, environment, expect, expect_chains, expect_shares, record, test

LIKELY, MODULE_ONLY = " (likely)", " (module only)"
# At first: until our thread has seen the module, and, in the host, until the instance was met in its own code.
NOT_TOLD = 0.4
CERTAINTY = "each, with how certain"
ALL = {"GUESTPROF_INSTANCES": "all"}


def hidden(version, guest, export, *options):
    return [str(HOSTS / version / "hidden"), str(HOSTS / guest), export, *options]


def by_certainty(profile):
    """Samples of each instance, in a table for each certainty."""
    tables = {"exact": collections.Counter(), "likely": collections.Counter(), "module only": collections.Counter()}
    for label, count in profile.counts("wasm_instance").items():
        expect(label, f"{count} samples without an instance, and no word why")
        for end, kind in ((LIKELY, "likely"), (MODULE_ONLY, "module only"), ("", "exact")):
            if label.endswith(end):
                tables[kind][label.removesuffix(end)] += count
                break
    return tables


def share(profile, table):
    return sum(table.values()) / profile.total()


def four_instances(version):
    """Two stores with two instances each, called 1, 2, 3 and 4 times a round, by one thread."""
    profile = record(hidden(version, "split.wasm", "run", "stores=2", "instances=2", "skewed", "argument=100",
                            cpu_ms_for(3000)), env=environment(**ALL))
    tables = by_certainty(profile)
    told = tables["exact"] + tables["likely"]
    expect(len(told) == 4, f"{len(told)} instances, not 4: {tables}")
    expect(share(profile, tables["module only"]) < NOT_TOLD, f"not told: {tables}")
    ordered = dict(zip("abcd", sorted(told.values())))
    expect_shares(ordered, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, "instances", slack=0.03)
    expect_chains(profile, guests.SPLIT_CHAINS)


STORES, STORE_MS = 30, 8  # a thread's, one after the other


def many_stores(version):
    """Four threads, each with one store after the other: their numbers tell them apart, addresses come back at once."""
    profile = record(hidden(version, "split.wasm", "run", "threads=4", f"fresh={STORES}", "argument=5", f"cpu_ms={STORE_MS}"),
                     env=environment(**ALL))
    tables = by_certainty(profile)
    expect(share(profile, tables["exact"]) > 1 - NOT_TOLD, f"exact: {share(profile, tables['exact']):.2f}, {tables['likely']}")
    expect(len(tables["exact"]) <= 4 * STORES, f"{len(tables['exact'])} instances of {4 * STORES} stores")
    expect(len(tables["exact"]) > 4 * STORES * (1 - NOT_TOLD), f"{len(tables['exact'])} instances of {4 * STORES} stores")
    threads = collections.defaultdict(set)
    for sample in profile.samples:
        label = sample.labels["wasm_instance"]
        if not label.endswith((LIKELY, MODULE_ONLY)):
            threads[label].add(sample.labels["thread_id"])
    shared = {label: ids for label, ids in threads.items() if len(ids) > 1}
    expect(not shared, f"instances on several threads: {shared}")
    mean = sum(tables["exact"].values()) / len(tables["exact"])
    if mean > 20:  # else chance says more than the stores do
        expect(max(tables["exact"].values()) < 1.9 * mean, f"two stores taken for one? {tables['exact'].most_common(3)}, mean {mean}")


@test("dprint: two plugins")
def dprint():
    """Stripped, with stores that last: nothing numbers them, so that no more is said than `likely`."""
    tool, toml = next(ENGINES.glob("dprint-*/dprint"), None), ENGINES / "wasm/toml.wasm"
    if tool is None or not toml.exists():
        raise Skip(f"no dprint-*/dprint or wasm/toml.wasm in {ENGINES}")
    with harness.folder() as path:
        (path / "dprint.json").write_text(json.dumps({"json": {}, "toml": {}, "plugins": [str(tool.parent / "json.wasm"), str(toml)]}))
        (path / "a.json").write_text(json.dumps([{f"a{i}": list(range(i % 50))} for i in range(5000)]))
        (path / "b.toml").write_text("".join(f"[s{i}]\na =    {i}\nb = [1,  2,3, {i}]\n" for i in range(2500)))
        env = environment(DPRINT_CACHE_DIR=str(path / "cache"), **ALL)
        harness.Run([str(tool), "check", "--incremental=false"], cwd=path, env=env)  # compiles the plugins
        run = harness.run_recorded([tool, "check", "--incremental=false"], path / "out.pb.gz", cwd=path, env=env)
        expect((path / "out.pb.gz").exists(), f"no recording: {harness.tail(run.stderr)}")
        profile = pprof.read(path / "out.pb.gz")
    tables = by_certainty(profile)
    told = tables["exact"] + tables["likely"]
    modules = collections.Counter(label.rpartition("#")[0] for label in told)
    expect(len(modules) == 2 and set(modules.values()) == {1}, f"not one instance of each of two modules: {tables}")
    expect(share(profile, told) > 1 - NOT_TOLD, f"told: {share(profile, told):.3f}, {tables}")
    cells.measured("wasmtime in dprint", tool.parent.name.rpartition("-")[2].rpartition(".")[0], "instances", CERTAINTY)


@test("wizer: one instance")
def wizer():
    tool = next(ENGINES.glob("wizer-*/wizer"), None)
    if tool is None:
        raise Skip(f"no wizer-* in {ENGINES}")
    with harness.folder() as path:
        profile = record([tool, HOSTS / "split.wasm", "-o", path / "out.wasm"], compare=False, env=environment(**ALL))
    tables = by_certainty(profile)
    told = tables["exact"] + tables["likely"]
    expect(len(told) == 1 and share(profile, told) > 1 - NOT_TOLD, f"{tables}")
    cells.measured("wizer (wasmtime linked in)", harness.major(tool.parent.name.rpartition("-")[2]), "instances", CERTAINTY)


for each in VERSIONS:
    test("wasmtime {} four instances in two stores", each)(four_instances)
    if harness.major(each) >= 36:  # where 25 has its numbers nobody has looked
        test("wasmtime {} stores one after the other", each)(many_stores)

if __name__ == "__main__":
    sys.exit(harness.main())
