#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py - the report and the diff of real recordings: every table, width, verdict and status."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import hostile
import schema
from harness import GUESTPROF, NEWEST, PYTHON, ROOT, Run, expect, expect_shares, host, run_recorded, test

APP_SHARES = {"blur": 0.50, "resize": 0.30, "encode": 0.20}  # tests/host/app.py
WAYS = ["group", "module", "label:tenant", "instance", "thread", "function", "line"]
COLUMNS = 100


@functools.lru_cache(maxsize=None)
def work():
    return pathlib.Path(tempfile.mkdtemp(prefix="guestprof-test-"))


def recorded(name, command, hz=2000, **settings):
    file = work() / f"{name}.pb.gz"
    run = run_recorded(command, file, hz, env=harness.environment(**settings))
    expect(run.status == 0 and file.exists(), f"{name}: {run.status}: {run.stderr}")
    return file


def split(wasm="split.wasm", *options):
    return host(NEWEST, wasm, "run", "argument=300", "cpu_ms=900", *options)


@functools.lru_cache(maxsize=None)
def recording(name):
    if name == "python":
        return recorded(name, [PYTHON, ROOT / "tests/host/app.py", "0.7"])
    if name == "labels":
        return recorded(name, split("split.wasm", "instances=2"), GUESTPROF_LABEL="tenant=name:^(spl)")
    if name == "wall":
        file = work() / "wall.pb.gz"
        run = Run([str(GUESTPROF), "record", "--wall", "-o", str(file), "--",
                   *host(NEWEST, "waits.wasm", "run", "argument=100", "calls=5")])
        expect(run.status == 0 and file.exists(), run.stderr)
        return file
    if name == "changed":
        return recorded(name, split(str(changed_guest())))
    return recorded(name, split())


@functools.lru_cache(maxsize=None)
def changed_guest():
    """split.wat after somebody made `middle` slower: it takes 40 % now, and `inner` 50."""
    text = (ROOT / "tests/host/split.wat").read_text()
    for old, new in (("const 70", "const 50"), ("const 20)", "const 40)")):
        expect(text.count(old) == 1, f"{old} is not once in split.wat")
        text = text.replace(old, new)
    (work() / "changed.wat").write_text(text)
    subprocess.run(["wat2wasm", "--debug-names", work() / "changed.wat", "-o", work() / "split.wasm"], check=True)
    return work() / "split.wasm"


def guestprof(*words, status=0, **options):
    run = Run([str(GUESTPROF), *map(str, words)], **options)
    expect(run.status == status, f"{words}: status {run.status}: {run.stderr}")
    return run


def check_text(text):
    wide = [line for line in text.splitlines() if len(line) > COLUMNS]
    expect(not wide, f"{len(wide[0]) if wide else 0} columns: {wide[:1]}")
    strange = [character for character in text if ord(character) < 32 and character != "\n"]
    expect(not strange, f"control characters {strange[:5]}")


def report(name, *words):
    """Text of the report and its JSON, both checked."""
    run = guestprof("report", *words, recording(name))
    expect(run.stderr == "", run.stderr)
    check_text(run.stdout)
    whole = schema.check(guestprof("report", "--json", *words, recording(name)).stdout, "report")
    return run.stdout, whole


def expect_functions(whole, known):
    counts = {row["name"]: row["self_samples"] for row in whole["functions"] if row["self_samples"]}
    expect_shares(counts, known, slack=0.01)
    for row in whole["functions"]:
        expect(row["too_few_samples"] == (row["total_samples"] < 30), f"{row}")


@test("report: an application with known shares")
def known_shares():
    text, whole = report("python")
    expect_functions(whole, APP_SHARES)
    expect(whole["hottest_stack"]["frames"][0]["name"] == "blur"
           and [frame["name"] for frame in whole["hottest_stack"]["frames"]][-1] == "thumbnail",
           f"{whole['hottest_stack']}")
    group, = whole["groups"]
    expect(group["instances_created"] == 4 and len(group["instances"]) == 4, f"{group}")
    expect(group["share_low_ppm"] <= group["share_ppm"] <= group["share_high_ppm"], f"{group}")
    for word in ("clock", "rate", "samples", "lost", "own cost", "HOTTEST STACK", "wasmtime", "blur"):
        expect(word in text, f"no {word} in: {text}")


