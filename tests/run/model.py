#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model.py - the parts without locks in every order of their steps, and that a planted fault is found.

tests/model/ has the programs, each with its property in words: the ring between a handler and our
thread, the code ranges that handlers walk with, modules that come and go. They run the real code,
its atomic operations turned into steps, under sequential consistency. Weaker orders are for the
unit tests under ThreadSanitizer (THREAD_ROOMS of scripts/test-runner): ring_test's
handler_and_reader_agree and ranges_test's nothing_is_freed_under_a_reader fail there when a release
or an acquire is missing.
"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
from harness import ROOT, Run, Skip, expect, tail

FLAGS = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Wno-unused-value", "-Werror", "-D_GNU_SOURCE"]
WRAPPED = ",".join("--wrap=" + name for name in ("malloc", "calloc", "realloc", "strdup", "free", "clock_gettime"))
ROOMS = ["load", "sig", "base", "symtab"]
SIG = [f"preload/sig/{name}.c" for name in ("ring", "ranges", "thread")]
SEARCH = ["tests/model/explore.c", "tests/model/memory.c"]
# The program, and the code that it puts into steps.
MODELS = {
    "ring": SIG[:1],
    "ranges": [*SIG[1:], "preload/load/publish.c"],
    "loads": [*SIG, "preload/intake.c",
              *(f"preload/load/{name}.c" for name in ("publish", "registry", "load", "work", "frames"))],
}
# What the search must find: the model, what is wrong, the file, its text, and what takes its place.
PLANTED = [
    ("ring", "a pad is not counted when room is looked for", "preload/sig/ring.c",
     "if (size + pad > ring->size", "if (size > ring->size"),
    ("ring", "a pad is read as a sample", "preload/sig/ring.c",
     "if (sample->kind != SAMPLE_PAD)", "if (1)"),
    ("ring", "a sample is shown before it is written", "preload/sig/ring.c",
     "\tring->reserved = head + pad;\n",
     "\tring->reserved = head + pad;\n\tatomic_store(&ring->head, head + pad + size);\n"),
    ("ranges", "an array is taken before that is shown", "preload/sig/thread.c",
     "\tatomic_store_explicit(&thread->generation, ANY_GENERATION, memory_order_seq_cst);\n", ""),
    ("ranges", "a handler hides what the wrapper below it holds", "preload/sig/thread.c",
     "if (*before != 0)\n", "if (*before == 1000)\n"),
    ("ranges", "a handler takes away what the wrapper below it shows", "preload/sig/thread.c",
     "&thread->generation, before, memory_order_release", "&thread->generation, before & 0, memory_order_release"),
    ("ranges", "an array is freed that is still the oldest in use", "preload/load/publish.c",
     "->generation >= oldest", "->generation > oldest"),
    ("loads", "a sample is taken before the loads that it came after", "preload/intake.c",
     "if (sample->generation > self.worked", "if (sample->generation > self.worked + 1000"),
    ("loads", "an image is taken for another of its sizes", "preload/load/registry.c",
     "a->fingerprint == b->fingerprint", "true"),
    ("loads", "a module is forgotten as soon as it ended", "preload/load/work.c",
     "symtab_forget(symtab, drained)", "symtab_forget(symtab, UINT64_MAX)"),
]


def must(command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=300)
    expect(done.returncode == 0, f"{command[0]}: {tail(done.stdout)}")


def compiled(source, folder, text=None):
    """The object file of SOURCE, or of TEXT in its place."""
    file = ROOT / source
    if text is not None:
        file = folder / source.replace("/", "-")
        file.write_text(text)
    result = folder / (source.replace("/", "-") + ".o")
    steps = [] if source in SEARCH else ["-include", "tests/model/steps.h"]
    must(["gcc", *FLAGS, f"-I{ROOT}", *steps, "-c", "-o", result, file])
    return result


def linked(model, folder, objects):
    program = folder / model
    archives = [harness.BUILD / f"rooms/{room}.a" for room in ROOMS]
    must(["gcc", "-o", program, *objects, "-Wl,--start-group", *archives, "-Wl,--end-group", f"-Wl,{WRAPPED}",
          "-l:libz.a", "-l:libiberty.a", "-lpthread", "-ldl"])
    return program


_built = {}


def built():
    """Object files by source; those of the models' programs too. Made once."""
    if not _built:
        if shutil.which("gcc") is None:
            raise Skip("no gcc")
        folder = harness.BUILD / "model"
        folder.mkdir(exist_ok=True)
        must(["make", "-s", f"-j{os.cpu_count()}", "-C", ROOT, f"BUILD={harness.BUILD}",
              *(harness.BUILD / f"rooms/{room}.a" for room in ROOMS)])
        sources = {*SEARCH, *(f"tests/model/{model}_model.c" for model in MODELS)}
        sources.update(source for some in MODELS.values() for source in some)
        _built.update({source: compiled(source, folder) for source in sorted(sources)})
    return _built


def objects_of(model, replaced=None):
    sources = [*SEARCH, f"tests/model/{model}_model.c", *MODELS[model]]
    return [(replaced or {}).get(source, built()[source]) for source in sources]


def holds(model):
    with harness.folder() as folder:
        run = Run([str(linked(model, folder, objects_of(model)))], timeout=300)
    expect(run.status == 0, f"{run.status}: {run.stdout[:6000]}")
    states = sum(int(line.split(": ")[1].split()[0]) for line in run.stdout.splitlines())
    print(f"# {model}: {states} states", flush=True)


def found(model, source, text, other):
    content = (ROOT / source).read_text()
    expect(content.count(text) == 1, f"{source} has {text!r} {content.count(text)} times: plant another fault")
    with harness.folder() as folder:
        planted = compiled(source, folder, content.replace(text, other))
        run = Run([str(linked(model, folder, objects_of(model, {source: planted})))], timeout=300)
    lines = run.stdout.splitlines()
    broken = [line for line in lines if line.startswith("broken: ")]
    expect(run.status == 1 and broken, f"not found: {run.status}: {tail(run.stdout)}")
    steps = sum(line.startswith("  ") for line in lines)
    expect(steps > 3 and "too m" not in broken[0], f"no order is shown: {tail(run.stdout)}")
    print(f"# {broken[0]}; {steps} steps", flush=True)


for one in MODELS:
    harness.test("model: every order of the steps: {}", one)(holds)
for one in PLANTED:
    harness.test(f"model: a planted fault is found: {one[1]}", one[0], *one[2:])(found)

if __name__ == "__main__":
    sys.exit(harness.main())
