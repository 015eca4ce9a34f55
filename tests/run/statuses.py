#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""statuses.py - the exit status of every subcommand, in one table.

0 good; 1 found (diff, audit, id --match), or limits (doctor); 2 usage or input; 3 no samples (doctor: nothing will be seen);
4 the process is not preloaded, or cannot be reached. `record -- CMD` has the program's own, and 125 to 127 for what is
ours. Whoever fails says why, in lines that begin with `guestprof`, or in what it was asked for.
"""

import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import synthetic
from harness import GUESTPROF, HOSTS, NEWEST, Run, expect, host, tail, test

keep = tempfile.TemporaryDirectory(prefix="guestprof-test-")
FOLDER = pathlib.Path(keep.name)
GUEST, OTHER = HOSTS / "split.wasm", HOSTS / "calls.wasm"
NOT_THERE = 99999999  # a process id above the kernel's greatest


def prepare():
    (FOLDER / "none.pb").write_bytes(synthetic.counted({}))
    (FOLDER / "garbage.pb").write_bytes(bytes(range(256)) * 40)
    (FOLDER / "nothing.pb").write_bytes(b"")
    (FOLDER / "garbage.wasm").write_bytes(b"\0asm garbage")
    (FOLDER / "empty").mkdir()
    (FOLDER / "before.pb").write_bytes(synthetic.counted({"a": 500, "b": 500}))
    (FOLDER / "after.pb").write_bytes(synthetic.counted({"a": 800, "b": 200}))
    run = harness.run_recorded(host(NEWEST, "split.wasm", "run", "argument=300", "cpu_ms=200"), FOLDER / "good.pb.gz", 1000)
    expect(run.status == 0, f"record: {run.status}: {tail(run.stderr)}")
    tell = Run([str(GUESTPROF), "report", "--json", str(FOLDER / "good.pb.gz")])
    return re.search(r'"module":"(split@[0-9a-f]{6})"', tell.stdout).group(1)


# What reads recordings: (command, of one without samples).
READERS = [("report", 3), ("report --json", 3), ("export --to folded", 3), ("merge -o out{}.pb", 3),
           ("symbolize -o out{}.pb --wasm " + str(GUEST), 3), ("view --no-open --once --timeout 1", 3), ("diff before.pb", 3),
           ("share --label a=b -o out{}.pb", 2), ("id", 0), ("audit --label a=b", 1)]
# What asks a process that runs.
ASKERS = ["status", "start", "stop", "dump -o -", "top -n 1", "record -d 1s -p"]
SUBCOMMANDS = """record report diff export merge view id symbolize share audit list status start stop dump top serve push
                 doctor lib""".split()


def table(module, sleeper):
    """Rows of (status, words): {sleeper} is a process without us."""
    rows = [(0, "--help"), (0, "help"), (0, "--version"), (2, ""), (2, "no-such-command"), (0, "lib"), (0, "list")]
    for name in SUBCOMMANDS:
        rows += [(125 if name == "record" else 2, f"{name} --no-such"), (0, f"{name} --help")]
    for i, (words, without) in enumerate(READERS):
        words = words.format(i)
        rows += [(without, f"{words} none.pb"), (2, f"{words} garbage.pb"), (2, f"{words} absent.pb"), (2, f"{words} empty"),
                 (2, f"{words} nothing.pb")]
    rows += [(0, f"{words} good.pb.gz") for words in
             ("report", "report --json", "export --to folded", "merge -o all.pb", f"symbolize -o named.pb --wasm {GUEST}",
              "view --no-open --timeout 1", "diff good.pb.gz", f"share --module {module} -o shared.pb", "id",
              f"id --match {GUEST}")]
    rows += [(3, "export --to folded --value wall good.pb.gz")]
    # nothing is left; a view that was not recorded
    for words in ("report", "export --to folded", "merge -o no.pb", "view --no-open", "diff good.pb.gz"):
        rows += [(3, f"{words} --module absent good.pb.gz"), (2, f"{words} --view full good.pb.gz"),
                 (2, f"{words} --include ( good.pb.gz")]
    rows += [
        # the program's own status, and ours
        (0, "record -o a.pb.gz -- true"), (7, "record -o b.pb.gz -- sh -c 'exit 7'"), (143, "record -o c.pb.gz -- sh -c 'kill -TERM $$'"),
        (127, "record -- /no/such/program"), (126, "record -- ./empty"), (125, "record"), (125, "record -F 0 -- true"),
        (125, "record --stacks none -- true"), (2, f"record -p {sleeper} -d x"),
        # found
        (0, "diff before.pb after.pb"), (1, "diff --fail-above 5 before.pb after.pb"), (0, "diff --fail-above 50 before.pb after.pb"),
        (1, "diff --json --fail-above 5 before.pb after.pb"), (1, f"audit --module {module} good.pb.gz"),
        (1, f"id --match {OTHER} good.pb.gz"), (3, f"share --module {module[:-7]} -o no.pb good.pb.gz"),
        # usage
        (2, "report --by x good.pb.gz"), (2, "report -n x good.pb.gz"), (2, "report --time x good.pb.gz"), (2, "report --names absent good.pb.gz"),
        (2, "export good.pb.gz"), (2, "export --to x good.pb.gz"), (2, "export --to folded -o /no/such/file good.pb.gz"),
        (2, "export --to folded --sources . good.pb.gz"), (2, "diff before.pb"), (2, "diff --fail-above x before.pb after.pb"),
        (2, "merge good.pb.gz"), (2, "merge -o /no/such/file good.pb.gz"), (2, "view --to x good.pb.gz"), (2, "view --timeout x good.pb.gz"),
        (2, "symbolize --wasm absent.wasm good.pb.gz"), (2, "symbolize --wasm garbage.wasm good.pb.gz"),
        (2, f"symbolize --wasm {OTHER} good.pb.gz"), (2, "share -o no.pb good.pb.gz"), (2, "share --module a --label b=c -o no.pb good.pb.gz"),
        (2, f"share --module {module} good.pb.gz"), (2, "audit good.pb.gz"), (2, "audit --module a"), (2, "id"),
        (2, "audit --module a --against garbage.pb good.pb.gz"), (2, "id --match garbage.wasm good.pb.gz"), (2, "list --dir /no/such"),
        (2, "serve --listen x"), (2, "serve --listen 0.0.0.0:0"), (2, "serve --listen 127.0.0.1:0 --dir /no/such"),
        (2, "push good.pb.gz"), (2, "push --to x good.pb.gz"), (2, "push --to http://127.0.0.1:9 --api x good.pb.gz"),
        (2, "push --to http://127.0.0.1:9 garbage.pb"), (2, "doctor"), (4, f"doctor {NOT_THERE}"), (3, f"doctor {sleeper}"),
        (1, "doctor -- true")]
    for words in ASKERS:
        rows += [(4, f"{words} {sleeper}"), (4, f"{words} {NOT_THERE}"), (4, f"{words} /no/such.sock"), (2, f"{words} x")]
    return rows + [(2, f"start --hz 0 {sleeper}"), (2, f"dump --last x {sleeper}"), (2, f"top -n 0 {sleeper}")]


def wrong(row):
    """What is wrong with a row of the table; None."""
    wanted, words = row
    run = Run([str(GUESTPROF), *shlex.split(words)], cwd=FOLDER)
    lines = run.stderr.splitlines()
    if run.status != wanted:
        return f"{words}: status {run.status}, not {wanted}: {tail(run.stderr)}"
    if wanted in (2, 4, 125) and words and not 1 <= len(lines) <= 2:
        return f"{words}: {len(lines)} lines: {tail(run.stderr)}"
    if words and not all(line.startswith("guestprof") for line in lines):
        return f"{words}: {tail(run.stderr)}"
    return None if wanted == 0 or lines or run.stdout else f"{words}: status {wanted}, and nothing is said"


@test("statuses: one table")
def statuses():
    module = prepare()
    with subprocess.Popen(["sleep", "600"]) as sleeper, concurrent.futures.ThreadPoolExecutor(2) as pool:
        try:
            rows = table(module, sleeper.pid)
            faults = [fault for fault in pool.map(wrong, rows) if fault]
        finally:
            sleeper.kill()
    expect(not faults, f"{len(faults)} of {len(rows)}: " + "; ".join(faults[:5]))
    named = set(re.findall(r"^  guestprof (\w+) ", Run([str(GUESTPROF), "--help"]).stdout, re.M))
    expect(named == set(SUBCOMMANDS), f"not in the table, or not in --help: {named ^ set(SUBCOMMANDS)}")
    clean = Run([str(GUESTPROF), "audit", "--module", module, str(FOLDER / "shared.pb")])
    expect(clean.status == 0, f"audit of what share wrote: {clean.status}: {tail(clean.stdout)}")


@test("statuses: of a process that runs")
def alive():
    with live.live(GUESTPROF_START="0") as there:
        out = there.folder / "out.pb"
        for wanted, words in ((0, ["status"]), (3, ["top", "-n", "1"]), (3, ["dump", "-o", out]), (0, ["start", "--hz", "1000"]),
                              (2, ["start"]), (0, ["top", "-n", "1"]), (0, ["stop"]), (0, ["stop"]),
                              (0, ["record", "-d", "1s", "-o", out, "-p"]), (0, ["dump", "-o", out]), (0, ["doctor", there.pid])):
            command = words if words[0] == "doctor" else [*words, there.socket]
            run = Run([str(GUESTPROF), *map(str, command)], cwd=there.folder)
            expect(run.status == wanted, f"{words}: status {run.status}, not {wanted}: {tail(run.stderr)}")
            expect(wanted == 0 or re.match("guestprof: .", run.stderr), f"{words}: {tail(run.stderr)}")


if __name__ == "__main__":
    sys.exit(harness.main())
