#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""instances.py - whose instance a sample is in, few of them and very many."""

import sys

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
from memory import ResidentMemory
from harness import NEWEST, THREAD_SLACK, VERSIONS, cpu_ms_for, expect, expect_chains, expect_instances, expect_shares, host, record, test


def four_instances(version):
    """Two stores with two instances each, called 1, 2, 3 and 4 times a round."""
    profile = record(host(version, "split.wasm", "run", "stores=2", "instances=2", "skewed", "argument=100",
                          cpu_ms_for(8000)))
    counts = expect_instances(profile, 4)
    ordered = dict(zip("abcd", sorted(counts.values())))
    expect_shares(ordered, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, "instances")
    expect_chains(profile, guests.SPLIT_CHAINS)


def threads(version):
    """Four threads, each with its own store: four instances, each on one thread."""
    profile = record(host(version, "split.wasm", "run", "threads=4", "argument=100", cpu_ms_for(3000)))
    counts = expect_instances(profile, 4)
    pairs = {(s.labels["wasm_instance"], s.labels.get("thread_id")) for s in profile.samples
             if s.labels["wasm_instance"] in counts}
    expect(len(pairs) == 4, f"four pairs of instance and thread, not {sorted(map(str, pairs))}")
    expect_shares(counts, dict.fromkeys(counts, 0.25), "instances", THREAD_SLACK)


def many_instances(count):
    """Instances of 1 ms each: the group's total is right, memory flat, few are named."""
    command = host(NEWEST, "split.wasm", "run", f"fresh={count}", "argument=5", "cpu_ms=1")
    memory = ResidentMemory(command[0])
    memory.start()
    profile = record(command, compare=False, timeout=200)
    memory.is_over = True
    memory.join()
    named = [name for name in profile.counts("wasm_instance") if name and not name.endswith("#*")]
    expect(len(named) <= 32, f"{len(named)} named instances")
    expect(memory.growth_kib() < 16 * 1024, f"memory grew by {memory.growth_kib()} KiB")
    created = sum(group.get(3, 0) for group in profile.groups.values())
    expect(created == count, f"{created} instances counted, not {count}")
    in_groups = sum(group.get(5, 0) for group in profile.groups.values())
    expect(in_groups == profile.total(), f"the groups have {in_groups} samples, the stacks {profile.total()}")
    # What the guests used is a little less than what the thread did: setting instances up is not theirs.
    cpu_s = sum(sample.cpu_ns for sample in profile.samples) / 1e9
    process_s = profile.info[11] / 1e9
    expect(0.8 * count / 1000 < cpu_s < process_s, f"{cpu_s:.2f} s of CPU in {count} ms, {process_s:.2f} s in all")


for each in VERSIONS:
    test("wasmtime {} four instances in two stores", each)(four_instances)
    test("wasmtime {} four threads", each)(threads)
test("{} instances of 1 ms", 20000)(many_instances)

if __name__ == "__main__":
    sys.exit(harness.main())
