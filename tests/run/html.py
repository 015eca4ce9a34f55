#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""html.py - the html page, driven in headless Chromium; and `guestprof view`, which serves it.

The recording is of a Python program with two modules: functions whose shares are known, and
functions whose names try to be markup. What the page draws is on a canvas: it is asked for through
the page's own tree, and what it says through its elements.
"""

import contextlib
import functools
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + "/lib")
import browser
import harness
import hostile
import pprof
import synthetic
from harness import GUESTPROF, NEWEST, PYTHON, ROOT, Run, environment, expect, tail, test
from synthetic import field

HZ = 1000
STACKS = 60000
OPEN_S = 3.0
SLOW = 3  # other tests run on the same two cores
ROW = 18  # pixels, flame.js


@functools.lru_cache(maxsize=None)
def place():
    return pathlib.Path(tempfile.mkdtemp(prefix="guestprof-html-"))


@functools.lru_cache(maxsize=None)
def recording():
    (place() / "hostile.wasm").write_bytes(hostile.guest())
    file = place() / "pair.pb.gz"
    run = harness.run_recorded([PYTHON, ROOT / "tests/host/pair.py", place() / "hostile.wasm", "2"], file, HZ)
    expect(run.status == 0 and file.exists(), f"status {run.status}: {tail(run.stderr)}")
    return file


def export(file, *options):
    """Address of the page."""
    out = place() / (file.name.split(".")[0] + ".html")
    run = Run([str(GUESTPROF), "export", "--to", "html", "-o", str(out), *map(str, options), str(file)])
    expect(run.status == 0 and out.exists(), f"export: status {run.status}: {tail(run.stderr)}")
    return out.as_uri()


@functools.lru_cache(maxsize=None)
def chromium():
    return browser.Browser()


def opened(file, *options, dark=False):
    return chromium().open(export(file, *options), dark)


def is_quiet(page, url):
    expect(not page.complaints(), f"the page complains: {page.complaints()}")
    expect(page.requests() == [url], f"the page asks for {page.requests()}")


def percent(text):
    found = re.search(r"([\d.]+) %", text)
    expect(found, f"no share in {text!r}")
    return float(found.group(1))


def painted(page):
    page.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")


def type_search(page, text):
    page.wait("byId('search').value = ''; byId('search').focus()")
    page.call("Input.insertText", text=text)
    painted(page)
    return page.text("#matched")


def share_of(file, name, group=None):
    """Percent of the CPU time of samples that have NAME on their stack, as the recording has it."""
    samples = [s for s in pprof.read(file).samples if group is None or s.labels.get("wasm_module") == group]
    found = sum(s.cpu_ns for s in samples if any(name == frame.name for frame in s.frames))
    return 100 * found / sum(s.cpu_ns for s in samples)


def near(found, wanted, what):
    expect(abs(found - wanted) <= 0.06, f"{what}: {found} %, the recording has {wanted:.2f} %")


def names_in(page):
    """Of the frames that are drawn wide enough for a label, by row."""
    return page.wait("flame.rows.map((row) => row.filter((r) => r.right - r.left > 20)"
                     ".map((r) => nodeLabel(flame.tree, r.node)))")


# ---- the page ---------------------------------------------------------------------------------------------------

@test("html: head, search, next match")
def finds():
    page = opened(recording())
    heads = page.text("#heads")
    for word in ("clock", "Hz asked for", "samples", "a share of 10 %", "lost", "own cost"):
        expect(word in heads, f"no {word!r} in the head: {heads}")
    near(percent(type_search(page, "^resize$")), share_of(recording(), "resize"), "matched resize")
    near(percent(type_search(page, "^RESIZE$")), 0, "large letters match large ones only")
    type_search(page, "^(blur|encode)$")
    seen = []
    for _ in range(3):
        page.key("Enter")
        seen.append(page.text("#details").split(" ")[0])
    expect(seen == ["blur", "encode", "blur"], f"next matches: {seen}")
    expect("no regular expression" in type_search(page, "("), "a broken pattern is not told")
    is_quiet(page, export(recording()))


@test("html: zoom by mouse and keys, tooltip")
def zooms():
    page = opened(recording())
    page.wait("reveal(flame.tree.parent.findIndex((_, i) => i > 0 && nodeLabel(flame.tree, i) === 'resize')); zoomAndTell(0)")
    painted(page)
    x, y, width = page.wait("(() => { const box = flame.canvas.getBoundingClientRect(); let at;"
                            "flame.rows.forEach((row, depth) => row.forEach((r) => { if (nodeLabel(flame.tree, r.node) === 'resize')"
                            f"at = [box.left + (r.left + r.right) / 2, box.top + depth * {ROW} + 5, r.right - r.left]; }}));"
                            "return at; })()")
    page.mouse("mouseMoved", x, y)
    tip = page.wait("byId('tooltip').innerText")
    for word in ("resize", "guest of images@", "self", "total", "95 % in"):
        expect(word in tip, f"no {word!r} in the tooltip: {tip}")
    page.click(x, y)
    painted(page)
    wider = page.wait("(() => { const r = flame.rows.flat().find((r) => r.node === flame.zoom); return r.right - r.left; })()")
    expect(width < 1000 < wider, f"width {width} before the click, {wider} after")
    expect(names_in(page)[-1] == ["encode"], f"below the zoom: {names_in(page)}")
    page.wait("byId('graph').focus()")
    for key, name in (("ArrowDown", "encode"), ("ArrowUp", "resize"), ("ArrowUp", "blur")):
        page.key(key)
        expect(page.text("#details").split(" ")[0] == name, f"{key} leads to {page.text('#details')}")
    page.key("Escape")
    expect(page.wait("flame.zoom") == 0, "Escape does not zoom out")
    is_quiet(page, export(recording()))


@test("html: groups, instances, inverted")
def selects():
    page = opened(recording())
    groups = page.wait("[...byId('group').options].map((option) => [option.value, option.textContent])")
    expect(len(groups) == 3 and groups[0][1] == "all", f"groups: {groups}")
    value, name = next(group for group in groups if group[1].startswith("images@"))
    choose = lambda what, to: page.wait(f"byId({json.dumps(what)}).value = {json.dumps(to)};"
                                        f"byId({json.dumps(what)}).dispatchEvent(new Event('change'))")
    choose("group", value)
    near(percent(type_search(page, "^resize$")), share_of(recording(), "resize", name.split(" ")[0]), "resize in its group")
    expect([row[0] for row in names_in(page)[:3]] == ["all", "thumbnail", "blur"], f"drawn: {names_in(page)}")
    instances = page.wait("[...byId('instance').options].map((option) => option.textContent)")
    expect(sum("#" in instance for instance in instances) >= 2, f"instances: {instances}")
    page.wait("byId('invert').click()")
    painted(page)
    leaves = page.wait("[...flame.tree.childrenOf(0)].map((i) => [nodeLabel(flame.tree, i), flame.tree.total[0][i]])")
    expect([leaf[0] for leaf in leaves][:3] == ["blur", "resize", "encode"], f"inverted: {leaves}")
    whole = page.wait("flame.tree.weights.sums[0]")
    expect(abs(sum(leaf[1] for leaf in leaves) - whole) < 1, f"inverted: {leaves} of {whole}")
    is_quiet(page, export(recording()))


@test("html: the table has what the graph has")
def tabulates():
    page = opened(recording())
    page.wait("byId('graph').focus()")
    page.key("t")
    rows = page.wait("[...document.querySelectorAll('#functions tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    for name in ("blur", "resize", "encode"):
        row = next((row for row in rows if row[4] == name), None)
        expect(row, f"no {name} in {rows[:5]}")
        near(percent(row[1]), share_of(recording(), name), f"total of {name}")
    expect(len(rows) >= 30, f"only {len(rows)} functions")
    page.key("?")
    expect(page.wait("byId('help').open"), "no help")
    expect("next match" in page.text("#keys"), page.text("#keys"))
    is_quiet(page, export(recording()))


@test("html: dark and light")
def themes():
    back = "getComputedStyle(document.body).backgroundColor"
    pixel = "[...flame.context.getImageData(600, flame.canvas.height - 3, 1, 1).data]"
    page = opened(recording())
    expect(page.wait(back) == "rgb(255, 255, 255)", page.wait(back))
    page.wait("byId('graph').focus()")
    page.key("d")
    painted(page)
    expect(page.wait(back) == "rgb(21, 24, 28)", f"after the key: {page.wait(back)}")
    expect(page.wait(pixel) == [21, 24, 28, 255], f"the canvas is {page.wait(pixel)}")
    page = opened(recording(), dark=True)
    expect(page.wait(back) == "rgb(21, 24, 28)", f"where dark is preferred: {page.wait(back)}")
    is_quiet(page, export(recording()))


@test("html: hostile names are text")
def hostile_names():
    page = opened(recording())
    text = pathlib.Path(place() / "pair.html").read_text(encoding="utf-8")
    expect(not hostile.RAW.search(text.replace("\t", "")), "characters that hide or reorder are in the page")
    expect(text.count("<script") == 2 and text.count("</script") == 2, "a name is markup")
    page.wait("showTable(true); document.querySelectorAll('option').length")
    seen = page.wait("[...document.querySelectorAll('#functions tbody td.name')].map((cell) => cell.textContent)")
    seen = [cell[:80] for cell in seen]
    for name in ("</script><script>alert(1)//", "<img src=x onerror=alert(1)>", "<!--", "&lt;b&gt;", "\\x1b[31mred", "line\\x0aroot",
                 "\\u{200f}mark", "{{constructor}}"):
        expect(any(name in cell for cell in seen), f"{name!r} is not shown as it is: {seen}")
    expect(page.wait("document.scripts.length") == 1 and page.wait("document.images.length") == 0, "a name became an element")
    is_quiet(page, export(recording()))


@test("html: source lines")
def sources():
    """Frames of a pprof file name files; one is there, one is a secret beside the folder."""
    with harness.folder() as path:
        (path / "src").mkdir()
        (path / "src/file_1.rs").write_text("// one\n" + "\tlet x = \"</script>\";\n" * 20)
        (path.parent / (path.name + "-secret")).write_text("SECRET\n")
        texts = synthetic.Texts()
        file = path / "lines.pb"
        fields = [field(1, field(1, texts.id("samples")) + field(2, texts.id("count")))]
        for i, name in enumerate(("src/file_1.rs", f"../{path.name}-secret"), 1):
            fields.append(field(5, field(1, i) + field(2, texts.id(f"f{i}")) + field(4, texts.id(name)) + field(5, 2)))
            fields.append(field(4, field(1, i) + field(4, field(1, i) + field(2, 3))))
            fields.append(field(2, synthetic.packed(1, [i]) + synthetic.packed(2, [60])))
        file.write_bytes(b"".join(texts.fields + fields))
        run = Run([str(GUESTPROF), "export", "--to", "html", "-o", str(path / "lines.html"), "--sources", str(path), str(file)])
        (path.parent / (path.name + "-secret")).unlink()
        expect(run.status == 0 and "1 of the 2 source files" in run.stderr, run.stderr)
        expect("SECRET" not in (path / "lines.html").read_text(), "a file outside of the folder is in the page")
        page = chromium().open((path / "lines.html").as_uri())
        page.wait("showFunction([0, 1].find((fn) => functionName(fn) === 'f1')); toggleSource()")
        row = page.wait("[...document.querySelector('#source tr.here').cells].map((cell) => cell.textContent)")
        said = page.wait("describe(flame.tree, flame.tree.unit.findIndex((unit, i) => i > 0 && functionName(unitFunction(unit)) === 'f1')).join('|')")
        expect("src/file_1.rs:2" in said, f"no source line in the tooltip: {said}")
        expect(row == ["50.0 %", "50.0 %", "3", "        let x = \"</script>\";"], f"the line: {row}")
        is_quiet(page, (path / "lines.html").as_uri())


@test("html: views")
def views():
    """Each shows less of the same samples."""
    file = place() / "full.pb.gz"
    run = harness.run_recorded(harness.host(NEWEST, "calls.wasm", "callback", "cpu_ms=500"), file, HZ, env=environment(GUESTPROF_STACKS="full"))
    expect(run.status == 0, f"status {run.status}: {tail(run.stderr)}")
    page = opened(file)
    whole, guest = page.wait("flame.tree.total[0][0]"), {"all", "callback", "callback_upper", "callback_lower"}
    for view, wanted, unwanted in ((2, guest | {"main", "env.work", "import_burn"}, set()),
                                   (1, guest | {"env.work"}, {"main", "import_burn"}), (0, guest, {"main", "env.work", "import_burn"})):
        page.wait(f"byId('view').value = {view}; byId('view').dispatchEvent(new Event('change'))")
        names = set(page.wait("flame.tree.parent.map((_, i) => nodeLabel(flame.tree, i))"))
        expect(wanted <= names and not unwanted & names, f"view {view} shows {names}")
        expect(page.wait("flame.tree.total[0][0]") == whole, f"view {view} loses samples")
    is_quiet(page, export(file))


@test("html: what changed, in colours")
def changes():
    """Of a thousand samples each: red is more, blue less, grey what sampling twice would give."""
    shares = {"grew": (200, 400), "shrank": (390, 200), "noise": (410, 400)}
    for side, name in enumerate(("before", "after")):
        (place() / f"{name}.pb").write_bytes(synthetic.counted({fn: counts[side] for fn, counts in shares.items()}))
    out = place() / "change.html"
    run = Run([str(GUESTPROF), "diff", "--to", "html", "-o", str(out), str(place() / "before.pb"), str(place() / "after.pb")])
    expect(run.status == 0, f"diff: status {run.status}: {tail(run.stderr)}")
    page = chromium().open(out.as_uri())
    expect([page.text(f"#heads dl:nth-child({i}) h2") for i in (1, 2)] == ["before", "after"], page.text("#heads"))

    def seen(name):
        """Colour of the frame, beside its label; what is said of it."""
        x, depth, node = page.wait("(() => { let at; flame.rows.forEach((row, depth) => row.forEach((r) => {"
                                   f"if (nodeLabel(flame.tree, r.node) === '{name}') at = [r.right - 8, depth, r.node]; }})); return at; }})()")
        # of a copy: Chromium complains of a canvas that is read more than once
        red, _, blue, _ = page.wait("(() => { const copy = document.createElement('canvas').getContext('2d');"
                                    f"copy.drawImage(flame.canvas, -{int(x)}, -{depth * ROW + 3});"
                                    "return [...copy.getImageData(0, 0, 1, 1).data]; })()")
        colour = "red" if red > blue + 40 else "blue" if blue > red + 40 else "grey"
        return colour, page.wait(f"describe(flame.tree, {node}).join('\\n')")

    for dark in (False, True):
        if dark:
            page.wait("byId('graph').focus()")
            page.key("d")
            painted(page)
        for name, colour, said in (("grew", "red", "+20.0 points"), ("shrank", "blue", "-19.0 points"),
                                   ("noise", "grey", "no more than the sampling error")):
            shown, words = seen(name)
            expect(shown == colour and said in words, f"{name}, dark {dark}: {shown}: {words}")
        expect("before 20.0 % (200 samples), after 40.0 % (400 samples)" in seen("grew")[1], seen("grew")[1])
    near(percent(type_search(page, "^grew$")), 40, "matched after")
    page.wait("byId('side').value = 0; byId('side').dispatchEvent(new Event('change'))")
    painted(page)
    near(percent(page.text("#matched")), 20, "matched before")
    page.wait("showTable(true)")
    rows = page.wait("[...document.querySelectorAll('#functions tbody tr')].map((row) => row.textContent)")
    expect(any("grew" in row and "(is 40.0 %)" in row for row in rows), f"the table: {rows}")
    is_quiet(page, out.as_uri())


def many_stacks(file):
    randoms, texts = random.Random(1), synthetic.Texts()
    keys = {name: texts.id(name) for name in synthetic.LABELS}
    value = lambda number, kind: field(number, field(1, texts.id(kind)) + field(2, texts.id("count")))
    fields = [value(1, "samples"), value(1, "cpu")] + synthetic.tables(texts, 2000, 40)
    for i, stack in enumerate(synthetic.stacks_of(randoms, STACKS, 2000)):
        fields.append(synthetic.sample(texts, keys, synthetic.packed(1, stack), i % 40, i % 1000, i))
    file.write_bytes(b"".join(texts.fields + fields))


@test("html: {} distinct stacks", STACKS)
def opens_quickly(_):
    file = place() / "many.pb"
    many_stacks(file)
    started = time.monotonic()
    url = export(file)
    wrote, size = time.monotonic() - started, (place() / "many.html").stat().st_size
    page = chromium().open(url, timeout=120)
    started = time.monotonic()
    page.wait("byId('invert').click()")
    painted(page)
    inverted = time.monotonic() - started
    print(f"# {STACKS} stacks: written in {wrote:.2f} s, {size / 1e6:.1f} MB; drawn {page.seconds:.2f} s after it was asked for, "
          f"inverted in {inverted:.2f} s", flush=True)
    expect(page.seconds < SLOW * OPEN_S, f"opened in {page.seconds:.1f} s")
    expect("60,000 samples" in page.text("#details"), page.text("#details"))
    is_quiet(page, url)


# ---- guestprof view ---------------------------------------------------------------------------------------------

@contextlib.contextmanager
def viewing(*options, **more):
    """The running command, and the addresses that it printed."""
    with subprocess.Popen([str(GUESTPROF), "view", *options, str(recording())], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(**more)) as process:
        try:
            text, deadline = b"", time.monotonic() + 30
            while text.count(b"\n") < (1 if "--to" in options else 2):
                expect(select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0], "no address within 30 s")
                part = os.read(process.stdout.fileno(), 4096)
                expect(part, "the command is gone")
                text += part
            yield process, dict(line.split(maxsplit=1) for line in text.decode().splitlines())
        finally:
            process.kill()


def ask(url, host=None, method="GET", **headers):
    """(status, headers, body) of a request to 127.0.0.1 that says it is for HOST."""
    where, path = re.fullmatch(r"http://([^/]+)(/.*)", url).groups()
    connection = http.client.HTTPConnection(where, timeout=30)
    try:
        connection.request(method, path, headers={"Host": host or where, **headers})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


@test("view: only with the token, only to this host")
def view_refuses():
    with viewing("--no-open") as (process, lines):
        page = lines["html"]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/[0-9a-f]{32}/profile\.html", page)
        expect(found, page)
        port = found.group(1)
        firefox = page.replace("profile.html", "profile.json.gz")
        encoded = firefox.replace(":", "%3A").replace("/", "%2F")
        expect(lines["firefox"] == "https://profiler.firefox.com/from-url/" + encoded, lines["firefox"])
        status, headers, body = ask(page)
        expect(status == 200 and body.startswith(b"<!DOCTYPE html>") and "text/html" in headers["Content-Type"], f"{status} {headers}")
        expect(headers["Access-Control-Allow-Origin"] is None, "any page may read the html")
        status, headers, body = ask(firefox, Origin="https://profiler.firefox.com")
        expect(status == 200 and "threads" in json.loads(gzip.decompress(body)), f"{status}")
        expect(headers["Access-Control-Allow-Origin"] == "https://profiler.firefox.com", str(headers))
        expect(ask(page, host=f"localhost:{port}")[0] == 200, "localhost is refused")
        for host in (f"evil.example:{port}", "evil.example", "127.0.0.1", f"127.0.0.1:{int(port) % 65535 + 1}",
                     f"127.0.0.1:{port}.evil.example"):
            expect(ask(page, host=host)[0] == 403, f"Host {host} is not refused")
        token = page.split("/")[3]
        for wrong in (page.replace(token, "0" * 32), page.replace(token, token[:-1]), page.replace(token, token + "0"),
                      page.replace("/" + token, ""), page + "x", page.replace("profile.html", ""),
                      page.replace("profile.html", "../" + token + "/profile.html")):
            status, _, body = ask(wrong)
            expect(status == 404 and len(body) < 100, f"{wrong}: {status}")
        expect(ask(page, method="POST")[0] == 405 and ask(page, method="DELETE")[0] == 405, "other methods")
        status, headers, _ = ask(firefox, method="OPTIONS", Origin="https://profiler.firefox.com")
        expect(status == 204 and headers["Access-Control-Allow-Private-Network"] == "true", f"{status} {headers}")
        process.send_signal(signal.SIGINT)
        expect(process.wait(30) == 0, f"status {process.returncode} after SIGINT")
        expect("stays on this machine" in process.stderr.read().decode(), "does not say where the data stays")


@test("view: --once, --timeout, the page in a browser")
def view_ends():
    with viewing("--no-open", "--once", "--to", "html") as (process, lines):
        page = chromium().open(lines["html"])
        expect("Hz asked for" in page.text("#heads"), page.text("#heads"))
        expect(process.wait(30) == 0, "does not end after the page was fetched")
        expect(not page.complaints(), f"the page complains: {page.complaints()}")
    started = time.monotonic()
    with viewing("--no-open", "--timeout", "1") as (process, lines):
        expect(process.wait(30) == 0 and time.monotonic() - started >= 1, "the timeout")


@test("view: opens $BROWSER with both addresses")
def view_opens():
    with harness.folder() as path:
        program = path / "browser"
        program.write_text(f"#!/bin/sh\necho \"$# $1\" >>{path}/opened\n")
        program.chmod(0o755)
        with viewing(BROWSER=f"{program}:other") as (_, lines):
            deadline, opened_lines = time.monotonic() + 30, []
            while len(opened_lines) < 2 and time.monotonic() < deadline:
                opened_lines = (path / "opened").read_text().splitlines() if (path / "opened").exists() else []
                time.sleep(0.02)
            expect(sorted(opened_lines) == sorted(f"1 {address}" for address in lines.values()), f"{opened_lines}")


if __name__ == "__main__":
    try:
        status = harness.main()
    finally:
        if chromium.cache_info().currsize:
            chromium().close()
        if place.cache_info().currsize:
            shutil.rmtree(place(), ignore_errors=True)
    sys.exit(status)
