#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""extism.py - Extism's plugins in a Python host: names, stacks, an instance for each plugin, its kernel apart."""

import collections
import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import harness
import pprof
from harness import GUESTPROF, HOSTS, ROOT, THREAD_SLACK, Run, expect, expect_shares, test

KERNEL = "extism kernel"
SHARES = {"first": 0.75, "second": 0.25}
OWN_CHAINS = {("run",), ("run", "first"), ("run", "first", "second"), ("run", "keep")}
# Below its own functions' frames; none where the host itself asks the kernel.
KERNEL_CHAINS = {(), ("run",), ("run", "keep")}


def is_kernels(frame):
    return frame.module == KERNEL


def shown_without(file):
    """Modules of the guest functions that a report shows once the kernel is excluded."""
    run = Run([str(GUESTPROF), "report", "--exclude", KERNEL, "--json", str(file)])
    expect(run.status == 0, run.stderr)
    return {row["module"] for row in json.loads(run.stdout)["functions"] if row["kind"] == "guest"}


def sort_out(profile):
    """(counts of functions outside the kernel, samples within it, counts of guest stacks that cannot be)."""
    leaves, kernels, odd = collections.Counter(), 0, collections.Counter()
    for sample in profile.samples:
        own = tuple(frame.name for frame in sample.frames if frame.kind == "guest" and not is_kernels(frame))
        is_inside = any(map(is_kernels, sample.frames))
        is_glue = all(frame.kind == "trampoline" for frame in sample.frames)
        if is_inside:
            kernels += sample.count
        elif own:
            leaves[own[-1]] += sample.count
        if sample.labels.get("wasm_state") == "guest" and not is_glue and own not in (
                KERNEL_CHAINS if is_inside else OWN_CHAINS):
            odd[own] += sample.count
    return leaves, kernels, odd


def plugins(way):
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded([harness.python_with("extism"), ROOT / "tests/host/plugins.py", HOSTS / "plugin.wasm", way, "0.7"], file)
        expect(run.stdout == "plugins: 2 threads, done\n" and run.host_stderr == "", run.stdout + run.stderr)
        profile = pprof.read(file)
        hidden = shown_without(file)
    leaves, kernels, odd = sort_out(profile)
    total = profile.total()
    expect(total > 1000, f"only {total} samples")
    expect(sum(odd.values()) <= 0.01 * total, f"{sum(odd.values())} of {total} stacks: {odd.most_common(3)}")
    expect_shares({name: leaves[name] for name in SHARES}, SHARES, slack=0.01)
    expect(0.02 * total < kernels < 0.9 * total, f"{kernels} of {total} samples are in the kernel")
    instances = profile.counts("wasm_instance")
    named = {name: count for name, count in instances.items() if name and not name.endswith("#*")}
    expect(len(named) == 2, f"plugins {dict(instances)}")
    expect_shares(named, dict.fromkeys(named, 0.5), "plugins", 2 * THREAD_SLACK)
    # Until a plugin is made it is none; and the first ten samples have no name yet.
    expect(total - sum(named.values()) < 40, f"plugins {dict(instances)}")
    expect(len(hidden) == 1 and hidden.pop().startswith("counter@"), f"shown without the kernel: {hidden}")
    groups = {name.split("@")[0] for name in profile.counts("wasm_module")}
    expect("counter" in groups and groups <= {"counter", KERNEL}, f"groups {groups}")
    cells.measured("Extism (Python)", "1.1", "modules", "its C API; its kernel apart")
    own = sum(leaves[name] for name in ("run", "first", "second", "keep"))  # its kernel has no names
    cells.at_least("Extism (Python)", "1.1", "names", own / sum(leaves.values()), 0.99)
    cells.at_least("Extism (Python)", "1.1", "stacks", 1 - sum(odd.values()) / total, 0.99)
    cells.measured("Extism (Python)", "1.1", "instances", "each plugin")


@test("extism plugins, waiting in a function of the host's", beside=True)
def waiting():
    env = harness.environment(GUESTPROF_WALL="1")
    profile = harness.record([harness.python_with("extism"), ROOT / "tests/host/napping.py", "0.5"], hz=100, env=env, compare=False)
    expect(profile.run.stdout == "napping: done\n", profile.run.stdout + profile.run.stderr)
    cells.waits("Extism (Python)", "1.1", profile, 0.5)


for each in ("compiled", "path"):
    test("extism plugins, each from {}", each)(plugins)

if __name__ == "__main__":
    sys.exit(harness.main())
