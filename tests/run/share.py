#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""share.py - what a tenant is given tells nothing of anybody else, and the audit would see it if it did."""

import collections
import functools
import gzip
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import pprof
from harness import GUESTPROF, PYTHON, ROOT, Run, environment, expect, test

HOST = ROOT / "tests/host/tenants.py"
TENANT = ["--label", "tenant=acme"]
# Two hosts with the same tenant; neighbours, load and program differ.
HOSTS = {"quiet": ["rival"], "busy": ["umbrella:2", "globex:2"]}
NEIGHBOURS = [b"rival", b"umbrella", b"globex"]
SECONDS = 5

keep = tempfile.TemporaryDirectory(prefix="guestprof-test-")
FOLDER = pathlib.Path(keep.name)


def tool(*words, status=0):
    run = Run([str(GUESTPROF), *map(str, words)])
    expect(run.status == status, f"{words[0]}: status {run.status}, not {status}: {run.stdout}{run.stderr}")
    return run


@functools.lru_cache(maxsize=None)
def recorded(name):
    file = FOLDER / f"{name}.pb.gz"
    env = environment(GUESTPROF_LABEL="tenant=name:^([a-z]+)-app", GUESTPROF_STACKS="full")
    run = Run([str(GUESTPROF), "record", "--wall", "-F", "1000", "-o", str(file), "--", str(PYTHON), str(HOST),
               str(SECONDS), *HOSTS[name]], env=env)
    expect(run.status == 0 and file.exists(), f"{run.status}: {run.stderr}")
    return file


@functools.lru_cache(maxsize=None)
def shared(name, *options):
    file = FOLDER / ("-".join([name, "acme", *options]) + ".pb")
    tool("share", *TENANT, *options, "-o", file, recorded(name))
    return file


# ---- two hosts -----------------------------------------------------------------------------------------------

# Everything that may be in a file of acme's, besides numbers of instances.
TENANT_TEXTS = {
    "", "samples", "count", "cpu", "nanoseconds", "wall", "wasm_module", "wasm_instance", "wasm_state", "time", "tenant",
    "acme", "guest", "host", "builtin", "waiting", "(host)", "(builtin)", "[host to guest]", "[guest to host]",
    "[engine glue]", "serve", "acme_route", "acme_parse", "acme_render", "acme_platform.fetch"}


def resolved(profile, row, strings):
    return tuple(sorted((number, profile.strings[value] if number in strings else value)
                        for number, value in row.items()))


def masked(path):
    """The file without the tenant's counts and times: what must be the same on both hosts."""
    profile = pprof.read(path)
    total = sum(sample.count for sample in profile.samples)
    stacks = collections.Counter()
    for sample in profile.samples:
        stacks[tuple((frame.name, frame.kind, frame.module) for frame in sample.frames)] += sample.count
    return {
        "types": profile.types,
        "period": profile.period,
        "start": profile.time_ns,
        "info": profile.info,
        "counters": sorted(profile.stats),
        "modules": [resolved(profile, row, (5, 6, 1005, 1007)) for row in profile.mappings.values()],
        "labels": sorted({tuple(sorted(sample.labels)) for sample in profile.samples}),
        # What is seen once in a hundred samples may be seen in one host and not in the other.
        "stacks": {stack for stack, count in stacks.items() if count >= 0.02 * total},
        "states": {sample.labels["wasm_state"] for sample in profile.samples} - {"builtin"},
        "groups": sorted(set(row) for row in profile.groups.values()),
    }


@test("two hosts: the same file but for the tenant's counts and times")
def two_hosts():
    quiet, busy = masked(shared("quiet")), masked(shared("busy"))
    for key in quiet:
        expect(quiet[key] == busy[key], f"{key}: {quiet[key]} on one host, {busy[key]} on the other")
    expect(len(quiet["stacks"]) >= 4, f"only {quiet['stacks']}")


