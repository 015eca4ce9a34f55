#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""v8.py - node: wasm of V8's two compilers, the JavaScript that calls it, workers, code that goes."""

import concurrent.futures
import json
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
from harness import ENGINES, HOSTS, LIBRARY, ROOT, Run, cpu_ms_for, environment, expect, expect_shares, record, test

NODES = {version: ENGINES / f"node-{version}" / "node" for version in ("20.20.2", "26.12.1")}
SCRIPTS = ROOT / "tests/host/node"
LEAST_SAMPLES = 5000
STARTS = 12
CHURN_KINDS = 5


def binary(version):
    if not NODES[version].exists():
        raise harness.Skip(f"no node {version}: scripts/setup fetches it")
    return str(NODES[version])


def node(version, script, *words):
    return [binary(version), *[w for w in words if w.startswith("-")], str(SCRIPTS / script),
            *[w for w in words if not w.startswith("-")]]


def guest(version, *words):
    return node(version, "guest.js", str(HOSTS / "apart.wasm"), *words)


def is_apart(module):
    return module is not None and module.startswith("apart@")


def names(frames, is_module):
    return tuple(frame.name for frame in frames if frame.kind == "guest" and is_module(frame.module))


def expect_whole(profile, least=0.99):
    """The guest's part of its stacks is legal, and right above it is the function that calls it. Returns self counts."""
    good = total = 0
    leaves, strange = {}, {}
    for sample in profile.samples:
        if not is_apart(sample.labels.get("wasm_module")) or sample.labels.get("wasm_state") != "guest":
            continue
        chain = names(sample.frames, is_apart)
        callers = names(sample.frames, lambda module: module == "js")
        total += sample.count
        leaves[chain[-1]] = leaves.get(chain[-1], 0) + sample.count
        if chain in guests.SPLIT_CHAINS and callers and callers[-1].startswith("turn ") and "guest.js:" in callers[-1]:
            good += sample.count
        else:
            strange[callers[-1:] + chain] = strange.get(callers[-1:] + chain, 0) + sample.count
    worst = sorted(strange.items(), key=lambda pair: -pair[1])[:3]
    expect(total > 0, f"no samples of the guest: {dict(profile.counts('wasm_module'))}")
    expect(good >= least * total, f"{good} of {total} stacks are whole: {worst}")
    return leaves


def compilers(profile, prefix):
    """Which of V8's compilers made the sampled functions that are called like that, by V8's full names."""
    full = {profile.strings[row.get(3, 0)] for row in profile.functions.values()}
    return {name.rpartition("-")[2] for name in full if name.startswith(prefix)}


def shares(version, where):
    profile = record(guest(version, cpu_ms_for(LEAST_SAMPLES), *where))
    leaves = expect_whole(profile)
    expect(sum(leaves.values()) >= LEAST_SAMPLES * 0.5, f"only {sum(leaves.values())} samples")
    expect_shares(leaves, guests.SPLIT_SHARES, slack=0.01)
    expect("turbofan" in compilers(profile, "inner-"), f"compilers: {compilers(profile, 'inner-')}")
    expect(profile.stats.get("code_dropped", 0) == 0, f"{profile.stats.get('code_dropped')} functions dropped")
    cells.measured("V8 (node)", harness.major(version), "modules", "the events that it has for debuggers")
    cells.at_least("V8 (node)", harness.major(version), "names", cells.named(profile), 0.99)
    cells.measured("V8 (node)", harness.major(version), "stacks", "99 %")  # expect_whole(): with the callers in JavaScript
    expect(not profile.counts("wasm_instance").keys() - {None}, f"instances {profile.counts('wasm_instance')}")
    cells.measured("V8 (node)", harness.major(version), "instances", "per module")


def churn(version):
    """No two modules alike, most of them gone when the next is made; addresses are used again."""
    profile = record(node(version, "churn.js", "--expose-gc", "cpu_ms=1500"))
    counts, odd = {}, 0
    for sample in profile.samples:
        wasm = [frame for frame in sample.frames if frame.kind == "guest" and frame.module.startswith("wasm (v8)")]
        if not wasm or sample.labels.get("wasm_state") != "guest":
            continue
        name = wasm[-1].name
        if len(wasm) > 1 or not name.startswith("hot_"):
            odd += sample.count
        counts[name] = counts.get(name, 0) + sample.count
    total = sum(counts.values())
    expect(total >= 500, f"only {total} samples in wasm: {counts}")
    expect(odd <= 0.01 * total + 3, f"{odd} of {total} stacks are strange: {counts}")
    known = {f"hot_{kind}": (kind + 1) / sum(range(CHURN_KINDS + 1)) for kind in range(CHURN_KINDS)}
    expect_shares(counts, known, slack=0.04)
    expect("liftoff" in compilers(profile, "hot_"), f"compilers: {compilers(profile, 'hot_')}")


