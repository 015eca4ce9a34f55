#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""identity.py - one identity for the same code, wherever it is met, and no match of what is not the same."""

import collections
import functools
import hashlib
import json
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
import wasmnames
from harness import (ENGINES, GUESTPROF, HOSTS, NEWEST, PYTHON, ROOT, VERSIONS, Run, Skip, expect, host, record,
                     run_recorded, test)

SPLIT = HOSTS / "split.wasm"
TOML = ENGINES / "wasm/toml.wasm"
CLI = ENGINES / "wasmtime-cli-49.0.4/wasmtime"
AGAIN = [PYTHON, ROOT / "tests/host/again.py"]


def tool(*words):
    run = Run([str(word) for word in words])
    expect(run.status == 0, f"{words[0]}: {run.stderr}")
    return run


def identity(path):
    """What `guestprof id` says of a file's only module."""
    run = tool(GUESTPROF, "id", "--json", path)
    modules = json.loads(run.stdout)["files"][0]["modules"]
    expect(len(modules) == 1, f"{len(modules)} modules in {path}")
    return modules[0]


Match = collections.namedtuple("Match", "strength why cores status")


def match(wasm, other):
    run = Run([str(GUESTPROF), "id", "--match", "--json", str(wasm), str(other)])
    expect(run.status in (0, 1), run.stderr)
    row = json.loads(run.stdout)["matches"][0]
    expect((row["strength"] == "no match") == (run.status == 1), f"{row['strength']}, status {run.status}")
    return Match(row["strength"], row["why"], row["cores"], run.status)


def expect_match(wasm, other, strength, why=""):
    found = match(wasm, other)
    expect(found.strength == strength and re.search(why, found.why),
           f"{wasm.name} and {other.name}: {found.strength}: {found.why}; not {strength}: {why}")
    return found


def identities(profile):
    """{(identity, is wasm)} of the mappings of guests."""
    return {(profile.strings[row[6]], bool(row.get(1003))) for row in profile.mappings.values() if row.get(6)}


# ---- one identity --------------------------------------------------------------------------------------------

def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def again(times, engines, *more):
    return record([*map(str, AGAIN), str(SPLIT), "run", str(times), str(engines), *map(str, more)], compare=False)


def expect_one_group(profile, loadings):
    groups = {profile.strings[module] for module, _ in profile.groups if module}
    # (other) is told when it has something
    groups.discard("(other)")
    expect(len(groups) == 1, f"groups {groups}")
    expect(identities(profile) == {(sha256(SPLIT), True)}, f"identities {identities(profile)}")
    seen = {row.get(1000) for row in profile.mappings.values() if row.get(6)}
    expect(len(seen) == loadings, f"{len(seen)} loadings were sampled")
    expect(profile.counts("wasm_module").keys() == groups, f"{profile.counts('wasm_module')}")


@test("the same bytes ten times are one group")
def ten_times():
    expect_one_group(again(10, 1), 10)


@test("two engines, one group")
def two_engines():
    expect_one_group(again(3, 2), 6)


@test("every version, the next process, and the file: one identity")
def all_versions():
    known = identity(SPLIT)
    expect(known["wasm"] == sha256(SPLIT), known["wasm"])
    for version in VERSIONS:
        profile = record(host(version, "split.wasm", "run", "argument=300", "cpu_ms=150"), compare=False)
        expect(identities(profile) == {(known["wasm"], True)}, f"{version}: {identities(profile)}")