@test("two hosts: no text in the files but the tenant's")
def texts():
    for name in HOSTS:
        profile = pprof.read(shared(name))
        module = profile.strings[profile.mappings[1][5]]
        identity = profile.strings[profile.mappings[1][6]]
        # Glue has the names that the engine gave it in the tenant's own code.
        rest = {text for text in profile.strings if not text.startswith((module, "wasm[0]::", "signatures[0]::"))}
        rest -= TENANT_TEXTS | {identity, profile.strings[profile.mappings[1].get(1005, 0)]}
        expect(not rest, f"{name}: {rest}")
        for word in NEIGHBOURS + [b"python", b"worker", b"wasmtime", b"charge_card"]:
            expect(word not in profile.raw, f"{name}: {word}")
        numbers = {sample.labels["wasm_instance"] for sample in profile.samples} - {f"{module}#*"}
        expect(numbers == {f"{module}#{i + 1}" for i in range(len(numbers))}, f"{name}: {numbers}")


@test("the same counts as in the recording")
def counts():
    for name in HOSTS:
        whole, part = pprof.read(recorded(name)), pprof.read(shared(name))
        theirs = [sample for sample in whole.samples if sample.labels.get("tenant") == "acme"]
        before = sum(sample.count for sample in theirs)
        after = sum(sample.count for sample in part.samples)
        # Left out: the host on its way into the tenant's guest, below a neighbour's.
        expect(before * 0.95 <= after <= before, f"{name}: {after} of {before} samples")
        expect(sum(s.wall_ns for s in theirs) == sum(s.wall_ns for s in part.samples), f"{name}: waits differ")
        calls = sum(s.count for s in part.samples if any(f.name == "acme_platform.fetch" for f in s.frames))
        expect(calls > 0, f"{name}: no host call by its import")


@test("share of a shared file is that file")
def again():
    for options in ([], ["--no-time"]):
        file = shared("busy", *options)
        tool("share", *TENANT, *options, "-o", FOLDER / "again.pb", file)
        expect((FOLDER / "again.pb").read_bytes() == file.read_bytes(), f"{options}: another file")
        tool("audit", *TENANT, "--against", recorded("busy"), file)
    profile = pprof.read(shared("busy", "--no-time"))
    expect(profile.duration_ns == 0 and not any("time" in s.labels for s in profile.samples), "there are times")


@test("two recordings in one file")
def two_recordings():
    tool("share", *TENANT, "-o", FOLDER / "both.pb.gz", recorded("quiet"), recorded("busy"))
    tool("audit", *TENANT, "--against", recorded("quiet"), "--against", recorded("busy"), FOLDER / "both.pb.gz")
    total = sum(s.count for s in pprof.read(FOLDER / "both.pb.gz").samples)
    expect(total == sum(s.count for name in HOSTS for s in pprof.read(shared(name)).samples), f"{total} samples")


@test("by module, by instance, nobody")
def selectors():
    module = pprof.read(shared("quiet")).strings[pprof.read(shared("quiet")).mappings[1][5]]
    for options in (["--module", module], ["--instance", f"{module}#1"]):
        tool("share", *options, "-o", FOLDER / "some.pb.gz", recorded("quiet"))
        tool("audit", *options, "--against", recorded("quiet"), FOLDER / "some.pb.gz")
        labels = {key for s in pprof.read(FOLDER / "some.pb.gz").samples for key in s.labels}
        expect("tenant" not in labels, f"{options}: {labels}")
    expect(sum(s.count for s in pprof.read(FOLDER / "some.pb.gz").samples) > 0, "no samples")
    expect("tenant=acme" in tool("share", "--label", "tenant=x", "-o", FOLDER / "no.pb", recorded("quiet"), status=3).stderr,
           "what there is was not said")
    expect(not (FOLDER / "no.pb").exists(), "a file of nobody")
    for bad in (["-o", "x.pb"], ["--label", "acme", "-o", "x.pb"], ["--label", "a=b"]):
        tool("share", *bad, recorded("quiet"), status=2)
    tool("share", *TENANT, "--keep-label", "tenant", "-o", FOLDER / "kept.pb", recorded("quiet"))
    tool("audit", *TENANT, "--keep-label", "tenant", FOLDER / "kept.pb")


