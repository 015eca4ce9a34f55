#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases_bytes.py - modules with odd and hostile bytes that a real engine runs all the same. See cases.md."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
import hostile
import pprof
import wasmnames
from cases import case, preloaded
from harness import GUESTPROF, HOSTS, Run, environment, expect, test
from hostile import section, text
from wasmnames import uleb

SPLIT = (HOSTS / "split.wasm").read_bytes()
HUGE = b"\xff\xff\xff\xff\x0f"


def without_names(data):
    """DATA up to its name section, which is the last one."""
    return data[:data.rindex(b"\x04name") - len(uleb(len(data) - data.rindex(b"\x04name"))) - 1]


BARE = without_names(SPLIT)
KNOWN = wasmnames.function_names(SPLIT)
GOOD = section(1, uleb(len(KNOWN)) + b"".join(uleb(i) + text(name) for i, name in sorted(KNOWN.items())))


def named(body, head=b""):
    """The guest with a name section of BODY; HEAD before all sections."""
    return BARE[:8] + head + BARE[8:] + section(0, text(b"name") + body)


def entries(pairs):
    return section(1, uleb(len(pairs)) + b"".join(uleb(i) + text(name) for i, name in pairs))


FIRST = min(KNOWN)
# By what is odd about them.
NAME_SECTIONS = {
    "good": named(GOOD),
    "none": BARE,
    "empty": named(b""),
    "count": named(section(1, HUGE + uleb(FIRST) + text(b"x"))),
    "length": named(section(1, b"\1" + uleb(FIRST) + HUGE + b"x")),
    "past": named(b"\1" + uleb(1000) + b"\1\0\1x"),
    "leb": named(section(1, b"\x81\x80\x80\x80\x80\x80\x80\0" + uleb(FIRST) + text(b"x"))),
    "index": named(entries([(0xffffffff, b"x")] + sorted(KNOWN.items()))),
    "descending": named(entries(sorted(KNOWN.items(), reverse=True))),
    "twice": named(entries([(i, b"first") for i in sorted(KNOWN)] + sorted(KNOWN.items()))),
    "same": named(entries([(i, b"same") for i in sorted(KNOWN)])),
    "blank": named(entries([(i, b"") for i in sorted(KNOWN)])),
    "long": named(entries([(i, b"n%d" % i + b"x" * 100001) for i in sorted(KNOWN)])),
    "unknown": named(section(0x63, b"\1" * 50) + GOOD),
    "locals": named(section(2, uleb(1000000) + b"\0" * 3000000) + GOOD),
    "order": named(section(9, b"\0") + section(7, b"\0") + GOOD + section(0, text(b"late"))),
    "again": named(GOOD) + section(0, text(b"name") + section(1, HUGE)),
    "first": named(GOOD, section(0, text(b"dylink.0") + b"\1\4\0\0\0\0")
                   + section(0, text(b"component-type:x") + b"z" * 90)),
    "utf8": named(entries([(i, b"\xff\xfe%d" % i) for i in sorted(KNOWN)])),
}


@test("66 name sections that lie, run by the engine")
def name_sections():
    """No fault, no memory that the bytes do not account for, and what is sound keeps its names."""
    with harness.folder() as path:
        for name, data in NAME_SECTIONS.items():
            (path / f"{name}.wasm").write_bytes(data)
        command = case("modules", "each", 60, *sorted(path.glob("*.wasm")))
        plain = Run(list(map(str, command)))
        run, files = preloaded(path, command, GUESTPROF_HZ="1000")
        expect(run.status == 0, f"{run.status}: {run.stderr[-300:]}")
        harness.same_as_without(run, plain)
        report = json.loads(Run([str(GUESTPROF), "report", "--json", "-n", "1000", str(files[0])]).output)
        expect(len(report["groups"]) == len(NAME_SECTIONS), f"{len(report['groups'])} groups, not {len(NAME_SECTIONS)}")
        for name in NAME_SECTIONS:
            run = Run([str(GUESTPROF), "id", str(path / f"{name}.wasm")])
            expect(run.status == 0, f"id of {name}: {run.stderr}")
        profile = cases.profile(files)
    for sample in profile.samples:
        for frame in sample.frames:
            expect(len(frame.name) < 8192, f"a name of {len(frame.name)} bytes")
            expect(not hostile.CONTROL.search(frame.name), f"{frame.name!r}")
    names = {frame.name for sample in profile.samples for frame in sample.frames if frame.kind == "guest"}
    expect("inner" in names and any("wasm-function[" in name for name in names), f"{sorted(names)[:20]}")


