#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prepared.py - profiles that a host takes itself (guestprof.h), on a real wasmtime."""

import hashlib
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import ENGINES, GUESTPROF, HOSTS, LIBRARY, NEWEST, PYTHON, ROOT, Run, environment, expect, folder, tail, test


def stacks(profile):
    """Guest chain, root first, to number of samples."""
    counts = {}
    for sample in profile.samples:
        chain = tuple(pprof.guest_chain(sample))
        counts[chain] = counts.get(chain, 0) + sample.count
    return counts


def cpu(profile):
    return sum(sample.cpu_ns for sample in profile.samples)


def outer_and_inner(name, times):
    return {(f"{name}_outer",): times, (f"{name}_outer", f"{name}_inner"): times}


@test("prepared sets: the contract on wasmtime 50")
def contract():
    with folder() as path:
        run = Run([str(HOSTS / NEWEST / "prepared"), str(path)],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        listed = pprof.read(path / "listed.pb.gz")
        expect(stacks(listed) == outer_and_inner("listed", 50), f"listed: {stacks(listed)}")
        expect(cpu(listed) == 100 * 1_000_000, f"the CPU deltas add up to {cpu(listed)}")
        first, second = (pprof.read(path / f"{name}.pb.gz") for name in ("first", "second"))
        expect(stacks(first) == outer_and_inner("shared", 40), f"first: {stacks(first)}")
        expect(stacks(second) == {("shared_outer", "shared_inner"): 20}, f"second: {stacks(second)}")
        modules = {sample.labels["wasm_module"] for sample in first.samples}
        expect(modules == {"called by the host"}, f"modules are called {modules}")
        unlisted = pprof.read(path / "unlisted.pb.gz")
        expect(stacks(unlisted) == outer_and_inner("wanted", 1), f"unlisted: {stacks(unlisted)}")
        expect(b"unwanted" not in unlisted.raw, "the name of an unlisted module was stored")
        beside = pprof.read(path / "beside.pb.gz")
        for profile, unlisted_count, elsewhere, kept in ((unlisted, 40, 0, 2), (beside, 2, 1, 0)):
            found = [profile.stats[name] for name in ("unlisted", "host_only", "samples")]
            expect(found == [unlisted_count, elsewhere, kept], f"counted {found}: unlisted, without a guest, kept")
            lost = {name: count for name, count in profile.stats.items() if name.startswith("lost_") and count}
            expect(not lost, f"what the process lost is counted in a profile of the host's: {lost}")
        intervals = {name: pprof.read(path / f"{name}.pb.gz") for name in ("one", "common", "two")}
        for (name, profile), period, times in zip(intervals.items(), (1000000, 3000000, 2000000), (1000, 1000, 1000)):
            expect(profile.period == period, f"the interval of {name} is {profile.period}")
            expect(stacks(profile) == outer_and_inner("threaded", times), f"{name}: {stacks(profile)}")
            threads = {sample.labels["thread_id"] for sample in profile.samples}
            expect(len(threads) == (2 if name == "common" else 1), f"{name} is of {len(threads)} threads")
        expect((first.period, second.period) == (1000000, 4000000), f"intervals {first.period}, {second.period}")
        expect(stacks(pprof.read(path / "gone.pb.gz")) == outer_and_inner("gone", 10), "gone")
        expect(not pprof.read(path / "nothing.pb.gz").samples, "nothing has samples")
        expect(b"host.tick" in pprof.read(path / "calls.pb.gz").raw, "host calls are not in the profile")
        report = Run([str(GUESTPROF), "report", str(path / "nothing.pb.gz")])
        expect(report.status == 3, f"report of an empty profile: status {report.status}")


def by_labels(profile, *keys):
    """The labels KEYS of samples, in that order, to number of samples."""
    counts = {}
    for sample in profile.samples:
        labels = tuple(sample.labels.get(key) for key in keys)
        counts[labels] = counts.get(labels, 0) + sample.count
    return counts


@test("prepared sets: labels, wasm.h and components on wasmtime 50")
def handles():
    with folder() as path:
        run = Run([str(HOSTS / NEWEST / "handles"), str(path)],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        read = {name: pprof.read(path / f"{name}.pb.gz") for name in ("labels", "store", "plain", "component")}

        found = by_labels(read["labels"], "tenant", "tier")
        expect(found == {(None, None): 2 + 64, ("acme", None): 4, ("acme", "free"): 8, ("beta\\x0a", "free"): 16,
                         (None, "free"): 32}, f"labels: {found}")
        found = by_labels(read["store"], "t")
        expect(found == {("all",): 2 + 4, ("second",): 8, (None,): 16}, f"of a store: {found}")
        found = by_labels(read["plain"], "tenant")
        expect(found == {(None,): 2, ("acme",): 4}, f"of wasm.h: {found}")
        expect(stacks(read["plain"]) == outer_and_inner("plain", 3), f"plain: {stacks(read['plain'])}")

        chains = stacks(read["component"])
        expect(chains == {("upper", "lower"): 3, **outer_and_inner("extra", 4)}, f"component: {chains}")
        expect(b"unwanted" not in read["component"].raw, "the name of an unlisted module was stored")
        found = by_labels(read["component"], "tenant", "wasm_module")
        expect(found == {(None, "pair"): 1, ("acme", "pair{tenant=acme}"): 2, (None, "extra"): 8},
               f"of a component: {found}")
        report = Run([str(GUESTPROF), "report", str(path / "labels.pb.gz")])
        expect("tenant=acme tier=free" in report.stdout, f"no row of the labels:\n{report.stdout}")


@test("prepared sets: without the preload every call says so")
def not_loaded():
    with folder() as path:
        source, program = path / "x.c", path / "x"
        source.write_text('#include "preload/guestprof.h"\nint main(void) { return '
                          "guestprof_profile_sample(NULL, 1) == GUESTPROF_NOT_LOADED && "
                          "guestprof_instance_label(GUESTPROF_STORE, NULL, NULL, \"k\", \"v\") == "
                          "GUESTPROF_NOT_LOADED ? 0 : 1; }\n")
        built = Run(["gcc", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-o", str(program), str(source)])
        expect(built.status == 0, tail(built.stderr))
        expect(Run([str(program)]).status == 0, "not told that guestprof is not loaded")
        cpp = Run(["g++", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-fsyntax-only", "-x", "c++", str(source)])
        expect(cpp.status == 0, tail(cpp.stderr))


@test("prepared sets: from Python, through the table of function pointers")
def python():
    with folder() as path:
        run = Run([str(PYTHON), str(ROOT / "tests/api/prepared.py"), str(path / "py.pb.gz")],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT=str(path / "own.pb"), GUESTPROF_HZ="500"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        made = pprof.read(path / "py.pb.gz")
        expect(stacks(made) == {("work",): 25}, f"{stacks(made)}")
        expect(by_labels(made, "tenant") == {(None,): 10, ("acme",): 15}, f"{by_labels(made, 'tenant')}")
        # the process's own recording: as much CPU time before the label as after it
        recording = next(path.glob("own.pb*"))
        found = by_labels(pprof.read(recording), "tenant")
        expect(set(found) == {(None,), ("acme",)}, f"labels of the recording: {found}")
        share, total = found[("acme",)] / sum(found.values()), sum(found.values())
        expect(abs(share - 0.5) < 4 * (0.25 / total) ** 0.5 + 0.1, f"{share:.2f} of {total} samples are labelled")
        report = Run([str(GUESTPROF), "report", str(recording)])
        expect("tenant=acme" in report.stdout, f"no row of the label:\n{report.stdout}")


@test("prepared sets: from Rust, through the table of function pointers")
def rust():
    program = HOSTS / NEWEST / "prepared_rs"
    if not program.exists():
        raise harness.Skip("no rustc here: scripts/setup test installs one")
    with folder() as path:
        run = Run([str(program), str(path / "rs.pb.gz")], env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        made = pprof.read(path / "rs.pb.gz")
        expect(stacks(made) == {("work",): 25}, f"{stacks(made)}")
        expect(by_labels(made, "tenant") == {(None,): 10, ("acme",): 15}, f"{by_labels(made, 'tenant')}")


@test("prepared sets: GUESTPROF_MODULES lists as a set does, without code")
def listed_without_code():
    with folder() as path:
        run = Run([str(PYTHON), str(ROOT / "tests/api/listed.py"), str(path / "set.pb.gz")],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT=str(path / "own.pb"), GUESTPROF_HZ="500",
                                  GUESTPROF_MODULES="wanted_*", GUESTPROF_STACKS="guest"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        of_set, own = pprof.read(path / "set.pb.gz"), pprof.read(next(path.glob("own.pb*")))
        expect(stacks(of_set) == {("wanted_outer", "wanted_leaf"): 20}, f"of the set: {stacks(of_set)}")
        # what is sampled between the calls is a shorter part of the same chain
        chains = stacks(own)
        expect(max(chains, key=chains.get) == ("wanted_outer", "wanted_leaf"), f"of the process: {chains}")
        expect(set(chains) <= {("wanted_outer", "wanted_leaf"), ("wanted_outer",), ("wanted_leaf",)}, f"{chains}")
        for profile in (of_set, own):
            expect(b"unwanted" not in profile.raw, "the name of an unlisted module was stored")
        # 0.3 s of unwanted_alone beside 0.5 s of the chain
        alone, total = own.stats["unlisted"], sum(chains.values())
        expect(alone > 0 and abs(alone / (alone + total) - 0.375) < 4 * (0.25 / (alone + total)) ** 0.5 + 0.12,
               f"{alone} samples of unlisted modules beside {total}")


@test("prepared sets: guest debugging is refused, with the reason, for that engine's modules only")
def guest_debugging():
    cli = next(iter(sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))), None)
    if cli is None:
        raise harness.Skip("the wasmtime command was not fetched")
    guest = HOSTS / "split.wasm"
    with folder() as path:
        command = f"{cli} run -C cache=n %s --invoke run {guest} 20000"
        plain = Run(["sh", "-c", command % ""])
        run = harness.run_recorded(["sh", "-c", f"{command % '-D guest-debug=y'}; {command % ''}"], path / "out.pb.gz")
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        expect("refused: its engine has guest debugging on" in run.stderr, f"not said why: {tail(run.stderr)}")
        expect(run.stdout == plain.stdout * 2, f"the guest gave {run.stdout!r} instead of {plain.stdout!r} twice")
        recordings = list(path.glob("*.pb*"))
        expect(len(recordings) == 1, f"of the one without debugging there is {recordings}")
        expect(sum(stacks(pprof.read(recordings[0])).values()) > 10, "it has no samples")


@test("prepared sets: the cache on disk, in the next process, and damaged")
def cached():
    wasm = ENGINES / "wasm/toml.wasm"
    if not wasm.exists():
        raise harness.Skip("toml.wasm was not fetched")
    script = f"from wasmtime import Engine, Module; Module.from_file(Engine(), {str(wasm)!r})"
    with folder() as path:
        cache = path / "cache"

        def load():
            run = Run([str(PYTHON), "-c", script],
                      env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none", GUESTPROF_LOG="info",
                                      GUESTPROF_CACHE=f"{cache},16M"))
            expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
            files = list(cache.iterdir())
            expect([file.name for file in files] == [hashlib.sha256(wasm.read_bytes()).hexdigest() + ".gpc"], f"{files}")
            expect(files[0].stat().st_mode & 0o777 == 0o600, "others may read it")
            return files[0], run.stderr

        file, _ = load()
        made, content = file.stat().st_ino, file.read_bytes()
        file, said = load()
        expect(file.stat().st_ino == made and "damaged" not in said, "the second process made it anew")
        file.write_bytes(content[:1000] + b"damage" + content[1006:])
        file, said = load()
        expect("is damaged: made anew" in said and file.read_bytes() == content, f"it stayed damaged: {tail(said)}")


if __name__ == "__main__":
    harness.main()
