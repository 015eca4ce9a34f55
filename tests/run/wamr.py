#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wamr.py - WAMR as it can be built: two interpreters, compiled files, LLVM's JIT; by its own API and by wasm.h.

Interpreted guests leave no frames: their time is booked to the instance between entry and exit. Compiled files hold
where their functions are, in memory without unwind tables; the JIT registers tables, and no names.
"""

import re
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
import pprof
from harness import (ENGINES, GUESTPROF, HOSTS, Run, Skip, expect, expect_chains, expect_instances, expect_shares,
                     record, test)

WAMR = HOSTS / "wamr"
SPLIT = HOSTS / "split.wasm"
VERSION = "2.4"
INTERPRETED, COMPILED, JIT = "WAMR's interpreters", "WAMR, compiled ahead of time", "WAMR's LLVM JIT"
SHARE_SLACK = 0.01  # beside four standard errors
INTERPRETER = "(interpreter)"


def host(kind, guest, *options, program="host"):
    if not (WAMR / kind / program).exists():
        raise Skip(f"no wamr-* in {ENGINES}")
    return [WAMR / kind / program, guest, "run", *options]


def expect_interpreted(profile, what):
    total = profile.total()
    expect(total >= 200, f"{what}: only {total} samples")
    states = profile.counts("wasm_state")
    expect(states.get("interpreter", 0) == total, f"{what}: {dict(states)}")
    for sample in profile.samples:
        names = [frame.name for frame in sample.frames]
        expect(names == [INTERPRETER], f"{what}: {names}")


def expect_halves(profile):
    named = expect_instances(profile, 2)
    expect_shares(profile.counts("wasm_instance"), {name: 0.5 for name in named}, what="instances", slack=0.03)


@test("interpreters: time from entry to exit, by instance, and the word that says so")
def interpreters():
    for kind in ("classic", "fast"):
        with harness.folder() as path:
            file = path / "out.pb.gz"
            run = harness.run_recorded(host(kind, SPLIT, harness.cpu_ms_for(1500), "instances=2"), file)
            expect(run.status == 0 and run.stdout == "done 2\n", f"status {run.status}: {harness.tail(run.stderr)}")
            profile, text = pprof.read(file), harness.report(file)
        expect_interpreted(profile, kind)
        expect_halves(profile)
        expect([name.split("@")[0] for name in profile.counts("wasm_module")] == ["split"], f"{kind}: {text}")
        expect(re.search(r" s, wamr \d+\.\d+\.\d+\n", text), text[:200])
        expect("is in an interpreter, whose guests leave no frames" in text, text)
    cells.interpreted(INTERPRETED, VERSION)


@test("interpreters: each way into a guest")
def ways():
    for way in ("raw", "a", "v", "table", "main", "func"):
        # main and func print a line for each call
        profile = record(host("fast", WAMR / "ways.wasm", harness.cpu_ms_for(400), "instances=2", f"way={way}"),
                         compare=way == "v")
        expect_interpreted(profile, way)
        expect_instances(profile, 2)


@test("wasm.h: the same functions as other engines have")
def wasm_h():
    profile = record(host("fast", SPLIT, harness.cpu_ms_for(500), "instances=2", program="wasm_h"))
    expect_interpreted(profile, "wasm.h")
    expect_instances(profile, 2)
    profile = record(host("fast", WAMR / "split.aot", harness.cpu_ms_for(500), "instances=2", program="wasm_h"),
                     compare=False)
    expect_instances(profile, 2)
    expect(set(profile.counts("wasm_state")) == {"guest"}, f"{dict(profile.counts('wasm_state'))}")


@test("compiled file: shares, instances, names of the binary that was opened")
def compiled():
    profile = record(host("fast", WAMR / "split.aot", harness.cpu_ms_for(5200), "instances=2", f"open={SPLIT}",
                          "name=called", "linger_ms=300"))
    least = min(5000, int(0.6 * harness.rate()))
    expect(profile.total() >= least, f"only {profile.total()} samples, not {least}")
    # Neither frame pointers nor tables: the code itself is followed to its return, while it is there.
    expect_shares(expect_chains(profile, guests.SPLIT_CHAINS, least=0.95), guests.SPLIT_SHARES, slack=SHARE_SLACK)
    expect(set(profile.counts("wasm_module")) == {"called"}, f"modules {dict(profile.counts('wasm_module'))}")
    expect_halves(profile)
    cells.measured(COMPILED, VERSION, "modules", "its C API")
    cells.measure(COMPILED, VERSION, profile, guests.SPLIT_CHAINS, least=0.95)
    cells.measured(COMPILED, VERSION, "instances", "each")


@test("compiled file with frame pointers, and nothing that names its functions but its exports")
def frame_pointers():
    profile = record(host("classic", WAMR / "split-frames.aot", harness.cpu_ms_for(1500), "name=called"), compare=False)
    functions = [f"called!wasm-function[{i}]" for i in range(3)] + ["run"]
    legal = {tuple(reversed(functions[i:])) for i in range(4)}
    expect_shares(expect_chains(profile, legal, least=0.99), dict(zip(functions, (0.7, 0.2, 0.1))), slack=SHARE_SLACK)


@test("compiled file: 20 modules, one after another at the same addresses")
def rounds():
    profile = record(host("fast", WAMR / "split-frames.aot", "cpu_ms=20", "rounds=20", f"open={SPLIT}"), compare=False)
    expect_chains(profile, guests.SPLIT_CHAINS, least=0.98)
    modules = [name for name in profile.counts("wasm_module") if name]
    expect(len(modules) == 1, f"modules {modules}")


@test("JIT: complete stacks in code that its tables describe")
def jit():
    profile = record(host("jit", SPLIT, harness.cpu_ms_for(1500), "jit=1"), compare=False)
    leaves, complete, total = {}, 0, 0
    for sample in profile.samples:
        if sample.labels.get("wasm_state") != "guest":
            continue
        chain = pprof.guest_chain(sample)
        total += sample.count
        complete += sample.count if 1 <= len(chain) <= 4 and all(name.startswith("[jit") for name in chain) else 0
        leaves[chain[-1]] = leaves.get(chain[-1], 0) + sample.count
    expect(total >= 300 and complete >= 0.99 * total, f"{complete} of {total} are of generated code: {leaves}")
    three = sorted(leaves, key=leaves.get, reverse=True)[:3]
    expect_shares(leaves, dict(zip(three, (0.7, 0.2, 0.1))), slack=SHARE_SLACK)
    for column, value in (("modules", "its C API"), ("names", "[jit 0xADDR+SIZE]"), ("stacks", "99 %")):
        cells.measured(JIT, VERSION, column, value)


def in_host(profile):
    """The stacks of samples in the host, root first, by how often."""
    found = {}
    for sample in profile.samples:
        if sample.labels.get("wasm_state") == "host":
            chain = tuple(frame.name for frame in sample.frames)
            found[chain] = found.get(chain, 0) + sample.count
    return found


@test("host calls of interpreted guests: which function, and, where the engine was built to tell, who calls")
def host_calls():
    calls = HOSTS / "calls.wasm"
    for kind, outer, inner in (("fast", (INTERPRETER,), (INTERPRETER,)),
                               ("classic", ("again", "again_upper", "again_lower"),
                                ("callback", "callback_upper", "callback_lower"))):
        command = [*host(kind, calls)[:2], "again", "cpu_ms=300"]
        profile = record(command, hz=1000, compare=kind == "fast")
        found, total = in_host(profile), profile.total()
        expect(total >= 50, f"{kind}: only {total} samples")
        known = found.get((*outer, "env.again", *inner, "env.work"), 0)
        expect(known >= 0.9 * total, f"{kind}: {known} of {total}: {found}")


@test("host calls that wait, of interpreted and of compiled guests")
def waits():
    for kind, guest in (("classic", HOSTS / "waits.wasm"), ("fast", WAMR / "waits.aot")):
        command = [*host(kind, guest, "argument=400", "calls=2", f"open={HOSTS / 'waits.wasm'}")]
        profile = record(command, hz=250, compare=False, env=harness.environment(GUESTPROF_WALL="1"), waits=True)
        waited = {}
        for sample in profile.samples:
            if sample.labels.get("wasm_state") == "waiting":
                guest_frames = pprof.guest_chain(sample)
                name = guest_frames[-1] if guest_frames else None
                waited[name] = waited.get(name, 0) + sample.wall_ns
        total = sum(waited.values())
        expect(total >= 0.6e9, f"{kind}: only {total / 1e9:.2f} s of 0.8 s: {waited}")
        for name, share in (("napper", 0.5), ("reader", 0.3), ("locker", 0.2)):
            expect(abs(waited.get(name, 0) / total - share) <= 0.08, f"{kind}: {name} in {waited}")
        cells.measured(INTERPRETED if kind == "classic" else COMPILED, VERSION, "waiting", "yes")


@test("doctor names it")
def doctor():
    library = harness.environment(GUESTPROF_LIB=str(harness.LIBRARY))
    done = Run([str(GUESTPROF), "doctor", "--", *map(str, host("fast", SPLIT))], env=library)
    expect(re.search(r"\bok engine WAMR\b.* C API", " ".join(done.stdout.split())), done.stdout)


if __name__ == "__main__":
    sys.exit(harness.main())
