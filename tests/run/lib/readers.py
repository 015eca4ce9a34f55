# SPDX-License-Identifier: MIT
"""readers.py - what other people's programs read from our exports.

Mozilla's profiler-cli is the Firefox Profiler's own code; speedscope runs in headless Chromium and
its function table is read from the page; inferno draws folded stacks. Each answer is a dictionary
of function to (self, total).
"""

import base64
import contextlib
import json
import re
import shutil
import subprocess
import time

import browser
from harness import ENGINES, Failure, Run, Skip, environment, expect, folder, tail

VIEWERS = ENGINES / "viewers"
PROFILER_CLI = VIEWERS / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
SPEEDSCOPE = VIEWERS / "node_modules/speedscope/dist/release"
INFERNO = ENGINES / "inferno/bin/inferno-flamegraph"


def node():
    found = next(iter(sorted(ENGINES.glob("node-*/node"))), None) or shutil.which("node")
    if found is None or not PROFILER_CLI.exists():
        raise Skip("no node, or no profiler-cli: scripts/setup test")
    return str(found)


class Firefox:
    """A session of profiler-cli, whose daemon has FILE loaded.

    The daemon is ours: `load` starts it and gives it half a second, which is little where it is busy. It listens, then
    writes test.json, which the client needs; a client that asks before that, or finds half of it, removes socket and
    file, and the daemon is never found again (profiler-cli 0.10.0). So nobody asks before the file is whole.
    """

    STARTS, START_SECONDS = 4, 30

    def __init__(self, file, path):
        self.file, self.env = file, environment(PROFILER_CLI_SESSION_DIR=str(path))
        self.told = path / "test.json"
        self.daemon = None

    def start(self):
        self.daemon = subprocess.Popen(
            [node(), str(PROFILER_CLI), "--daemon", str(self.file), "--session", "test"], env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listens(self):
        """Whether it says where it is."""
        try:
            return "buildHash" in json.loads(self.told.read_text())
        except (OSError, ValueError):
            return False

    def answers(self):
        """Whether it does in time; else with what was said last."""
        deadline, said = time.monotonic() + self.START_SECONDS, "nothing"
        while self.daemon.poll() is None and time.monotonic() < deadline:
            if not self.listens():
                time.sleep(0.02)
                continue
            run = self._run("thread", "list", "--json")
            said = tail(run.stdout + run.stderr)
            if run.status == 0 or not self.listens():  # answered, or forgotten
                return run.status == 0, said
            time.sleep(0.2)
        return False, said

    def wait(self):
        for _ in range(self.STARTS):
            self.start()
            good, said = self.answers()
            if good:
                return
            self.close()
        raise Failure(f"profiler-cli does not load the file: {said}")

    def _run(self, *words):
        return Run([node(), str(PROFILER_CLI), *words, "--session", "test"], env=self.env, timeout=60)

    def ask(self, *words):
        run = self._run(*words, "--json")
        expect(run.status == 0, f"profiler-cli {words}: {tail(run.stdout + run.stderr)}")
        return json.loads(run.stdout)

    def threads(self):
        """Name to {cpuMs, markerCount, threadHandle}, in the order of the file."""
        rows = sorted(self.ask("thread", "list")["threads"], key=lambda row: row["threadIndex"])
        return {row["name"]: row for row in rows}

    def functions(self, handle):
        rows = self.ask("thread", "functions", "--thread", handle, "--include-idle", "--limit", "0")["functions"]
        return add_up((row["name"], row["selfSamples"], row["totalSamples"]) for row in rows)

    def close(self):
        self.daemon.kill()
        self.daemon.wait()


@contextlib.contextmanager
def firefox(file):
    with folder() as path:
        session = Firefox(file, path)
        try:
            session.wait()
            yield session
        finally:
            session.close()


def add_up(rows):
    """Functions of one name are one."""
    table = {}
    for name, own, total in rows:
        before = table.get(name, (0, 0))
        table[name] = (before[0] + own, before[1] + total)
    return table


UNITS_NS = {"ns": 1, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}


def weight(text):
    """ns of "1.39s (49%)" or "1:02.5"; as it is when it has no unit."""
    number, unit = re.match(r"([\d.,:]+)\s*(\D*?)\s*\(", text).groups()
    parts = [float(part) for part in number.replace(",", "").split(":")]
    value = parts[0] if len(parts) == 1 else parts[0] * 60 + parts[1]
    return value * (UNITS_NS[unit] if unit else 1e9 if len(parts) == 2 else 1)


# The list of profiles is a table too.
ROWS = """[...document.querySelectorAll("table tr")].map((row) =>
           [...row.querySelectorAll("td")].map((cell) => cell.textContent))
           .filter((row) => row.length == 3 && /%\\)$/.test(row[0]))"""


class Speedscope:
    """speedscope, from its npm package by file:, with FILE loaded; the table of one profile at a time."""

    def __init__(self, running, file, path):
        shutil.copytree(SPEEDSCOPE, path / "app")
        content = base64.b64encode(file.read_bytes()).decode()
        (path / "profile.js").write_text(f'speedscope.loadFileFromBase64("{file.name}","{content}")')
        self.page = running.open(f"file://{path}/app/index.html#view=sandwich&localProfilePath={path}/profile.js")
        # The table has only the rows that are to be seen.
        self.page.call("Emulation.setDeviceMetricsOverride", width=1280, height=3000, deviceScaleFactor=1,
                       mobile=False)
        self._wait(lambda: self.page.wait("document.title") not in ("", "speedscope") and self.page.wait(ROWS))

    def _wait(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            expect(time.monotonic() < deadline,
                   f"speedscope shows {self.page.wait('document.title')!r}: {self.page.wait('document.body.innerText')[:300]}")
            time.sleep(0.05)

    def functions(self):
        """Name to (self, total), in ns to three digits or so."""
        return add_up((name, weight(own), weight(total)) for total, own, name in self.page.wait(ROWS))


@contextlib.contextmanager
def speedscope(file):
    if not SPEEDSCOPE.exists():
        raise Skip("no speedscope: scripts/setup test")
    with browser.browser() as running, folder() as path:
        yield Speedscope(running, file, path)


def inferno(file):
    """Titles of the frames that inferno drew: name to the samples in it, all places added up."""
    if not INFERNO.exists():
        raise Skip("no inferno: scripts/setup test")
    run = Run([str(INFERNO), "--minwidth", "0", str(file)])
    expect(run.status == 0 and not run.stderr, f"inferno: status {run.status}: {tail(run.stderr)}")
    table = {}
    for title in re.findall(r"<title>(.*?) \(([\d,]+) samples, [\d.]+%\)</title>", run.stdout, re.S):
        table[title[0]] = table.get(title[0], 0) + int(title[1].replace(",", ""))
    return table


PPROF_FORMAT = """
const {Profile} = require("pprof-format"), zlib = require("zlib"), fs = require("fs");
const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[1])));
const text = (index) => (profile.stringTable.strings || profile.stringTable)[Number(index)];
const names = new Map(profile.function.map((row) => [String(row.id), text(row.name)]));
const lines = new Map(profile.location.map((row) => [String(row.id),
    row.line.map((line) => names.get(String(line.functionId)))]));
console.log(JSON.stringify(profile.sample.map((sample) =>
    [sample.locationId.flatMap((id) => lines.get(String(id))).reverse(), Number(sample.value[0])])));
"""


def pprof_format(file):
    """[(names root first, count)] as npm's pprof-format reads it."""
    run = Run([node(), "-e", PPROF_FORMAT, str(file)], env=environment(NODE_PATH=str(VIEWERS / "node_modules")))
    expect(run.status == 0, f"pprof-format: {tail(run.stderr)}")
    return json.loads(run.stdout)


def folded(file):
    """[(frames, count)] by the strictest reader's rule: the last space is before the count."""
    rows = []
    for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
        found = re.fullmatch(r"([^;\x00-\x1f]+(?:;[^;\x00-\x1f]+)*) ([1-9][0-9]*)", line)
        expect(found, f"no folded line: {line[:200]!r}")
        frames = found.group(1).split(";")
        expect(not re.search(r" [0-9.]+$", frames[-1]), f"a leaf that is read as a count: {line[-200:]!r}")
        rows.append((frames, int(found.group(2))))
    expect(rows, f"{file} is empty")
    return rows