@test("report --by each: the rows add up")
def every_way():
    for way in WAYS:
        text, whole = report("labels", "--by", way)
        by = whole["by"]
        expect((by is not None) == (way in ("module", "label:tenant", "thread")), f"{way}: {by}")
        rows = by["rows"] if by else whole["groups"]
        expect(sum(row["samples"] for row in rows) == whole["samples"], f"{way}: the rows do not add up")
        expect(("CORES" in text) == (way not in ("function", "line")), f"{way}: {text}")
    _, whole = report("labels", "--by", "label:tenant")
    expect([row["name"] for row in whole["by"]["rows"]] == ["spl"], f"{whole['by']}")
    _, whole = report("labels", "--by", "label:nothing")
    expect([row["name"] for row in whole["by"]["rows"]] == ["(no nothing)"], f"{whole['by']}")


@test("report --tree: shares of calls, in boxes where the locale has them")
def tree():
    _, whole = report("python", "--tree")
    nodes = {node.get("name", node.get("group")): node for node in whole["tree"]}
    total = whole["tree"][0]["total"]["samples"]
    expect(total == whole["samples"] and whole["tree"][0]["parent"] is None, f"{whole['tree'][0]}")
    for name, share in {"thumbnail": 1.0, "blur": 1.0, "resize": 0.5, "encode": 0.2}.items():
        found = nodes[name]["total"]["samples"] / total
        expect(abs(found - share) < 0.06, f"{name}: {found} of the calls, not {share}")
    below = [whole["tree"][nodes[name]["parent"]].get("name") for name in ("encode", "resize", "blur")]
    expect(below == ["resize", "blur", "thumbnail"], f"parents {below}")
    for locale, mark in (("C.UTF-8", "\u2514"), ("C", "`-")):
        text = guestprof("report", "--tree", recording("python"), env=harness.environment(LC_ALL=locale)).stdout
        expect(mark in text, f"{locale}: {text}")
        check_text(text)


@test("report --cum, -n, --lines, several files, standard input")
def options():
    text, whole = report("python", "--cum", "-n", "2")
    expect([row["name"] for row in whole["functions"]] in (["thumbnail", "blur"], ["blur", "thumbnail"]),
           f"{whole['functions']}")
    expect(re.search(r"more functions: -n \d+ shows all", text), text)
    report("python", "--lines")
    _, alone = report("first")
    _, both = report("first", str(recording("second")))
    expect(len(both["processes"]) == 2 and both["samples"] > alone["samples"], f"{both['processes']}")
    with open(recording("first"), "rb") as file:
        run = subprocess.run([GUESTPROF, "report", "-"], stdin=file, capture_output=True, check=False)
    expect(run.returncode == 0 and b"inner" in run.stdout, run.stderr)


@test("report of waits, and of what is too little")
def waits():
    text, whole = report("wall")
    expect("WAIT s" in text and whole["wall_ns"] > 10**8, text)
    expect("too few samples" in text and "few_samples" in [each["id"] for each in whole["warnings"]]
           or whole["samples"] == 0, f"{whole['samples']} samples: {text}")


@test("report --names: names and labels afterwards")
def names():
    file = recording("labels")
    _, whole = report("labels")
    identity = whole["groups"][0]["identity"]
    (work() / "names").write_text(f'{identity[:12]} shop tenant=acme "owner=Jane Doe"\n')
    words = ("--names", work() / "names", file)
    named = schema.check(guestprof("report", "--json", *words).stdout, "report")
    group, = named["groups"]
    expect(group["module"] == "shop" and group["labels"] == {"tenant": "acme", "owner": "Jane Doe"}, f"{group}")
    expect({row["instance"] for row in group["instances"]} == {"shop#1", "shop#2"}, f"{group['instances']}")
    expect(named["samples"] == whole["samples"], "samples went")
    text = guestprof("report", "--by", "label:tenant", *words).stdout
    expect(re.search(r"^acme +\d", text, re.M), text)
    (work() / "bad").write_text("nonsense\n")
    run = guestprof("report", "--names", work() / "bad", file)
    expect(":1: not understood" in run.stderr and "names no module" in run.stderr, run.stderr)
    guestprof("report", "--names", work() / "absent", file, status=2)


