#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wasmer.py - wasmer inside a Python module, inside a program, and by its C API.

Its code comes without an image: functions are what the registered unwind tables describe, and their
names are in the bytes that the host gave, or in the file that it opened.
"""

import json
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import guests
import harness
import pprof
from harness import (ENGINES, GUESTPROF, HOSTS, ROOT, Run, Skip, expect, expect_chains, expect_instances,
                     expect_shares, record, test)

SPLIT = HOSTS / "split.wasm"
SHARE_SLACK = 0.01  # beside four standard errors


def sdk(guest):
    return [harness.python_with("wasmer-sdk"), ROOT / "tests/host/wasmer/sdk.py", guest]


# By version: the host that is linked with that libwasmer.
C_HOSTS = {"2.0.0": "wasmer", "7.4.2": "wasmer-7.4.2"}


def c_host(version, *options):
    if not (HOSTS / C_HOSTS[version]).exists():
        raise Skip(f"no libwasmer.so {version} in {ENGINES}" + (": `make test-all` builds it" if version != "2.0.0" else ""))
    return [HOSTS / C_HOSTS[version], SPLIT, "run", *options]


def enough(profile):
    # the guest of the SDK runs for about 2 s of CPU, on a fast machine for one
    least = min(5000, int(0.6 * harness.rate()))
    expect(profile.total() >= least, f"only {profile.total()} samples, not {least}")


def truncated(text):
    return float(re.search(r"truncated (\d+\.\d+) %", text).group(1))


@test("wasmer-sdk for Python: names by the file that was opened")
def python_sdk():
    with harness.folder() as path:
        file = path / "out.pb.gz"
        run = harness.run_recorded(sdk(SPLIT), file, cwd=path)  # the SDK keeps a cache there
        expect(run.status == 0 and run.stdout == "done\n", f"status {run.status}: {harness.tail(run.stderr)}")
        profile, text = pprof.read(file), harness.report(file)
    enough(profile)
    expect_shares(expect_chains(profile, guests.COMMAND_CHAINS, least=0.99), guests.SPLIT_SHARES, slack=SHARE_SLACK)
    expect(re.search(r" s, wasmer\b", text), text[:200])
    expect(truncated(text) <= 1, text[:500])
    cells.measured("wasmer-sdk for Python", "0.5", "modules", "unwind tables that it registers, and the file it opened")
    cells.measure("wasmer-sdk for Python", "0.5", profile, guests.COMMAND_CHAINS)
    expect(not profile.counts("wasm_instance").keys() - {None}, f"instances {profile.counts('wasm_instance')}")
    cells.measured("wasmer-sdk for Python", "0.5", "instances", "per module")


@test("wasmer-sdk for Python: a file that is called otherwise")
def python_unnamed():
    """Nothing tells names then: the functions are still there, by number."""
    with harness.folder() as path:
        shutil.copy(SPLIT, path / "split.bin")
        profile = record(sdk(path / "split.bin"), hz=1000, compare=False, cwd=path)
    (module,) = {name for name in profile.counts("wasm_module") if name}
    functions = [f"{module}!wasm-function[{i}]" for i in range(5)]
    legal = {tuple(reversed(functions[i:])) for i in range(5)}
    expect_shares(expect_chains(profile, legal, least=0.99), dict(zip(functions, (0.7, 0.2, 0.1))), slack=SHARE_SLACK)


@test("dprint: two plugins, compiled and from the cache")
def dprint():
    found = sorted(ENGINES.glob("wasmer-dprint-*/dprint"))
    plugins = [*ENGINES.glob("dprint-*/json.wasm"), ENGINES / "wasm/toml.wasm"]
    if not found or len(plugins) < 2 or not plugins[1].exists():
        raise Skip(f"no wasmer-dprint-*, dprint-*/json.wasm or wasm/toml.wasm in {ENGINES}")
    with harness.folder() as path:
        (path / "dprint.json").write_text(json.dumps({"json": {}, "toml": {}, "plugins": list(map(str, plugins))}))
        (path / "big.json").write_text(json.dumps([{"a": list(range(60)), "b": "x" * 40}] * 6000))
        (path / "big.toml").write_text("".join(f"[table{i}]\nkey   =   {i}\nlist=[1,  2,3]\n" for i in range(6000)))
        env = harness.environment(DPRINT_CACHE_DIR=str(path / "cache"))
        for which in ("compiled", "cached"):
            file = path / f"{which}.pb.gz"
            run = harness.run_recorded([found[-1], "check", "--incremental=false", "big.json", "big.toml"], file, cwd=path, env=env)
            expect(file.exists(), f"{which}: no recording; status {run.status}: {harness.tail(run.stderr)}")
            check_dprint(which, pprof.read(file), harness.report(file))


def check_dprint(which, profile, text):
    modules = profile.counts("wasm_module")
    named = {name.split("@")[0] for name in modules if name}
    expect({"dprint_plugin_json.wasm", "dprint_plugin_toml.wasm"} <= named, f"{which}: modules {dict(modules)}")
    total = good = 0
    for sample in profile.samples:
        if sample.labels.get("wasm_state") != "guest":
            continue
        chain = pprof.guest_chain(sample)
        total += sample.count
        good += sample.count if chain and not any("wasm-function[" in name or "jit" in name for name in chain) else 0
    expect(total >= 300, f"{which}: only {total} samples in guests")
    expect(good >= 0.99 * total, f"{which}: {good} of {total} guest stacks have all their names")
    print(f"# {which}: {total} samples in guests, {dict(modules)}", flush=True)
    expect(re.search(r" s, wasmer \d+\.\d+\.\d+\n", text), f"{which}: {text[:200]}")
    expect(truncated(text) <= 1, f"{which}: {text[:500]}")
    cells.measured("wasmer in dprint", "0.54", "modules", "unwind tables that it registers, and the file it opened")
    cells.at_least("wasmer in dprint", "0.54", "names", cells.named(profile), 0.99)
    cells.at_least("wasmer in dprint", "0.54", "stacks", 1 - truncated(text) / 100, 0.99)
    expect(not profile.counts("wasm_instance").keys() - {None}, f"instances {profile.counts('wasm_instance')}")
    cells.measured("wasmer in dprint", "0.54", "instances", "per module")


def c_api(version):
    command = c_host(version, harness.cpu_ms_for(6000), "instances=2")
    with harness.folder() as path:
        run = harness.run_recorded(command, path / "out.pb.gz")
        harness.same_as_without(run, Run(list(map(str, harness.brief(command)))))
        profile, text = pprof.read(path / "out.pb.gz"), harness.report(path / "out.pb.gz")
    enough(profile)
    expect(re.search(rf" s, wasmer {re.escape(version)}\n", text), text[:200])
    expect(truncated(text) <= 1, text[:500])
    expect_shares(expect_chains(profile, guests.SPLIT_CHAINS, least=0.99), guests.SPLIT_SHARES, slack=SHARE_SLACK)
    cells.measured("wasmer (C API)", harness.major(version), "modules", "its C API")
    cells.measure("wasmer (C API)", harness.major(version), profile, guests.SPLIT_CHAINS)
    expect(len(expect_instances(profile, 2)) == 2, "two instances")
    cells.measured("wasmer (C API)", harness.major(version), "instances", "each")
    expect_shares(profile.counts("wasm_instance"), {name: 0.5 for name in expect_instances(profile, 2)},
                  what="instances", slack=SHARE_SLACK)


def c_api_rounds(version):
    profile = record(c_host(version, "cpu_ms=25", "rounds=20"), compare=False)
    expect_chains(profile, guests.SPLIT_CHAINS, least=0.99)
    modules = [name for name in profile.counts("wasm_module") if name]
    expect(len(modules) == 1, f"modules {modules}")


for row in C_HOSTS:
    test("C API of {}: shares, instances", row)(c_api)
    test("C API of {}: 20 modules, one after another at the same addresses", row)(c_api_rounds)


@test("doctor names it in all of them")
def doctor():
    library = harness.environment(GUESTPROF_LIB=str(harness.LIBRARY))
    for command, said in ((sdk(SPLIT), r"wasmer inside .*libwasmer_sdk"), (c_host("2.0.0"), r"wasmer of a version .*C API"),
                          (c_host("7.4.2") if (HOSTS / C_HOSTS["7.4.2"]).exists() else None, r"wasmer 7\.4\.2: .*C API"),
                          (sorted(ENGINES.glob("wasmer-dprint-*/dprint"))[-1:] or None, r"wasmer 7\.0\.1 inside")):
        if command is not None:
            done = Run([str(GUESTPROF), "doctor", "--", *map(str, command)], env=library)
            expect(re.search(r"\bok engine " + said, " ".join(done.stdout.split())), done.stdout)


if __name__ == "__main__":
    sys.exit(harness.main())
