#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oddnames.py - guests whose names are a burden: Go's, and those that are made to expand without end."""

import itertools
import re
import string
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
import wasmnames
from harness import ENGINES, GUESTPROF, LIBRARY, PYTHON, ROOT, Run, Skip, environment, expect, folder, run_recorded, tail, test

COUNT = 10000


def bombs():
    """COUNT names, none twice: variants of those of the demangler's own test, which say how large they get."""
    text = (ROOT / "tests/unit/symtab/demangle_test.c").read_text()
    rust, cxx = ("".join(re.findall(r'"([^"]*)"', re.search(rf"{name}\[\] =(.*?);", text, re.S).group(1)))
                 for name in ("rust_bomb", "cxx_bomb"))
    names = [rust.replace("1a1b", f"1{a}1{b}", 1) for a, b in itertools.product(string.ascii_lowercase, repeat=2)]
    letters = itertools.product(string.ascii_lowercase, repeat=4)
    while len(names) < COUNT:
        names.append(cxx.replace("4Pair", "4" + "".join(next(letters)), 1))
    expect(len(set(names)) == COUNT and all(len(name) > 200 for name in names), "these are no bombs")
    return [name.encode() for name in names]


def guest(names):
    """Each function of NAMES calls the imported host.tick; `run` calls each, `warm` the first."""
    def section(number, body):
        return bytes([number]) + wasmnames.uleb(len(body)) + body

    def text(value):
        return wasmnames.uleb(len(value)) + value

    count, uleb = len(names), wasmnames.uleb
    calls = b"\0" + b"".join(b"\x10" + uleb(1 + i) for i in range(count)) + b"\x0b"
    warm = b"\0\x10\1\x0b"
    code = uleb(count + 2) + b"\4\0\x10\0\x0b" * count + uleb(len(calls)) + calls + uleb(len(warm)) + warm
    rows = uleb(count) + b"".join(uleb(1 + i) + text(name) for i, name in enumerate(names))
    return (b"\0asm\1\0\0\0" + section(1, b"\1\x60\0\0") + section(2, b"\1" + text(b"host") + text(b"tick") + b"\0\0")
            + section(3, uleb(count + 2) + b"\0" * (count + 2))
            + section(7, b"\2" + text(b"run") + b"\0" + uleb(1 + count) + text(b"warm") + b"\0" + uleb(2 + count))
            + section(10, code) + section(0, text(b"name") + section(1, rows)))


@test("10,000 names that expand without end, all sampled, take under 1 s and show as they are")
def ten_thousand():
    names = bombs()
    with folder() as path:
        wasm, out = path / "bombs.wasm", path / "bombs.pb.gz"
        wasm.write_bytes(guest(names))
        run = Run([str(PYTHON), str(ROOT / "tests/api/bombs.py"), str(wasm), str(COUNT), str(out)],
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none"))
        expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
        print(f"# {float(run.stdout):.2f} s of our thread", flush=True)
        expect(float(run.stdout) < 1, f"{run.stdout.strip()} s")
        shown = {pprof.guest_chain(sample)[-1] for sample in pprof.read(out).samples}
        missing = {name.decode() for name in names} - shown
        expect(not missing, f"{len(missing)} names are not shown as they are, such as {next(iter(missing), '')}")


GO_HOST = """
import sys, time, wasmtime
engine = wasmtime.Engine()
module, store = wasmtime.Module.from_file(engine, sys.argv[1]), wasmtime.Store(engine)
go = wasmtime.Instance(store, module, []).exports(store)
go["_initialize"](store)
body = b"func  %s( a int ,b   int)int{ x:=map[string]int{\\"a\\":1}\\nfor i:=0;i<10;i++{a+=b}\\nreturn a+x[\\"a\\"]}\\n"
source = b"package main\\n" + b"".join(body % b"f%d" % i for i in range(60))
end = time.process_time() + 1
while time.process_time() < end:
    go["memory"].write(store, source, go["alloc"](store, len(source)))
    assert go["format"](store) == 1  # it is not as gofmt has it
    go["dispose"](store)
"""


@test("a Go guest: its names, as Go writes them")
def go_names():
    wasm = ENGINES / "wasm/gofmt.wasm"
    if not wasm.exists():
        raise Skip("gofmt.wasm was not fetched")
    known = {name.decode() for name in wasmnames.function_names(wasm.read_bytes()).values()}
    with folder() as path:
        (path / "host.py").write_text(GO_HOST)
        out = path / "go.pb.gz"
        run = run_recorded([PYTHON, path / "host.py", wasm], out)
        expect(run.status == 0, tail(run.stderr))
        seen = {frame.name for sample in pprof.read(out).samples for frame in sample.frames if frame.kind == "guest"}
        expect(seen <= known, f"names that the file does not have: {sorted(seen - known)[:5]}")
        expect(any(re.match(r"\(\*go/(printer|scanner|parser)\.", name) for name in seen) and len(seen) > 20,
               f"only {sorted(seen)[:20]}")
        report = Run([str(GUESTPROF), "report", str(out)])
        expect(report.status == 0 and "(*go/" in report.stdout, f"no Go name in the report:\n{report.stdout}")


if __name__ == "__main__":
    sys.exit(harness.main())