@test("65 functions of one name stay functions of their own")
def same_names():
    with harness.folder() as path:
        wasm = path / "same.wasm"
        wasm.write_bytes(NAME_SECTIONS["same"])
        profile = harness.record(case("modules", "each", 400, wasm), hz=1000)
    ids = {index for index, function in profile.functions.items() if profile.strings[function.get(2, 0)] == "same"}
    expect(len(ids) >= 3, f"{len(ids)} functions are called `same`")


@test("64 without names exports give them, then numbers")
def no_names():
    with harness.folder() as path:
        wasm = path / "bare.wasm"
        wasm.write_bytes(BARE)
        profile = harness.record(case("modules", "each", 400, wasm), hz=1000)
    names = {frame.name for sample in profile.samples for frame in sample.frames if frame.kind == "guest"}
    expect("run" in names and any(re.search(r"!wasm-function\[\d+\]$", name) for name in names), f"{names}")


@test("77 a module that names files and addresses: none is opened")
def external():
    """A FIFO that nobody writes would stop whoever opens it, a device would never end."""
    with harness.folder() as path:
        fifo = path / "fifo"
        os.mkfifo(fifo)
        for number, target in enumerate((str(fifo), "/dev/zero", "../../../etc/passwd", "http://127.0.0.1:9/x")):
            wasm = path / f"names{number}.wasm"
            wasm.write_bytes(SPLIT + section(0, text(b"external_debug_info") + text(target.encode()))
                             + section(0, text(b"sourceMappingURL") + text(target.encode())))
        command = case("modules", "each", 150, *sorted(path.glob("*.wasm")))
        run, files = preloaded(path, command, timeout=60, GUESTPROF_HZ="1000", GUESTPROF_DEBUG="embed")
        harness.same_as_without(run, Run(list(map(str, command))))
        for words in (["report", "--lines", files[0]], ["export", "--to", "html", "-o", path / "x.html", files[0]],
                      ["symbolize", "--wasm", path / "names0.wasm", "-o", path / "y.pb.gz", files[0]]):
            done = Run([str(GUESTPROF), *map(str, words)], timeout=30)
            expect("root:" not in done.stdout, "a file that a module named was read")
        page = (path / "x.html").read_text(encoding="utf-8") if (path / "x.html").exists() else ""
        expect("root:x:" not in page, "a file that a module named is in the page")


@test("83 a guest that was loaded and never ran, or hardly")
def tiny():
    """No sample: no file. One tick's worth: a file that all read, or none."""
    with harness.folder() as path:
        run, files = preloaded(path, case("modules", "each", 0, HOSTS / "split.wasm"))
        expect(run.status == 0 and not files, f"{run.status}, {files}")
        run, files = preloaded(path, case("modules", "each", 15, HOSTS / "split.wasm"))
        for file in files:
            for words in (["report", file], ["export", "--to", "firefox", "-o", path / "f.json", file],
                          ["export", "--to", "speedscope", "-o", path / "s.json", file],
                          ["export", "--to", "folded", "-o", path / "f.txt", file]):
                done = Run([str(GUESTPROF), *map(str, words)])
                expect(done.status == 0, f"{words}: {done.stderr}")


# ---- names in lines of ours ------------------------------------------------------------------------------------

def nothing_raw(text, what):
    found = hostile.RAW.search(text)
    expect(found is None, f"{what}: {found and text[max(0, found.start() - 30):found.end() + 30]!r}")


@test("86 hostile names: the host's log, lines of record, report and its JSON escape once")
def sinks():
    with harness.folder() as path:
        wasm, file = path / "hostile.wasm", path / "out.pb.gz"
        wasm.write_bytes(hostile.guest())
        run = Run([str(GUESTPROF), "record", "-F", "1000", "-o", str(file), "--",
                   *map(str, case("modules", "each", 800, wasm))], env=environment(GUESTPROF_LOG="debug"))
        expect(run.status == 0, run.stderr[-300:])
        nothing_raw(run.stderr.replace("\t", " "), "record and the log")
        shown = Run([str(GUESTPROF), "report", "--json", "-n", "100", str(file)])
        names = {name for name in hostile.strings_of(json.loads(shown.output))}
        # the escape character once, the backslash that the guest wrote twice
        expect("\\x1b[31mred\\x1b[0m" in names, f"ESC: {[n for n in names if 'red' in n]}")
        expect("\\\\x1b[31m" in names, f"a name that spells it: {[n for n in names if n.endswith('[31m')]}")
        expect(not any("\\\\x1b[31mred" in name for name in names), "escaped twice")
        raw = pprof.read(file)
        for string in raw.strings:
            expect(not hostile.CONTROL.search(string), f"a control character is in the recording: {string!r}")
        top = Run([str(harness.PPROF), "-top", str(file)])
        expect("\x1b" not in top.stdout, "google/pprof shows an escape character")