def image_identity(version):
    """Compiled, loaded from bytes, loaded from a file, and the file itself."""
    with harness.folder() as path:
        cwasm = path / "split.cwasm"
        made = set()
        for option in (f"cwasm={cwasm}", "serialize"):
            file = path / "out.pb.gz"
            run = run_recorded(host(version, "split.wasm", "run", "argument=300", "cpu_ms=150", option), file)
            expect(run.status == 0, run.stderr)
            module = identity(file)
            expect(module["wasm"] is None and module["code"] is None, f"bytes that nobody showed: {module}")
            made.add(module["image"])
            found = match(SPLIT, file)
            expect(found.strength == "by layout" and found.cores == [{"core": 0, "other": 0, "shift": 0}],
                   f"{option}: {found}")
        run_recorded(host(version, "split.wasm", "run", "argument=300", "cpu_ms=150"), path / "compiled.pb.gz")
        compiled = identity(path / "compiled.pb.gz")
        expect(compiled["wasm"] == sha256(SPLIT) and compiled["code"] == identity(SPLIT)["code"], f"{compiled}")
        made.add(identity(cwasm)["image"])
        expect(len(made) == 1, f"{len(made)} identities of one image: {made}")
        expect_match(SPLIT, path / "compiled.pb.gz", "exact", "the same bytes")
        expect_match(SPLIT, cwasm, "by layout", "6 by name")


@test("compiled, and from a file of the same code: two groups that say how they are known")
def both_ways():
    with harness.folder() as path:
        profile = again(2, 1, path / "split.cwasm")
        file = identity(path / "split.cwasm")["image"]
    expect(identities(profile) == {(sha256(SPLIT), True), (file, False)}, f"{identities(profile)}")
    expect(sum(1010 in row for row in profile.mappings.values()) == 1, "one of the mappings has the layout")


# ---- what matches, and what does not -------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def toml(*options):
    """A real guest, precompiled by the command of wasmtime 49."""
    if not TOML.exists():
        raise Skip("toml.wasm is not there")
    folder = HOSTS / "identity"
    folder.mkdir(exist_ok=True)
    out = folder / ("toml" + "".join(options).replace("=", "").replace("-", "") + ".cwasm")
    tool(CLI, "compile", "-C", "cache=n", *options, TOML, "-o", out)
    return out


STYLES = [(), ("-D", "symbols=n"), ("-O", "opt-level=0")]


def real_guest(*options):
    cwasm = toml(*options)
    found = expect_match(TOML, cwasm, "by layout", "772 functions: 772 by position, 0 by body, 772 by name")
    expect(found.cores == [{"core": 0, "other": 0, "shift": 0}], f"{found.cores}")
    with harness.folder() as path:
        bare = path / "bare.wasm"
        shutil.copy(TOML, bare)
        tool("wasm-strip", bare)
        expect_match(bare, cwasm, "by layout", "772 by position, 0 by body, 0 by name")
        expect_match(bare, TOML, "exact", "the same code section")


@test("a file that wasm-opt made is refused, with the first function that differs")
def optimised():
    with harness.folder() as path:
        for level in ("-O1", "-O3", "--vacuum"):
            other = path / "other.wasm"
            tool("wasm-opt", level, "-g", "--all-features", TOML, "-o", other)
            for subject in (toml(), toml("-D", "symbols=n"), TOML):
                expect_match(other, subject, "no match", r"^function\[\d+\] `.*` ")


@test("another build is refused, with the function that differs")
def another_build():
    text = (ROOT / "tests/host/split.wat").read_text()
    with harness.folder() as path:
        cwasm = path / "split.cwasm"
        file = path / "out.pb.gz"
        run_recorded(host(NEWEST, "split.wasm", "run", "argument=300", "cpu_ms=150", f"cwasm={cwasm}"), file)
        # one instruction more in the third of six functions
        start = text.index("(func", text.index("(func", text.index("(func") + 1) + 1)
        body = re.compile(r"\(local\.get \S+\)").search(text, start)
        changed = text[:body.start()] + f"(i32.add (i32.const 0) {body.group()})" + text[body.end():]
        for name, source in (("changed", changed), ("renamed", text.replace("$middle", "$centre"))):
            wat, other = path / f"{name}.wat", path / f"{name}.wasm"
            wat.write_text(source)
            tool("wat2wasm", "--debug-names", wat, "-o", other)
            for subject in (cwasm, file):
                expect_match(other, subject, "no match", r"^function\[\d\] `\w+` ")
        expect_match(path / "changed.wasm", SPLIT, "no match", r"^function\[\d\] `\w+` has another body")
        expect_match(path / "renamed.wasm", SPLIT, "exact", "the same code section")
        # the same without names is the same code
        tool("wat2wasm", ROOT / "tests/host/split.wat", "-o", path / "bare.wasm")
        expect_match(path / "bare.wasm", cwasm, "by layout", "0 by name")


