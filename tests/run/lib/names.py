# SPDX-License-Identifier: MIT
"""names.py - our names of functions beside those of the engine's own guest profiler.

Every name of a corpus is put into a binary that calls a function of that name, and the engine
(libwasmtime, wasmtime_guestprofiler) is asked what it calls it. Names are equal, or in a class
that has a name and a reason; what is left counts as unexplained.
"""

import json
import re
import shutil
import subprocess

import harness
import wasmnames
from harness import ENGINES, GUESTPROF, HOSTS, Run, Skip, expect

GUESTS = ENGINES / "wasm"
LIBSTDCXX = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"

# The share of unexplained names that is allowed, by mangling.
ALLOWED = {"Rust legacy": 0.002, "Rust v0": 0.01, "C++": 0.03, "plain": 0}

# What the mangling's special names are short for: libiberty shows what the programmer wrote.
SHORT = {f"std::basic_{name}<char, std::char_traits<char> >": f"std::{name}" for name in ("istream", "ostream", "iostream")}


def mangling(raw):
    if raw.startswith(b"_R"):
        return "Rust v0"
    if re.match(rb"_?_ZN.*17h[0-9a-f]{16}E", raw):
        return "Rust legacy"
    return "C++" if raw.startswith((b"_Z", b"__Z")) else "plain"


def engine_names(names, path):
    """What the engine calls functions of these names, in their order."""
    binary, profile = path / "names.wasm", path / "names.json"
    binary.write_bytes(wasmnames.binary(names))
    run = Run([str(HOSTS / "guestnames"), str(binary), str(profile)])
    expect(run.status == 0, f"guestnames: {run.stderr}")
    thread = json.loads(profile.read_text())["threads"][0]
    functions = [thread["frameTable"]["func"][frame] for frame in thread["stackTable"]["frame"]]
    shown = [thread["stringArray"][name] for name in thread["funcTable"]["name"]]
    stacks = thread["samples"]["stack"]
    # the first sample is at the entry of `run`, then each function has one at its own
    expect(len(stacks) == len(names) + 1, f"{len(stacks)} samples of {len(names)} functions")
    return [shown[functions[stack]] for stack in stacks[1:]]


def our_names(path):
    run = Run([str(GUESTPROF), "id", "--names", "--json", str(path / "names.wasm")])
    expect(run.status == 0, run.stderr)
    return {row["function"]: row["name"] for row in json.loads(run.stdout)["functions"]}


def llvm_names(names):
    tool = shutil.which("llvm-cxxfilt") or shutil.which("llvm-cxxfilt-14")
    expect(tool, "llvm-cxxfilt is not there")
    text = b"\n".join(names) + b"\n"
    done = subprocess.run([tool], input=text, capture_output=True, timeout=harness.TIMEOUT, check=True)
    return done.stdout.decode(errors="replace").splitlines()


def tidy(name):
    """Without what is only a manner of writing."""
    for long, short in SHORT.items():
        name = name.replace(long, short)
    name = name.replace("decltype(nullptr)", "std::nullptr_t").replace("(anonymous namespace)", "{anonymous}")
    return name.replace(" ", "")


def shortened(theirs):
    for long, short in SHORT.items():
        theirs = theirs.replace(long, short)
    return theirs


def classify(ours, theirs, llvm):
    """The class of a name that is not equal; None when nobody knows."""
    if len(theirs.encode()) > 8191 and ours[:8000] == theirs[:8000]:
        return "longer than 8,191 bytes: ours is cut, with a hash"
    if shortened(theirs) == ours:
        return "std::istream, where the engine writes the template out"
    if ours.replace("decltype(nullptr)", "std::nullptr_t") == shortened(theirs):
        return "decltype(nullptr), where the engine writes std::nullptr_t"
    if tidy(ours) == tidy(theirs):
        return "spaces, and what is short for a template"
    if llvm is not None and tidy(llvm) == tidy(ours):
        return "the engine resolves a substitution wrongly: LLVM says what we say"
    return None


