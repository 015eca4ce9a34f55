#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jits.py - whatever else makes code: LLVM in a database, Java and .NET hosts, and what hosts write for other tools."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import guests
import harness
import pprof
from harness import ENGINES, HOSTS, LIBRARY, Run, Skip, environment, expect, expect_chains, expect_shares, record, test

SPLIT = HOSTS / "split.wasm"
JNA = pathlib.Path("/usr/share/java/jna.jar")
HZ = 1000
ROWS, PERIOD = 1400000, 70  # of the query; its columns are g % 10 and g % 7
TERMS = range(1, 31)
LEAST_SAMPLES = 30


def is_jit(frame):
    """Of code that nobody but its maker's own word names, or that has no name."""
    return frame.module == "jit" or frame.kind == "jit"


def functions(profile):
    return {frame.name for sample in profile.samples for frame in sample.frames if frame.module == "jit"}


# ---- a database ---------------------------------------------------------------------------------


def postgres():
    found = [path for path in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
             if (path.parent / "lib/llvmjit.so").exists()]
    if not found:
        raise Skip("no PostgreSQL with LLVM: scripts/setup installs it")
    return found[-1]


def as_user(user, command):
    """The server refuses to run as root."""
    return ["setpriv", f"--reuid={user}", "--regid", user, "--clear-groups", *command] if os.geteuid() == 0 else command