@test("a recording is not clean, nor is another tenant's file")
def unclean():
    run = tool("audit", *TENANT, "--against", recorded("quiet"), recorded("quiet"), status=1)
    expect("rival" in run.stdout and "not on the list" in run.stdout, run.stdout[:500])
    count = int(re.search(r"([\d,]+) found$", run.stderr.strip()).group(1).replace(",", ""))
    expect(len(run.stdout.splitlines()) == count > 100, f"{len(run.stdout.splitlines())} lines of {count} found")
    tool("share", "--label", "tenant=rival", "-o", FOLDER / "rival.pb", recorded("quiet"))
    expect("not labelled tenant=acme" in tool("audit", *TENANT, FOLDER / "rival.pb", status=1).stdout, "another's file")
    for text in (b"", b"\x00\x01\x02", b'{"a": ', gzip.compress(b"{}")[:-4], b"<html></html>"):
        (FOLDER / "bad").write_bytes(text)
        tool("audit", *TENANT, FOLDER / "bad", status=2)


# ---- exports -------------------------------------------------------------------------------------------------

EXPORTS = {"firefox": ".json.gz", "folded": ".folded", "speedscope": ".speedscope.json", "html": ".html", "pprof": ".pb.gz"}


def exported(kind):
    file = FOLDER / f"acme{EXPORTS[kind]}"
    tool("export", "--to", kind, "-o", file, shared("busy"))
    return file


def clean_export(kind):
    tool("audit", *TENANT, "--against", recorded("busy"), exported(kind))
    tool("audit", *TENANT, exported(kind))


for each in EXPORTS:
    test("{} of a shared file is clean", each)(clean_export)


@test("report of a shared file is clean")
def report():
    file = FOLDER / "report.json"
    file.write_text(Run([str(GUESTPROF), "report", "--json", shared("busy").name], cwd=FOLDER).stdout)
    tool("audit", *TENANT, "--against", recorded("busy"), file)


# ---- planted leaks -------------------------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def encode(rows):
    return b"".join(varint(number << 3) + varint(value) if isinstance(value, int)
                    else varint(number << 3 | 2) + varint(len(value)) + value for number, value in rows)


class Rows:
    """A shared file as a list of [field, value], to be changed."""

    def __init__(self):
        self.list = [list(row) for row in pprof.fields(shared("quiet").read_bytes())]

    def bytes(self):
        return encode(self.list)

    def string(self, text):
        """Its index; a new one goes to the end of the table."""
        strings = [value for number, value in self.list if number == 6]
        if text.encode() in strings:
            return strings.index(text.encode())
        self.list.insert(len(strings), [6, text.encode()])
        return len(strings)

    def replace(self, old, new):
        for row in self.list:
            if row[0] == 6 and row[1] == old.encode():
                row[1] = new.encode()

    def edit(self, number, change, index=0, message=None):
        """CHANGE gets the parts of the INDEXth message in field NUMBER, as a list."""
        row = [row for row in self.list if row[0] == number and (message is None or message(dict(pprof.fields(row[1]))))][index]
        parts = [list(part) for part in pprof.fields(row[1])]
        change(parts)
        row[1] = encode(parts)

    def label(self, key, value):
        text = isinstance(value, str)
        parts = [[1, self.string(key)], [2, self.string(value)] if text else [3, value]]
        self.edit(2, lambda sample: sample.append([3, encode(parts)]))


def times(rows, change):
    key = rows.string("time")
    for row in rows.list:
        if row[0] != 2:
            continue
        parts = [list(part) for part in pprof.fields(row[1])]
        for part in parts:
            label = [list(item) for item in pprof.fields(part[1])] if part[0] == 3 else []
            if [1, key] in label:
                for item in label:
                    item[1] = change(item[1]) if item[0] == 3 else item[1]
                part[1] = encode(label)
        row[1] = encode(parts)


def plant_number(field, value):
    def plant(rows):
        rows.list = [row for row in rows.list if row[0] != field] + [[field, value]]
    return plant


def plant_part(number, field, value, index=0):
    def plant(rows):
        add = rows.string(value) if isinstance(value, str) else value
        rows.edit(number, lambda parts: parts.append([field, add]), index)
    return plant


def host_location(parts):
    return parts.get(1000) == 1 and 1002 not in parts


def drop(number):
    def change(parts):
        parts[:] = [part for part in parts if part[0] != number]
    return change


def make_host(rows):
    """The import becomes host code of no name."""
    rows.edit(4, drop(1002), message=lambda parts: 1002 in parts)
    rows.replace("acme_platform.fetch", "(host)")