@test("86 hostile labels and thread names")
def labels():
    with harness.folder() as path:
        names = path / "names"
        identity = Run([str(GUESTPROF), "id", str(HOSTS / "split.wasm")]).stdout
        sha = re.search(r"[0-9a-f]{64}", identity).group()
        names.write_bytes(f"{sha} \"ev\x1b[31mil\u202e\" tenant=\"a\x07b\u202ec\"\n".encode())
        file = path / "out.pb.gz"
        run = harness.run_recorded(case("modules", "each", 400, HOSTS / "split.wasm"), file, 1000,
                                   env=environment(GUESTPROF_NAMES=str(names)))
        expect(run.status == 0 and file.exists(), run.stderr[-300:])
        nothing_raw(run.stderr, "record")
        for words in (["report"], ["report", "--json"], ["export", "--to", "folded", "-o", "-"]):
            done = Run([str(GUESTPROF), *words, str(file)])
            nothing_raw(done.stdout, " ".join(words))
        for string in pprof.read(file).strings:
            expect(not hostile.CONTROL.search(string), f"in the recording: {string!r}")


def served(folder):
    """(page, answer) of `serve`, for what names modules."""
    command = [str(GUESTPROF), "serve", "--dir", str(folder), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) as server:
        try:
            address = re.search(r"http://[\d.:]+", server.stderr.readline()).group()
            for page in ("/metrics", "/sd"):
                with urllib.request.urlopen(address + page, timeout=30) as answer:
                    yield page, answer.read().decode()
        finally:
            server.kill()


@test("86 hostile names of guest and program: list, status, top, the recording's name, the line of record")
def live_sinks():
    """The program is a link of a hostile name to the host; its guest is the hostile one."""
    with harness.folder() as path:
        wasm, socket = path / "hostile.wasm", path / "sockets/x.sock"
        wasm.write_bytes(hostile.guest())
        socket.parent.mkdir(mode=0o700)
        program = path / "ev\x1b[31mil\nroot\u202e"
        program.symlink_to(case("modules")[0])
        settings = {"LD_PRELOAD": str(harness.LIBRARY), "GUESTPROF_CONTROL": str(socket), "GUESTPROF_HZ": "250",
                    "GUESTPROF_OUTPUT": f"{path}/out.%e.%p.pb"}
        command = [program, "each", "20000", wasm]
        with subprocess.Popen(command, env=environment(**settings), stdout=subprocess.DEVNULL) as host:
            try:
                deadline = time.monotonic() + 30
                while not list(path.glob("out.*")) and time.monotonic() < deadline:
                    time.sleep(0.1)  # until the first samples are written
                for words in (["list", "--dir", socket.parent], ["list"], ["status", socket], ["top", "-n", "1", socket]):
                    run = Run([str(GUESTPROF), *map(str, words)], timeout=30)
                    expect(run.status == 0, f"{words}: {run.stderr}")
                    nothing_raw(run.stdout + run.stderr, " ".join(map(str, words)))
                for page, answer in served(socket.parent):
                    nothing_raw(answer, page)
                    expect("title" in answer, f"{page} does not name the guest: {answer[:300]}")
            finally:
                host.kill()
        names = [file.name for file in path.glob("out.*")]
        expect(names and not any(hostile.RAW.search(name) for name in names), f"files are called {names}")
        run = Run([str(GUESTPROF), "record", "-o", str(path / "again.pb.gz"), "--", str(program), "each", "200",
                   str(wasm)])
        expect(run.status == 0, run.stderr[-300:])
        nothing_raw(run.stderr, "record")
        nothing_raw(Run([str(GUESTPROF), "report", str(path / "again.pb.gz")]).stdout, "report")


if __name__ == "__main__":
    sys.exit(harness.main())