class Cluster:
    """A server of its own in a folder, reached by a socket there."""

    def __init__(self, path):
        self.path, self.programs = path, postgres()
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.process = None

    def start(self, **env):
        # a source tree need not be readable by that user
        shutil.copy(LIBRARY, self.path / "library.so")
        if os.geteuid() == 0:
            shutil.chown(self.path, self.user)
        made = Run(as_user(self.user, [str(self.programs / "initdb"), "-D", str(self.path / "data"), "-A", "trust", "-N",
                                       "-U", "postgres", "--no-instructions"]), cwd=self.path)
        expect(made.status == 0, f"initdb: {harness.tail(made.stderr)}")
        always = ["listen_addresses=", "fsync=off", "jit=on", "jit_above_cost=0", "jit_inline_above_cost=0",
                  "jit_optimize_above_cost=0", "max_parallel_workers_per_gather=0", "autovacuum=off"]
        command = [str(self.programs / "postgres"), "-D", str(self.path / "data"), "-k", str(self.path)]
        with open(self.path / "server.log", "wb") as log:
            self.process = subprocess.Popen(
                as_user(self.user, command + [word for setting in always for word in ("-c", setting)]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.path,
                env=environment(LD_PRELOAD=str(self.path / "library.so"), GUESTPROF_HZ=str(HZ),
                                GUESTPROF_OUTPUT=str(self.path / "out.%p.pb"), JITDUMPDIR=str(self.path), **env))
        self.wait_until_ready()

    def log(self):
        return (self.path / "server.log").read_text(errors="replace")

    def query(self, sql, options=""):
        return Run([str(self.programs / "psql"), "-h", str(self.path), "-U", "postgres", "-X", "-q", "-At", "-c",
                    "select pg_backend_pid()", "-c", sql, "postgres"], env=environment(PGOPTIONS=options))

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        # without code that a tick could meet
        while self.query("select 1", "-c jit=off").status != 0:
            expect(self.process.poll() is None and time.monotonic() < deadline, f"no server: {harness.tail(self.log())}")
            time.sleep(0.05)

    def stop(self):
        """Fast shutdown: the server ends its own children, and waits for them."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            raise harness.Failure(f"the server does not stop: {harness.tail(self.log())}")


def expected_sum():
    return ROWS // PERIOD * sum((g % 10 * k + g % 7) % (k + 3) for g in range(1, PERIOD + 1) for k in TERMS)


def summing():
    terms = "+".join(f"(a*{k}+b)%{k + 3}" for k in TERMS)
    return f"select sum({terms}) from (select g%10 a, g%7 b from generate_series(1,{ROWS}) g) t"


def expect_leaves(profile, name, what):
    counts = {}
    for sample in profile.samples:
        leaf = sample.frames[-1]
        if leaf.kind in ("guest", "jit"):
            counts[leaf.name] = counts.get(leaf.name, 0) + sample.count
    total = sum(counts.values())
    expect(total >= LEAST_SAMPLES, f"{what}: only {total} samples: {counts}")
    named = sum(count for leaf, count in counts.items() if re.fullmatch(name, leaf))
    expect(named >= 0.9 * total, f"{what}: {named} of {total} end in {name}: {counts}")


QUERIES = {
    "": r"\[jit 0x[0-9a-f]+\+0x[0-9a-f]+\]",
    "-c jit_debugging_support=on": r"evalexpr_\d+_\d+",  # by the list for debuggers
    "-c jit_profiling_support=on": r"evalexpr_\d+_\d+",  # by jit-PID.dump
}


@test("PostgreSQL: functions of LLVM by address, by the list for debuggers, by jitdump")
def database():
    with harness.folder() as path:
        cluster, pids = Cluster(path), {}
        try:
            cluster.start()
            for options in QUERIES:
                run = cluster.query(summing(), options)
                words = run.stdout.split()
                expect(run.status == 0 and words[1:] == [str(expected_sum())],
                       f"{options}: {run.stdout!r}: {harness.tail(run.stderr)}")
                pids[words[0]] = options
        finally:
            cluster.stop()
        expect("terminated by signal" not in cluster.log(), harness.tail(cluster.log()))
        # one of each process that ran such code, and of no other
        files = {file.name.split(".")[1]: file for file in path.glob("out.*")}
        expect(set(files) == set(pids), f"recordings of {sorted(files)}, not of {sorted(pids)}: {harness.tail(cluster.log())}")
        for pid, options in pids.items():
            expect_leaves(pprof.read(files[pid]), QUERIES[options], options or "without names")


# ---- virtual machines that load an engine -------------------------------------------------------


def engine():
    return ENGINES / f"wasmtime-{harness.NEWEST}"


def java(*words, options=()):
    if not JNA.exists() or not (HOSTS / "java/Guest.class").exists():
        raise Skip("no Java with JNA: scripts/setup installs it")
    return ["java", "-XX:+UseSerialGC", *options, "-cp", f"{HOSTS / 'java'}:{JNA}", "Guest",
            str(engine() / "libwasmtime.so"), str(SPLIT), *words]


def dotnet(*words, options=()):
    if shutil.which("mono") is None or not (HOSTS / "Guest.exe").exists():
        raise Skip("no Mono: scripts/setup installs it")
    return ["mono", *options, str(HOSTS / "Guest.exe"), str(SPLIT), *words]


WITH_LIBRARY = {"LD_LIBRARY_PATH": str(engine())}


def expect_split(profile):
    """The known shares of the guest, whatever else there is. 1.5 s of the clock."""
    module = {name for name in profile.counts("wasm_module") if name and name.startswith("split@")}
    expect(len(module) == 1, f"modules {dict(profile.counts('wasm_module'))}")
    leaves = {}
    for sample in profile.samples:
        if sample.labels.get("wasm_module") in module and sample.frames[-1].kind == "guest":
            leaves[sample.frames[-1].name] = leaves.get(sample.frames[-1].name, 0) + sample.count
    expect(sum(leaves.values()) >= 300, f"{leaves}")
    expect_shares(leaves, guests.SPLIT_SHARES, slack=0.02)


def expect_no_jit(profile):
    strange = {frame.name for sample in profile.samples for frame in sample.frames if is_jit(frame)}
    expect(not strange, f"code of others is shown as guests: {sorted(strange)[:5]}")


@test("Java, by JNA: the guest alone, and not what the virtual machine compiles")
def java_alone():
    profile = record(java("cpu_ms=1500"), hz=HZ)
    expect_chains(profile, guests.SPLIT_CHAINS, least=0.99)
    expect_split(profile)
    expect_no_jit(profile)


@test(".NET (Mono), by P/Invoke: the guest alone, and not what the runtime compiles")
def dotnet_alone():
    env = environment(**WITH_LIBRARY)
    profile = record(dotnet("cpu_ms=1500"), hz=HZ, env=env, compare=False)
    expect(profile.run.stdout == "done\n" and profile.run.host_stderr == "", harness.tail(profile.run.stderr))
    expect_chains(profile, guests.SPLIT_CHAINS, least=0.99)
    expect_split(profile)
    expect_no_jit(profile)


def pid_of(run):
    found = re.search(r"^guestprof: \S+?\[(\d+)\]", run.stderr, re.M)
    expect(found, harness.tail(run.stderr))
    return found.group(1)


def remove_perf_map(pid):
    """/tmp/perf-PID.map, which those who write it leave."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"/tmp/perf-{pid}.map")


def with_perf_map(command, env=None):
    """The host writes one."""
    profile = record(command, hz=HZ, env=env, compare=False)
    remove_perf_map(pid_of(profile.run))
    expect(profile.run.stdout == "done\n", harness.tail(profile.run.stderr))
    expect_split(profile)
    return profile


@test("Java with a perf map: its functions by name, beside the guest")
def java_named():
    # compiled for good by the time that the map is written, which knows nothing of later code
    profile = with_perf_map(java("cpu_ms=1500", "perfmap", options=["-XX:+PreserveFramePointer", "-Xbatch"]))
    expect("long Guest.busy(long, int)" in functions(profile), f"names {sorted(functions(profile))[:20]}")


@test(".NET (Mono) with a perf map that grows: its functions by name, beside the guest")
def dotnet_named():
    profile = with_perf_map(dotnet("cpu_ms=1500", options=["--jitmap"]), environment(**WITH_LIBRARY))
    expect("Guest:Busy (long,int)" in functions(profile), f"names {sorted(functions(profile))[:20]}")


# ---- engines that we know write them too --------------------------------------------------------


def beside(strategy):
    """What the engine's image says is better: its functions are its module's."""
    found = sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))
    if not found:
        raise Skip(f"no wasmtime command in {ENGINES}")
    with harness.folder() as path:
        profile = record([found[-1], "run", "-C", "cache=n", f"--profile={strategy}", SPLIT], hz=HZ, cwd=path, compare=False)
        expect(profile.run.status == 0, harness.tail(profile.run.stderr))
        if strategy == "jitdump":
            expect(list(path.glob("jit-*.dump")), "the engine wrote no jit-PID.dump")
    remove_perf_map(pid_of(profile.run))
    expect_chains(profile, guests.COMMAND_CHAINS, least=0.99)
    expect_no_jit(profile)


for each in ("perfmap", "jitdump"):
    test("wasmtime with {}: names of its image", each)(beside)


@test("node with a perf map and no wasm: left alone")
def node_alone():
    found = sorted(ENGINES.glob("node-*/node"))
    if not found:
        raise Skip(f"no node in {ENGINES}")
    with harness.folder() as path:
        run = Run([str(found[-1]), "--perf-basic-prof", "-e", "console.log(process.pid)"], cwd=path,
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT=str(path / "out.pb")))
        remove_perf_map(run.stdout.strip())
        expect(run.status == 0 and run.stderr == "", f"{run.status} {run.stderr!r}")
        expect(not list(path.glob("out.pb*")), "a file was written")


if __name__ == "__main__":
    sys.exit(harness.main())