@test("hostile names reach no terminal")
def hostile_names():
    (work() / "hostile.wasm").write_bytes(hostile.guest())
    file = recorded("hostile", host(NEWEST, str(work() / "hostile.wasm"), "run", "argument=1", "cpu_ms=600"))
    for words in (["report", "-n", "100"], ["report", "--tree"], ["report", "--cum", "--by", "module"],
                  ["report", "--by", "thread", "--lines"], ["diff", "-n", "100", file]):
        text = guestprof(*words, file).stdout
        check_text(text)
        expect(not hostile.RAW.search(text), f"{words}: {hostile.RAW.search(text)}")
    whole = schema.check(guestprof("report", "--json", "--tree", file).stdout, "report")
    schema.check(guestprof("diff", "--json", file, file).stdout, "diff")
    names = {row["name"] for row in whole["functions"]}
    expect(len(names) >= len(hostile.NAMES), f"{len(names)} names of {len(hostile.NAMES)}")


@test("colours on a terminal only, and not against NO_COLOR")
def colours():
    for settings, wanted in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
        master, slave = os.openpty()
        command = [GUESTPROF, "report", recording("first")]
        with subprocess.Popen(command, stdout=slave, env=harness.environment(**settings)) as process:
            os.close(slave)
            text = b""
            try:
                while block := os.read(master, 65536):
                    text += block
            except OSError:  # EIO: the other end is closed
                pass
            expect(process.wait() == 0 and b"inner" in text, f"{text}")
        os.close(master)
        expect((b"\033[" in text) == wanted, f"{settings}: {text[:400]}")
    expect("\033" not in guestprof("report", recording("first")).stdout, "colours in a file")


def diff(before, after, *words):
    files = (recording(before), recording(after))
    text = guestprof("diff", *words, *files).stdout
    check_text(text)
    return text, schema.check(guestprof("diff", "--json", *words, *files).stdout, "diff")


@test("diff of two runs of one program: noise")
def noise():
    text, whole = diff("first", "second")
    expect(whole["modules"][0]["matched_by"] == "wasm", f"{whole['modules']}")
    # one run in twenty may call something changed; none is 4 standard errors and half a point away
    for row in whole["functions"] + whole["groups"]:
        expect(abs(row["z_thousandths"]) < 4000 or abs(row["change_ppm"]) < 20000, f"{row}")
        expect(row["change_low_ppm"] <= row["change_ppm"] <= row["change_high_ppm"], f"{row}")
    if whole["changed_functions"] == 0:
        expect("nothing changed beyond the sampling error" in text, text)
    guestprof("diff", "--fail-above", "10", recording("first"), recording("second"))
    text, whole = diff("first", "first")
    expect(whole["changed_functions"] == whole["changed_groups"] == 0, text)


@test("diff finds the function that grew, and nothing else that did")
def finds():
    text, whole = diff("first", "changed")
    module, = whole["modules"]
    expect(module["matched_by"] == "name" and module["before_identity"] != module["after_identity"], f"{module}")
    verdicts = {row["name"]: row["verdict"] for row in whole["functions"] if row["before"]["samples"] > 30}
    expect(verdicts["middle"] == "grew" and verdicts["inner"] == "shrank", f"{verdicts}")
    expect([name for name, verdict in verdicts.items() if verdict in ("grew", "new")] == ["middle"]
           or abs(next(row for row in whole["functions"] if row["name"] == "outer")["z_thousandths"]) < 4000,
           f"{verdicts}")
    row = next(row for row in whole["functions"] if row["name"] == "middle")
    expect(abs(row["change_ppm"] - 200000) < 60000, f"{row}")
    expect(whole["groups"][0]["verdict"] == "noise", f"{whole['groups']}")
    expect("same name, other bytes" in text, text)