def named_host(rows):
    make_host(rows)
    rows.replace("(host)", "billing::charge")


def placed_host(rows):
    make_host(rows)
    rows.edit(4, lambda parts: parts.append([3, 4096]), message=host_location)


def twice_in_host(rows):
    """One more frame of the host below the leaf."""
    make_host(rows)
    locations = [dict(pprof.fields(row[1])) for row in rows.list if row[0] == 4]
    host = next(row[1] for row in locations if host_location(row))
    guest = next(row[1] for row in locations if row.get(1000, 0) == 0)

    def change(parts):
        parts[0][1] = varint(host) * 2 + varint(guest)
    rows.edit(2, change)


def swapped(field):
    def plant(rows):
        places = [i for i, row in enumerate(rows.list) if row[0] == field]
        a, b = places[0], places[-1]
        rows.list[a], rows.list[b] = rows.list[b], rows.list[a]
    return plant


def foreign_module(rows):
    name = rows.string("rival-app@123456")
    count = sum(row[0] == 3 for row in rows.list)
    rows.list.append([3, encode([[1, count + 1], [5, name]])])


def entry(name, value):
    return encode([[1, name.encode()], [2, value]])


# What is planted, how, and what the audit must say of it.
PLANTS = [
    ("an unknown field", plant_number(2000, b"secret"), "field 2000: not on the list"),
    ("a start time", plant_number(9, 1764525600000000000), "field 9: not on the list"),
    ("a comment", lambda rows: rows.list.append([13, rows.string("on host-17")]), "field 13: not on the list"),
    ("padding", plant_number(1000, b"\0" * 64), "field 1000: not on the list"),
    ("a marked call", plant_number(1004, encode([[1, b"billing"]])), "field 1004: not on the list"),
    ("a string that nothing uses", lambda rows: rows.string("rival"), 'not used: "rival"'),
    ("where a module lies", plant_part(3, 2, 0x7F0012345000), "mapping 1: field 2: not on the list"),
    ("a module's path", plant_part(3, 1009, "/srv/acme.wasm"), "mapping 1: field 1009: not on the list"),
    ("an engine", plant_part(3, 1001, "wasmtime 50"), "mapping 1: field 1001: not on the list"),
    ("the number of a loading", plant_part(3, 1000, 12), "mapping 1: field 1000: not on the list"),
    ("debug sections", plant_part(3, 1011, b"x" * 20), "mapping 1: field 1011: debug sections"),
    ("another module", foreign_module, "mapping 2: of no sample"),
    ("functions out of order", swapped(5), "not in sequence"),
    ("locations out of order", swapped(4), "not in sequence"),
    ("a thread's name", lambda rows: rows.label("thread_name", "rival-worker"), "thread_name"),
    ("a thread's number", lambda rows: rows.label("thread_id", 4243), "thread_id"),
    ("a descriptor", lambda rows: rows.label("descriptor", 7), "descriptor"),
    ("a label that was not kept", lambda rows: rows.label("tier", "gold"), 'the label "tier"'),
    ("another tenant's sample", lambda rows: rows.replace("acme", "rival"), "not labelled tenant=acme"),
    ("a time that is not rounded", lambda rows: times(rows, lambda ns: ns + 1000000 if ns else 0), "a time that is not rounded"),
    ("a time since the host's start", lambda rows: times(rows, lambda ns: ns + 5000000000), "not relative to the first"),
    ("a duration that is not rounded", plant_number(10, 1234567890), "field 10: a time that is not rounded"),
    ("the host's duration", plant_number(10, 3600000000000), "more time than the samples take"),
    ("a process id", plant_part(1001, 2, 4242), "info: field 2: not on the list"),
    ("a program", plant_part(1001, 3, b"billing"), "info: field 3: not on the list"),
    ("the host's own cost", plant_part(1001, 10, 12345678), "info: field 10: not on the list"),
    ("a second info", lambda rows: rows.list.append([1001, encode([[1, 1]])]), "info: there twice"),
    ("a counter of the process", plant_part(1002, 1, entry("signals", 99999)), "a counter of the whole process"),
    ("a wrong sum", lambda rows: rows.edit(1002, lambda parts: parts.__setitem__(0, [1, entry("samples", 7)])),
     "7 samples, but there are"),
    ("a function of the host", named_host, "host code by name"),
    ("an import of somebody else's", lambda rows: rows.edit(4, drop(1002), message=lambda parts: 1002 in parts),
     'host code by name: "acme_platform.fetch"'),
    ("generated code", lambda rows: rows.edit(4, lambda parts: parts.append([1000, 4]), message=lambda parts: 1000 not in parts),
     "generated code of nobody"),
    ("a place in the host", placed_host, "a place in code that is not the guest's"),
    ("the depth of the host", twice_in_host, "how deep the host's stack was"),
    ("an address in a name", lambda rows: rows.replace("acme_route", "f_0x7f0012345678"), "an address"),
    ("an instance's own number", lambda rows: [rows.replace(text, text[:-1] + "77") for text in
                                               [row[1].decode() for row in rows.list if row[0] == 6] if text.endswith("#1")],
     "but none of the number before it"),
    ("samples out of order", swapped(2), ""),
    ("a wrong type", lambda rows: rows.list.append([2, 5]), "of the wrong type"),
    ("a sample of nothing", lambda rows: rows.list.append([2, b""]), "another module"),
]