def compare(names):
    """{mangling: {class: count}}, and examples of what is unexplained."""
    with harness.folder() as path:
        theirs = engine_names(names, path)
        ours = our_names(path)
    different = [i for i, name in enumerate(names) if ours.get(i) != theirs[i]]
    llvm = dict(zip(different, llvm_names([names[i] for i in different]))) if different else {}
    table, examples = {}, []
    for i, name in enumerate(names):
        row = table.setdefault(mangling(name), {})
        which = "equal" if i not in llvm else classify(ours.get(i, ""), theirs[i], llvm[i]) or "unexplained"
        row[which] = row.get(which, 0) + 1
        if which == "unexplained":
            examples.append((name, ours.get(i), theirs[i]))
    return table, examples


def show(corpus, table):
    for kind, row in sorted(table.items()):
        for which, count in sorted(row.items(), key=lambda pair: -pair[1]):
            print(f"#   {corpus:14} {kind:12} {count:6} {100 * count / sum(row.values()):6.2f} %  {which}", flush=True)


def check(corpus, names):
    names = [name for name in names if name]
    table, examples = compare(names)
    show(corpus, table)
    for kind, row in table.items():
        share = row.get("unexplained", 0) / sum(row.values())
        expect(share <= ALLOWED[kind], f"{100 * share:.2f} % of {kind} names unexplained: {examples[:2]}")


def guest(name):
    path = GUESTS / f"{name}.wasm"
    if not path.exists():
        raise Skip(f"{path.name} is not there: scripts/setup test corpora")
    return path


def check_guest(name):
    check(name, list(wasmnames.function_names(guest(name).read_bytes()).values()))


def check_libstdcxx():
    """The symbols of the C++ library itself."""
    done = subprocess.run(["nm", "-D", "--defined-only", LIBSTDCXX], capture_output=True, check=True)
    check("libstdc++", sorted({line.split()[-1].split(b"@")[0] for line in done.stdout.splitlines()}))


# ---- counts ------------------------------------------------------------------------------------------------

def objdump_counts(path):
    """(imported, defined, named) as wasm-objdump has them; None when it cannot read the file. NAMED is None when it
    stops at names that are not in the order of their functions."""
    done = subprocess.run(["wasm-objdump", "-x", str(path)], capture_output=True, timeout=300)
    imported = defined = 0
    named, part = set(), None
    for line in done.stdout.splitlines():
        if not line.startswith(b" "):
            part = line.split(b"[")[0].split(b":")[0]
        elif part == b"Import" and line.startswith(b" - func["):
            imported += 1
        elif part == b"Function" and line.startswith(b" - func["):
            defined += 1
        elif part == b"Custom" and line.startswith(b" - func["):
            named.add(line.split(b"[")[1].split(b"]")[0])
    whole = b"function index out of order" not in done.stderr
    return None if done.returncode else (imported, defined, len(named) if whole else None)


def own_counts(path):
    """The same by our own reading, with empty names, which say nothing, left out."""
    return len({index for index, name in wasmnames.function_names(path.read_bytes()).items() if name})


def check_counts(name):
    path = guest(name)
    run = Run([str(GUESTPROF), "id", "--json", str(path)])
    expect(run.status == 0 and not run.stderr, run.stderr)
    core = json.loads(run.stdout)["files"][0]["modules"][0]["cores"][0]
    ours = core["imported"], core["functions"], core["named"]
    expect(ours[2] == own_counts(path), f"{ours[2]} names, not {own_counts(path)}")
    theirs = objdump_counts(path)
    if theirs is None:
        raise Skip("wasm-objdump cannot read it; only the names were compared")
    if theirs[2] is None:
        theirs = (*theirs[:2], ours[2])
    expect(ours == theirs, f"{ours} imported, defined, named; wasm-objdump has {theirs}")