@test("diff --fail-above: 1 when a share grew by more")
def fails():
    files = (recording("first"), recording("changed"))
    run = guestprof("diff", "--fail-above", "10", *files, status=1)
    lines = [line for line in run.stderr.splitlines() if "grew" in line]
    expect(len(lines) == 1 and " middle grew from " in lines[0], run.stderr)
    guestprof("diff", "--fail-above", "30", *files)
    guestprof("diff", "--fail-above", "10", *reversed(files), status=1)  # inner grows then


@test("diff as folded stacks and as html")
def forms():
    files = (recording("first"), recording("changed"))
    lines = guestprof("diff", "--to", "folded", *files).stdout.splitlines()
    sums = [sum(int(line.split(" ")[-2 + side]) for line in lines) for side in (0, 1)]
    _, whole = diff("first", "changed")
    expect(sums == [whole["before"]["samples"], whole["after"]["samples"]], f"{sums}")
    expect(any(re.search(r";run;outer;middle;inner \d+ \d+$", line) for line in lines), f"{lines}")
    guestprof("diff", "--to", "html", "-o", work() / "diff.html", *files)
    page = (work() / "diff.html").read_text()
    expect("default-src 'none'" in page and "middle" in page, page[:300])


@test("statuses: 2 for usage, 3 without samples")
def statuses():
    file = recording("first")
    for words in (["report", "--by", "nothing", file], ["report", "-n", "x", file], ["diff", file],
                  ["diff", "--fail-above", "x", file, file], ["diff", "--to", "x", file, file], ["diff", file, "/absent"],
                  ["diff", file, file, file], ["diff", "-o", "x", file, file]):
        run = guestprof(*words, status=2)
        expect(len(run.stderr.splitlines()) == 1 and run.stderr.startswith("guestprof"), f"{words}: {run.stderr}")
    # sample types samples/count and cpu/nanoseconds, strings, nothing else
    strings = ["", "samples", "count", "cpu", "nanoseconds"]
    profile = b"".join(b"\x32" + bytes([len(s)]) + s.encode() for s in strings)
    (work() / "none.pb").write_bytes(profile + b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04")
    guestprof("report", work() / "none.pb", status=3)
    schema.check(guestprof("report", "--json", work() / "none.pb", status=3).stdout, "report")
    guestprof("diff", file, work() / "none.pb", status=3)


@test("any pprof file")
def foreign():
    # one sample of `f;main` with samples/count only, from no recorder in particular
    def field(number, value):
        if isinstance(value, int):
            return bytes([number << 3, value])
        return bytes([number << 3 | 2, len(value)]) + value
    text = ["", "samples", "count", "main", "f", "/bin/thing"]
    profile = field(1, field(1, 1) + field(2, 2)) + b"".join(field(6, word.encode()) for word in text)
    profile += field(3, field(1, 1) + field(5, 5))
    for number, name in ((1, 3), (2, 4)):
        profile += field(5, field(1, number) + field(2, name)) + field(4, field(1, number) + field(2, 1) + field(4, field(1, number)))
    profile += field(2, field(1, b"\x02\x01") + field(2, bytes([77])))
    (work() / "foreign.pb").write_bytes(profile)
    for words in ([], ["--tree"], ["--by", "thread"], ["--by", "module"], ["--lines"]):
        check_text(guestprof("report", *words, work() / "foreign.pb").stdout)
        whole = schema.check(guestprof("report", "--json", *words, work() / "foreign.pb").stdout, "report")
        expect(whole["samples"] == 77 and whole["cpu_ns"] is None and whole["lost"] is None
               and whole["processes"][0]["pid"] is None, f"{whole}")
    schema.check(guestprof("diff", "--json", work() / "foreign.pb", recording("first")).stdout, "diff")


if __name__ == "__main__":
    status = harness.main()
    shutil.rmtree(work(), ignore_errors=True)
    sys.exit(status)