@test("a component is that of its core modules")
def components():
    component, parts = ROOT / "tests/data/symtab/component.wasm", []
    data = component.read_bytes()
    with harness.folder() as path:
        for number, body in wasmnames.sections(data):
            if number == 1 and body[4:6] == b"\1\0":
                parts.append(path / f"part{len(parts)}.wasm")
                parts[-1].write_bytes(body)
        expect(len(parts) == 3, f"{len(parts)} core modules at the top")
        for version in ("36", "43", "50"):
            cwasm = component.with_name(f"component-{version}.cwasm")
            expect_match(component, cwasm, "by layout", "4 core modules")
            for part, place in ((parts[0], 0), (parts[2], 3)):
                found = expect_match(part, cwasm, "by layout")
                expect(found.cores[0]["other"] == place, f"{part.name} is {found.cores}")
                shift = data.index(part.read_bytes())
                expect(found.cores[0]["shift"] == shift, f"{found.cores}, and it lies at {shift}")
                found = expect_match(part, component, "exact", "the same code section")
                expect(found.cores[0] == {"core": 0, "other": place, "shift": shift}, f"{found.cores}")
            expect_match(SPLIT, cwasm, "no match", r"none of its 4 core modules; of the first, function\[\d\]")


def adapter(version, stacks, *more):
    """Names of the stacks' frames, root first, without the host's."""
    profile = record(host(version, "adapter.wasm", "run", "component", "argument=2000", "cpu_ms=300", *more),
                     compare=False, env=harness.environment(GUESTPROF_STACKS=stacks))
    expect(profile.total() > 200, f"{profile.total()} samples")
    found = collections.Counter()
    for sample in profile.samples:
        found[tuple((f.kind, f.name) for f in sample.frames if f.kind != "host")] += sample.count
    return found


def adapters(version):
    """What the engine made between two components is named as such, and hidden unless all is asked for."""
    glue = ("trampoline", "[between components]")
    for more in ((), ("serialize",)):
        full, plain = adapter(version, "full", *more), adapter(version, "hostcalls", *more)
        between = sum(n for stack, n in full.items() if glue in stack[:-1] and stack[-1] == ("guest", "measure"))
        expect(between > 0.5 * sum(full.values()), f"no adapter below measure: {full.most_common(3)}")
        names = {name for stack in full for kind, name in stack if kind == "guest"}
        expect(names <= {"caller", "measure", "allocate"}, f"guest functions {names}")
        kinds = {kind for stack in plain for kind, _ in stack[:-1]}
        expect(kinds <= {"guest"}, f"kinds below the leaf: {kinds}: {plain.most_common(3)}")
        chain = plain[("guest", "caller"), ("guest", "measure")]
        expect(chain > 0.5 * sum(plain.values()), f"{plain.most_common(3)}")


# ---- names and labels that the user gives --------------------------------------------------------------------

def labelled(path, tenant, **settings):
    """A recording of split.wasm, precompiled into a folder of the tenant's."""
    folder = path / "tenants" / tenant
    folder.mkdir(parents=True, exist_ok=True)
    command = host(NEWEST, "split.wasm", "run", "argument=300", "cpu_ms=150", f"cwasm={folder / 'app.cwasm'}")
    return record(command, compare=False, env=harness.environment(**settings))


@test("labels by path and name")
def labels():
    with harness.folder() as path:
        profile = labelled(path, "acme", GUESTPROF_LABEL="tenant=path:/tenants/([^/]+)/;kind=name:^split;none=name:^x")
    found = {(s.labels.get("tenant"), s.labels.get("kind"), s.labels.get("none")) for s in profile.samples}
    expect(found == {("acme", "split", None)}, f"labels {found}")
    group = [row for row in profile.groups.values() if 9 in row]
    expect(len(group) == 1, f"groups {profile.groups}")


