#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme.py - what the README says works, does: its commands on an installed copy, its table."""

import json
import re
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
from harness import PYTHON, ROOT, Run, Skip, environment, expect, folder, tail, test

APP = str(ROOT / "tests/host/app.py")


def known_engines():
    """(engine, version) of each row of the table of engines."""
    text = re.search(r"<!-- engines:.*?-->\n(.*?)<!-- end of engines -->", (ROOT / "README.md").read_text(), re.S).group(1)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return [(row[0], version) for row in rows for version in row[1].split(", ")]


KNOWN = known_engines()


def must(command, **options):
    run = Run(command, **options)
    expect(run.status == 0, f"{' '.join(map(str, command))}: status {run.status}: {tail(run.stderr)}")
    return run


@test("README: its table of settings is the program's")
def settings():
    run = Run([sys.executable, str(ROOT / "scripts/readme-settings"), "--check"])
    expect(run.status == 0, tail(run.stdout + run.stderr))


def engines_script(*words, cells):
    return Run([sys.executable, str(ROOT / "scripts/readme-engines"), *words], env=environment(TEST_CELLS=str(cells)))


@test("README: a table of engines that is not what was measured is found")
def engines_differ():
    with folder() as path:
        expect(engines_script("--check", cells=path).status == 77, "nothing was measured, and nobody says so")
        file = path / "some.jsonl"
        for row, said in ((["no engine", "1", "names", "99 %", "some.py"], "no row for no engine 1"),
                          ([*KNOWN[0], "names", "0 %", "some.py"], "the tests '0 %'")):
            file.write_text(json.dumps(row) + "\n")
            run = engines_script("--check", cells=path)
            expect(run.status == 1 and said in run.stdout, f"{run.status}: {run.stdout}{run.stderr}")
        (path / "other.jsonl").write_text(json.dumps([*KNOWN[0], "names", "1 %", "other.py"]) + "\n")
        expect("and '0 %' by" in engines_script("--check", cells=path).stdout, "two tests contradict each other")


@test("README: each row of its table of engines is some test's")
def engines_are_measured():
    sources = [file.read_text() for file in sorted((ROOT / "tests/run").glob("*.py"))]
    for engine, version in KNOWN:
        expect(any("import cells" in source and f'"{engine}"' in source for source in sources), f"no test measures {engine}")
    expect(len(KNOWN) > 20, f"only {len(KNOWN)} rows")


@test("README: its table of what it costs is that of the last bench")
def bench():
    if not (ROOT / "tests/bench/targets.md").exists():
        raise Skip("no bench was run yet")
    run = Run([sys.executable, str(ROOT / "scripts/readme-bench"), "--check"])
    expect(run.status == 0, tail(run.stdout + run.stderr))


@test("README: its picture is of a real report")
def picture():
    text = (ROOT / "README.md").read_text()
    shown = re.search(r"<!-- picture:.*?-->\n(.*?)<!-- end of picture -->", text, re.S).group(1)
    for part in ("$ guestprof report", "GROUP", "HOTTEST FUNCTION", "samples", "blur", "resize", "encode"):
        expect(part in shown, f"no {part!r} in it")


@test("README: each promise names a test that is there")
def promises():
    text = (ROOT / "README.md").read_text()
    section = re.search(r"^## What guestprof promises your process\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if section is None:
        return
    rows = [line for line in section.group(1).splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    without = [row for row in rows[1:] if not re.search(r"`(tests|scripts)/", row.split(" | ")[-1])]
    expect(len(rows) > 20 and not without, f"{len(rows)} rows, without a test: {without[:2]}")
    cases.check_named_tests(section.group(1), len(rows))


@test("README: its pictures of viewers are there, small, and all of them shown")
def screens():
    shown = set(re.findall(r"!\[[^\]]+\]\((scripts/pictures/[\w.-]+)\)", (ROOT / "README.md").read_text()))
    made = {str(file.relative_to(ROOT)) for file in (ROOT / "scripts/pictures").glob("*.png")}
    expect(made and shown == made, f"shown {sorted(shown)}, made {sorted(made)}")
    for name in made:
        content = (ROOT / name).read_bytes()
        expect(content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) < 150_000, f"{name}: {len(content)} bytes")


@test("README: installed, recorded by the command and by LD_PRELOAD alone, read and exported")
def commands():
    with folder() as path:
        must(["make", "-s", "-C", str(ROOT), "install", f"PREFIX={path}/usr"])
        guestprof = str(path / "usr/bin/guestprof")
        library = must([guestprof, "lib"]).stdout.strip()
        expect(library.startswith(f"{path}/usr/"), f"guestprof lib says {library}")
        work = path / "work"
        work.mkdir()
        must([guestprof, "record", "--", str(PYTHON), APP, "0.5"], cwd=work)
        must([str(PYTHON), APP, "0.5"], cwd=work, env=environment(LD_PRELOAD=library))
        files = sorted(work.glob("guestprof.python3.*.pb.gz"))
        expect(len(files) == 2, f"two recordings, not {files}")
        expect("blur" in must([guestprof, "report"], cwd=work).stdout, "no blur in the report")
        must([guestprof, "export", "--to", "firefox", "-o", "app.json.gz", str(files[0])], cwd=work)
        expect((work / "app.json.gz").stat().st_size > 500, "the Firefox profile is too small")
        folded = must([guestprof, "export", "--to", "folded", str(files[0])], cwd=work).stdout
        expect(re.search(r"^images@\w+;thumbnail;blur \d+$", folded, re.M), f"folded: {tail(folded)}")
        for command in ("record", "report", "export"):
            expect(guestprof and Run([guestprof, command, "--help"]).status == 0, f"{command} --help")


if __name__ == "__main__":
    harness.main()