def audit_bytes(content, *options, name="planted"):
    file = FOLDER / name
    file.write_bytes(content)
    return tool("audit", *TENANT, *options, file, status=1).stdout


@test("every planted leak is found ({} of them)", len(PLANTS))
def planted(_count):
    expect(Rows().bytes() == shared("quiet").read_bytes(), "the test changes what it should not")
    for what, plant, said in PLANTS:
        rows = Rows()
        plant(rows)
        found = audit_bytes(rows.bytes())
        expect(said in found, f"{what}: not {said!r}: {found}")


@test("leaks in the form of the file are found")
def form():
    plain = shared("quiet").read_bytes()
    for what, content, said in (
            ("bytes behind the last field", plain + b"\x12\x7f\x01", "behind the last whole field"),
            ("a longer varint", plain[:-1] + bytes([plain[-1] | 0x80, 0]) if plain[-1] < 0x80 else plain, ""),
            ("the name of a file", b"\x1f\x8b\x08\x08" + gzip.compress(plain, mtime=0)[4:10] + b"host-17\0" +
             gzip.compress(plain, mtime=0)[10:], "gzip header: the name of a file"),
            ("a time", gzip.compress(plain, mtime=1764525600), "gzip header: a time"),
            ("bytes behind the end", gzip.compress(plain, mtime=0) + b"host-17", "gzip: 7 bytes behind the end")):
        found = audit_bytes(content)
        expect(said in found, f"{what}: not {said!r}: {found}")


@test("leaks in exports are found")
def in_exports():
    firefox = json.loads(gzip.decompress(exported("firefox").read_bytes()))
    against = ["--against", recorded("busy")]
    for what, change, said in (
            ("a process id", lambda p: p["threads"][0].update(pid="4242"), "threads[0].pid: a fact of the process"),
            ("a program", lambda p: p["meta"].update(product="guestprof: billing"), "meta.product: a fact"),
            ("a start", lambda p: p["meta"].update(startTime=1764525600000), "meta.startTime: a fact"),
            ("a host name", lambda p: p["meta"].update(hostname="node-17"), "meta.hostname: a fact"),
            ("a neighbour", lambda p: p["threads"][0].update(name="umbrella_send_invoice"), "somebody else's"),
            ("a part of a text", lambda p: p["meta"].update(note="see umbrella_backend.umbrella_database!"), "in \"see")):
        profile = json.loads(json.dumps(firefox))
        change(profile)
        found = audit_bytes(json.dumps(profile).encode(), *against)
        expect(said in found, f"{what}: not {said!r}: {found}")
    folded = exported("folded").read_bytes() + b"acme;globex_charge_card 3\n"
    expect("line" in audit_bytes(folded, *against), "folded")
    html = exported("html").read_bytes().replace(b"</title>", b" on node-17</title>")
    expect("page, before its data" in audit_bytes(html), "html")
    html = exported("html").read_bytes().replace(b"acme_parse", b"globex_send_invoice")
    expect("somebody else's" in audit_bytes(html, *against), "the data in html")


if __name__ == "__main__":
    sys.exit(harness.main())