@test("a names file gives names and labels")
def names_file():
    with harness.folder() as path:
        labelled(path, "acme")
        image = identity(path / "tenants/acme/app.cwasm")["image"]
        names = path / "names"
        names.write_text(f'# of the platform\n{image[:12]} "image service" tenant=acme tier=gold\n')
        profile = labelled(path, "acme", GUESTPROF_NAMES=str(names), GUESTPROF_LABEL="tenant=name:split")
    expect(profile.counts("wasm_module").keys() == {"image service"}, f"{profile.counts('wasm_module')}")
    found = {(s.labels.get("tenant"), s.labels.get("tier")) for s in profile.samples}
    expect(found == {("acme", "gold")}, f"labels {found}")
    origins = {row.get(1002, 0) for row in profile.mappings.values() if row.get(6)}
    expect(origins == {4}, f"name origins {origins}")


@test("the same module of two tenants is two groups")
def tenants():
    with harness.folder() as path:
        for tenant in ("acme", "beta"):
            labelled(path, tenant)
        script = path / "two.py"
        script.write_text("""
import sys
from wasmtime import Engine, Instance, Module, Store
engine = Engine()
for path in sys.argv[1:]:
    module = Module.deserialize_file(engine, path)
    store = Store(engine)
    call = Instance(store, module, []).exports(store)["run"]
    for _ in range(100):
        call(store, 300)
""")
        files = [path / "tenants" / tenant / "app.cwasm" for tenant in ("acme", "beta")]
        out = path / "out.pb.gz"
        run_recorded([PYTHON, script, *files], out,
                     env=harness.environment(GUESTPROF_LABEL="tenant=path:/tenants/([^/]+)/"))
        profile = pprof.read(out)
        profile.path = out
        expect(len(identities(profile)) == 1, f"{identities(profile)}")
        rows = json.loads(tool(GUESTPROF, "report", "--json", profile.path).stdout)["groups"]
        expect(sorted(row.get("labels", {}).get("tenant", "") for row in rows) == ["acme", "beta"], f"the report has {rows}")
        text = tool(GUESTPROF, "report", profile.path).stdout
        expect("\n  tenant=acme\n" in text and "\n  tenant=beta\n" in text, text)
    found = {(s.labels["wasm_module"], s.labels.get("tenant")) for s in profile.samples}
    expect({tenant for _, tenant in found} == {"acme", "beta"} and len(found) == 2
           and len({module for module, _ in found}) == 2, f"groups {found}")


@test("id of what is no module is one line")
def bad_files():
    with harness.folder() as path:
        cwasm = (ROOT / "tests/data/symtab/guest-50.cwasm").read_bytes()
        cases = {"empty": b"", "text": b"(module)", "cut": cwasm[:0x3000], "cut-header": cwasm[:100],
                 "wasm": b"\0asm\x99\0\0\0", "elf": open("/bin/true", "rb").read()}
        for name, data in cases.items():
            file = path / name
            file.write_bytes(data)
            for words in (["id"], ["id", "--json"], ["id", "--names"], ["id", "--match", SPLIT]):
                run = Run([str(GUESTPROF), *map(str, words), str(file)])
                expect(run.status == 2 and len(run.stderr.splitlines()) == 1 and run.stderr.startswith("guestprof: "),
                       f"{words} of {name}: status {run.status}: {run.stderr!r}")
        for words in (["id"], ["id", "--match", str(SPLIT)], ["id", "--bad"], ["id", str(path)], ["id", "/nowhere"]):
            run = Run([str(GUESTPROF), *words])
            expect(run.status == 2 and len(run.stderr.splitlines()) == 1, f"{words}: {run.status}: {run.stderr!r}")


for each in VERSIONS:
    test("wasmtime {}: one identity of an image, in every process", each)(image_identity)
for each in VERSIONS:
    if harness.major(each) >= 43:  # the C API's host functions for components, as tests/host uses them
        test("wasmtime {}: adapters between components", each)(adapters)
for style in STYLES:
    test("a real guest and its image" + " {}" * len(style), *style)(real_guest)

if __name__ == "__main__":
    sys.exit(harness.main())