def starts(version):
    """Starts are where it could go wrong: V8 is not ready for us when the host opens its first files."""
    def start(number):
        words = ["cpu_ms=%d" % (number % 3 * 20)] + (["worker"] if number % 2 else [])
        return Run(guest(version, *words),
                   env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none", GUESTPROF_HZ="1000"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for run in pool.map(start, range(STARTS)):
            expect(run.status == 0 and run.stdout == "done\n",
                   f"status {run.status}, {run.stdout!r}: {harness.tail(run.stderr)}")


def quiet(version):
    """Only JavaScript: no thread of ours, no line, no file."""
    with harness.folder() as path:
        script = path / "threads.js"
        script.write_text("const fs = require('fs');\n"
                          "JSON.parse(fs.readFileSync(__dirname + '/a.json'));\n"
                          "setTimeout(() => {\n"
                          "  const names = fs.readdirSync('/proc/self/task').map(\n"
                          "    (tid) => fs.readFileSync(`/proc/self/task/${tid}/comm`, 'utf8').trim());\n"
                          "  console.log(names.includes('guestprof'));\n"
                          "}, 20);\n")
        (path / "a.json").write_text("{}")
        run = Run([binary(version), str(script)], cwd=path,
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT=str(path / "out.pb")))
        expect((run.status, run.stdout, run.stderr) == (0, "false\n", ""), f"{run.status} {run.stdout!r} {run.stderr!r}")
        expect(not list(path.glob("out.pb*")), "a file was written")


def beside_cpu_prof(version):
    """node's own profiler takes SIGPROF: it gets its profile, and the host its result."""
    with harness.folder() as path:
        profile = record(guest(version, "--cpu-prof", f"--cpu-prof-dir={path}", "cpu_ms=700"))
        files = list(path.glob("*.cpuprofile"))
        expect(files, "node wrote no profile")
        # that of the run without us, which is short, is there too
        names_there = {row["callFrame"]["functionName"] for file in files for row in json.loads(file.read_text())["nodes"]}
        expect({"inner", "turn"} <= names_there, f"node's own profile has {sorted(names_there)[:20]}")
    expect_whole(profile)


def exits(version):
    """process.exit() in the middle: the status is the host's, and the recording is whole."""
    with harness.folder() as path:
        script = path / "exit.js"
        script.write_text("const fs = require('fs');\n"
                          f"const m = new WebAssembly.Module(fs.readFileSync({json.dumps(str(HOSTS / 'apart.wasm'))}));\n"
                          "const { run } = new WebAssembly.Instance(m).exports;\n"
                          "while (process.cpuUsage().user < 300000) run(100);\n"
                          "process.exit(7);\n")
        profile = record([binary(version), str(script)])
    expect(profile.run.status == 7, f"status {profile.run.status}")
    expect(profile.total() >= 50, f"{profile.total()} samples")


def foreseen(version):
    """doctor says beforehand that it will be seen, and what not."""
    run = Run([str(harness.GUESTPROF), "doctor", "--json", "--", *guest(version, "cpu_ms=1")])
    told = json.loads(run.stdout)
    engines = [(engine["engine"], engine["seen_by"]) for engine in told["engines"]]
    expect(run.status == 1 and ("V8", "events") in engines, f"status {run.status}, {engines}")


for each in NODES:
    test("node {} shares, stacks and the calling JavaScript", each)(lambda version: shares(version, []))
    test("node {} the same in a worker", each)(lambda version: shares(version, ["worker"]))
    test("node {} modules that come and go", each)(churn)
    test("node {} {} starts", each, STARTS)(lambda version, _: starts(version))
    test("node {} without wasm we are not there", each)(quiet)
    test("node {} --cpu-prof beside us", each)(beside_cpu_prof)
    test("node {} process.exit", each)(exits)
    test("node {} doctor", each)(foreseen)

if __name__ == "__main__":
    sys.exit(harness.main())
