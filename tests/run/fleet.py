#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet.py - `guestprof serve` and `push`: a real host is scraped, listed, counted and pushed while it runs."""

import collections
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import pprof
from harness import ENGINES, GUESTPROF, LIBRARY, PPROF, PYTHON, ROOT, Run, Skip, environment, expect, test

RECEIVER = ENGINES / "receiver/receiver"
WAITING_MAX = 256


class Server:
    """`guestprof serve` that runs; its port is in the line it says."""

    def __init__(self, folder, *words):
        self.errors = folder / "serve.err"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([str(GUESTPROF), "serve", "--listen", "127.0.0.1:0", *map(str, words)],
                                            cwd=folder, stdin=subprocess.DEVNULL, stderr=errors, env=environment())
        live.wait_for(lambda: self.port() or self.process.poll() is not None)
        expect(self.process.poll() is None, f"serve ends: {self.errors.read_text()}")

    def port(self):
        found = re.search(r"serving http://127\.0\.0\.1:(\d+)/", self.errors.read_text())
        return int(found.group(1)) if found else None

    def get(self, path, timeout=100, method="GET", **headers):
        """(status, body, headers); NAME_X is the header Name-X."""
        client = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=timeout)
        with contextlib.closing(client):
            client.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
            answer = client.getresponse()
            return answer.status, answer.read(), answer.headers

    def profile(self, query):
        status, body, _ = self.get(f"/debug/pprof/profile?{query}")
        expect(status == 200, f"profile?{query}: {status} {body[:200]}")
        return body

    def metrics(self):
        """Line's beginning to number."""
        status, body, headers = self.get("/metrics")
        expect(status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), f"{status} {headers}")
        rows = [line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#")]
        expect(len(rows) == len({name for name, _ in rows}), f"a series is there twice: {body.decode()}")
        return {name: float(value) for name, value in rows}

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise harness.Failure("serve does not end") from None
        expect(status == 0, f"serve ends with {status}: {self.errors.read_text()}")


@contextlib.contextmanager
def server(folder, *words):
    running = Server(folder, *words)
    try:
        yield running
        running.end()
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def apart(command):
    """COMMAND in a pid namespace of its own, where there are such."""
    words = ["unshare", "--pid", "--fork", "--kill-child"]
    return [*words, *command] if Run([*words, "true"]).status == 0 else command


@contextlib.contextmanager
def host(folder, script="three.py", seconds=40, around=lambda command: command, **env):
    """A program on the wasmtime package that records into FOLDER, or as ENV says."""
    process = subprocess.Popen(
        around([str(PYTHON), str(ROOT / "tests/host" / script), str(seconds)]), cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_HZ="250", **env))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def read(body):
    return pprof.Profile(body)


def wait_for_samples(running):
    live.wait_for(lambda: any(value > 0.3 for name, value in running.metrics().items()
                              if name.startswith("guestprof_cpu_seconds_total")), seconds=60, what="samples")


def discovered(running):
    """The targets of /sd, which are what Prometheus' http_sd takes: prometheus.io/docs/.../http_sd."""
    status, body, headers = running.get("/sd")
    expect(status == 200 and headers["Content-Type"] == "application/json", f"{status} {headers}")
    targets = json.loads(body)
    for target in targets:
        expect(target.keys() == {"targets", "labels"} and target["targets"] == [f"127.0.0.1:{running.port()}"], f"{target}")
        for key, value in target["labels"].items():
            expect(re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", key) and isinstance(value, str), f"{target}")
    return targets


def counted(folder):
    """Samples of all recordings in FOLDER by module."""
    counts = collections.Counter()
    for file in folder.glob("guestprof.*.pb*"):
        counts.update(pprof.read(file).counts("wasm_module"))
    return counts


@test("windows: what is served is what was recorded", beside=True)
def windows():
    with harness.folder() as folder:
        with server(folder, "--dir", folder) as running:
            # Nothing runs: an empty profile that pprof takes.
            empty = read(running.profile("seconds=1"))
            expect(not empty.samples and empty.types[:2] == ["samples", "cpu"], f"{empty.types}")
            with host(folder, "app.py") as process:
                wait_for_samples(running)
                started = time.time_ns()
                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    group_query = None
                    targets = discovered(running)
                    for target in targets:
                        if target["labels"]["__meta_guestprof_target"] == "group":
                            group_query = urllib.parse.urlencode({"group": target["labels"]["__param_group"]})
                    expect(group_query, f"no group in {targets}")
                    queries = ["seconds=2", f"seconds=2&{group_query}", "seconds=2&module=images",
                               "seconds=2&group=images-that-is-not"]
                    for _ in range(5):
                        time.sleep((1.1 - time.time() % 1) % 1)  # all within one second: one window
                        bodies = list(pool.map(running.profile, queries))
                        whole, group, module, other = map(read, bodies)
                        if whole.time_ns == group.time_ns == module.time_ns:
                            break
                expect(whole.total() > 0, "no samples in two seconds of two threads")
                expect(whole.total() == group.total() == module.total() and not other.samples,
                       f"the parts: {whole.total()} {group.total()} {module.total()} {other.total()}")
                expect(bodies[0][:2] == b"\x1f\x8b", "not gzip")
                expect(abs(whole.duration_ns - 2e9) < 1 and started - 3e9 < whole.time_ns < time.time_ns(),
                       f"the window is {whole.time_ns}, {whole.duration_ns}")
                labels = {key for sample in whole.samples for key in sample.labels}
                expect(labels == {"wasm_module"}, f"labels {labels}")
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)
            # The same, out of the file: rows that begin in the window.
            file = next(folder.glob("guestprof.*.pb*"))
            recorded = pprof.read(file)
            there = sum(sample.count for sample in recorded.samples
                        if whole.time_ns <= recorded.time_ns + sample.labels.get("time", 0) < whole.time_ns + 2e9)
            expect(there == whole.total(), f"{whole.total()} served, {there} in the file")
            # All that was recorded has been counted, the process's end included.
            groups = sum(row.get(5, 0) for row in recorded.groups.values())
            live.wait_for(lambda: sum(value for name, value in running.metrics().items()
                                      if name.startswith("guestprof_samples_total")) == groups)


@test("google/pprof fetches over HTTP", beside=True)
def fetched():
    if not PPROF.exists():
        raise Skip("no pprof: scripts/setup test")
    with harness.folder() as folder, server(folder, "--dir", folder) as running, host(folder):
        wait_for_samples(running)
        run = Run([str(PPROF), "-proto", "-symbolize=none", "-output", str(folder / "fetched"), "-seconds", "4",
                   f"http://127.0.0.1:{running.port()}/debug/pprof/profile"], env=environment(PPROF_TMPDIR=str(folder)))
        expect(run.status == 0, f"pprof: {run.stderr}")
        profile = pprof.read(folder / "fetched")
        expect(profile.total() > 0, "no samples in four seconds")
        names = {frame.name for sample in profile.samples for frame in sample.frames}
        expect({"work", "middle", "leaf"} <= names, f"{names}")
        # An instance of its own.
        parts = [read(running.profile(f"seconds={seconds}&instance={urllib.parse.quote(name)}"))
                 for seconds, name in ((4, f"{next(iter(counted(folder)))}#3"), (1, "nobody"))]
        expect(parts[0].total() > 0 and not parts[1].samples, f"{[part.total() for part in parts]}")
        expect(all(sample.labels["wasm_instance"].endswith("#3") for sample in parts[0].samples), "of another instance")


@test("300 at once: 256 are answered, the others are told to come back", beside=True)
def crowd():
    with harness.folder() as folder, server(folder, "--dir", folder) as running, host(folder):
        wait_for_samples(running)
        with concurrent.futures.ThreadPoolExecutor(300) as pool:
            answers = list(pool.map(lambda _: running.get("/debug/pprof/profile?seconds=4"), range(300)))
        statuses = collections.Counter(status for status, _, _ in answers)
        # A slow machine may need longer than one window for 300 requests; never are more waiting.
        expect(set(statuses) <= {200, 503} and statuses[200] >= WAITING_MAX, f"{statuses}")
        harness.say(f"# {dict(statuses)}")
        for status, body, headers in answers:
            if status == 503:
                expect(headers["Retry-After"] == "5" and b"try again" in body, f"{headers} {body}")
        kinds = {body for status, body, _ in answers if status == 200}
        expect(len(kinds) <= 5, f"{len(kinds)} different profiles of some seconds")
        metrics = running.metrics()
        expect(metrics["guestprof_serve_waiting"] == 0 and metrics["guestprof_serve_refused_total"] == statuses[503],
               f"{metrics}")


@test("counters never go back, whoever comes and goes", beside=True)
def monotone():
    """Each is process 1 of its own pid namespace, with the file name of the one before."""
    with harness.folder() as folder, server(folder, "--dir", folder) as running:
        before = {}
        for _ in range(3):
            with host(folder, around=apart):
                live.wait_for(lambda: sum(value for name, value in running.metrics().items()
                                          if "cpu_seconds" in name) > sum(
                                              value for name, value in before.items() if "cpu_seconds" in name) + 0.2,
                              seconds=60)
                now = running.metrics()
                for name, value in before.items():
                    if "_total" in name.split("{")[0]:
                        expect(now.get(name, -1) >= value, f"{name}: {value}, then {now.get(name)}")
                before = now
            for file in folder.glob("guestprof.*"):
                file.unlink()
        expect(any(line.startswith("guestprof_instances_created_total") and value == 9 for line, value in now.items()),
               f"{now}")


@test("a process without a file is served by its socket, from another pid namespace too", beside=True)
def by_socket():
    command = apart([str(PYTHON), str(ROOT / "tests/host/three.py"), "60"])
    with live.live(command, GUESTPROF_OUTPUT="none", GUESTPROF_HZ="250") as process, contextlib.ExitStack() as stack:
        rows = json.loads(Run([str(GUESTPROF), "list", "--json"]).stdout)["processes"]
        pid = next(row["pid"] for row in rows if row["socket"] == str(process.socket) and row["state"] == "runs")
        servers = []
        for name, words in (("socket", [process.socket]), ("directory", ["--dir", process.folder]), ("pid", [pid])):
            (process.folder / name).mkdir()
            servers.append(stack.enter_context(server(process.folder / name, *words)))
        for running in servers:
            wait_for_samples(running)
        time.sleep(2)  # so that the window has passed wholly under our eyes
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            profiles = [read(body) for body in pool.map(lambda running: running.profile("seconds=3"), servers)]
        for running, profile in zip(servers, profiles):
            expect(profile.total() > 0, "no samples by the socket")
            names = {frame.name for sample in profile.samples for frame in sample.frames}
            expect({"work", "middle", "leaf"} <= names, f"{names}")
            live.wait_for(lambda: len(discovered(running)) == 2)
        # Another process takes its place.
        process.process.kill()
        process.process.communicate()
        other = live.Live(process.folder, command[-3:], GUESTPROF_OUTPUT="none", GUESTPROF_HZ="250")
        stack.callback(other.process.communicate)
        stack.callback(other.process.kill)
        other.wait_for_socket()
        live.wait_for(lambda: f'"python3.{other.pid}"' in servers[0].get("/sd")[1].decode(), what="the other's target")


@test("sixty sockets that never answer hold nobody up", beside=True)
def silent():
    """Two seconds each, one after another, would be two minutes."""
    with live.live(GUESTPROF_OUTPUT="none", GUESTPROF_HZ="250") as process, contextlib.ExitStack() as stack:
        for number in range(60):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(process.folder / f"{number}.sock"))
            listener.listen(1 + number % 2)
        started = time.monotonic()
        with server(process.folder, "--dir", process.folder) as running:
            wait_for_samples(running)
            passed = time.monotonic() - started
            found = read(running.profile("seconds=2")).total()
            expect(passed < 60, f"{passed:.0f} s until the first samples")
            expect(found > 0, "no samples")


@test("nobody else is answered, and nonsense gets a plain word", beside=True)
def manners():
    with harness.folder() as folder:
        (folder / "token").write_text("0123456789abcdef-token\n")
        (folder / "guestprof.fake.1.pb").write_bytes(b"\xff" * 100000)
        (folder / "guestprof.torn.1.pb").write_bytes(b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\xff\xff\xff\xff\x0f")
        run = Run([str(GUESTPROF), "serve", "--listen", "0.0.0.0:0", "--dir", str(folder)], timeout=20)
        expect(run.status == 2 and "--token-file" in run.stderr, f"{run.status} {run.stderr}")
        with server(folder, "--dir", folder) as running:
            for query, status in (("seconds=0", 400), ("seconds=-1", 400), ("seconds=1e3", 400), ("seconds=301", 400),
                                  ("seconds", 400), ("seconds=1&seconds=2", 400), ("grop=x", 400), ("=", 400),
                                  ("group=%00x", 400), ("label=", 400), ("label==x", 400), ("group=" + "x" * 1025, 400),
                                  ("&".join(["label=a"] * 9), 400), ("group=" + "x" * 40000, 414),
                                  ("seconds=1&group=%ff%fe%0a<script>%22", 200),
                                  ("seconds=1&label=(((a*)*)*)*b=%25%s%n", 200), ("seconds=1&seconds=1", 200)):
                got, body, headers = running.get(f"/debug/pprof/profile?{query}")
                expect(got == status or (status == 414 and got in (400, 413, 414, 431)), f"{query[:80]}: {got} {body[:100]}")
                expect(got == 200 or status == 414 or (headers["Content-Type"].startswith("text/plain") and body.endswith(b"\n")),
                       f"{query[:80]}: {headers} {body[:100]}")
            for path, status in (("/", 200), ("/debug/pprof/", 200), ("/healthz", 200), ("/debug/pprof/heap", 404),
                                 ("/../../etc/passwd", 404), ("/sd/", 404), ("//", 404)):
                got, body, _ = running.get(path)
                expect(got == status, f"{path}: {got} {body[:100]}")
            expect(running.get("/sd", Host="evil.example")[0] == 403, "any Host is answered")
            expect(running.get("/sd", Host="localhost:1234")[0] == 200, "a forwarded port is not")
            expect(running.get("/metrics", method="POST")[0] == 405, "POST")
            expect(json.loads(running.get("/sd")[1]) == [], "targets of nothing")
        with server(folder, "--dir", folder, "--token-file", "token") as running:
            for header, status in ((None, 401), ("Bearer 0123456789abcdef-toke", 401), ("Bearer ", 401),
                                   ("Bearer 0123456789abcdef-tokenn", 401), ("Basic 0123456789abcdef-token", 401),
                                   ("Bearer 0123456789abcdef-token", 200)):
                got = running.get("/metrics", **({"Authorization": header} if header else {}))[0]
                expect(got == status, f"{header}: {got}")
            expect(running.get("/healthz")[0] == 200, "a probe has no token")


# ---- push -------------------------------------------------------------------------------------------------------


class Receiver:
    """tests/fleet/receiver that runs: lines() are the profiles it took."""

    def __init__(self, fail=0):
        if not RECEIVER.exists():
            raise Skip("no receiver: scripts/setup test")
        self.out = tempfile.TemporaryFile()  # a pipe would fill up
        self.process = subprocess.Popen([str(RECEIVER), str(fail)], stdout=self.out, stderr=subprocess.DEVNULL)
        live.wait_for(lambda: b"\n" in self.said())
        self.url = f"http://127.0.0.1:{int(self.said().split()[0])}"

    def said(self):
        return os.pread(self.out.fileno(), 64 << 20, 0)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        rows = [json.loads(line) for line in self.said().splitlines()[1:]]
        for row in rows:
            expect("error" not in row, f"{row}")
        return rows


@contextlib.contextmanager
def receiver(fail=0):
    running = Receiver(fail)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


@test("push: Pyroscope's code takes it, after two refusals; Parca's shape too", beside=True)
def pushed():
    with harness.folder() as folder:
        file = folder / "three.pb.gz"
        run = harness.run_recorded([PYTHON, ROOT / "tests/host/three.py", "1"], file, 1000)
        expect(run.status == 0, run.stderr)
        recorded = pprof.read(file)
        (folder / "token").write_text("0123456789abcdef\n")
        for api in ("pyroscope", "parca"):
            with receiver(fail=2 if api == "pyroscope" else 0) as running:
                run = Run([str(GUESTPROF), "push", "--to", running.url, "--api", api, "--label", "zone=a",
                           "--token-file", str(folder / "token"), str(file)])
                rows = running.end()
            expect(run.status == 0 and len(rows) == 1, f"{api}: {run.status} {run.stderr} {rows}")
            row = rows[0]
            expect(row["labels"] == {"__name__": "process_cpu", "service_name": recorded.info[3].decode(), "zone": "a"},
                   f"{row['labels']}")
            expect(row["values"]["samples"] == recorded.total() and row["keys"] == ["wasm_module"], f"{row}")
            expect(row["header"] == "Bearer 0123456789abcdef" and row["self"].get("leaf", 0) > 0, f"{row}")
        run = Run([str(GUESTPROF), "push", "--to", running.url + "/", str(folder / "no.pb")])
        expect(run.status == 2, f"no file: {run.status}")


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def big_profile(modules=50, threads=8, instances=10000):
    """A pprof of that many, each module's own function under each instance: what could become 4,000,000 series."""
    strings, rows, tables = ["", "samples", "count", "cpu", "nanoseconds", "wasm_module", "wasm_instance", "thread_name",
                             "tenant"], [], []

    def text(value):
        strings.append(value)
        return len(strings) - 1

    names = [text(f"module{i}") for i in range(modules)]
    owners = [text(f"tenant{i}") for i in range(modules)]
    on = [text(f"thread{i}") for i in range(threads)]
    for i in range(modules * 300):
        tables.append(field(5, field(1, i + 1) + field(2, text(f"function{i}"))))
        tables.append(field(4, field(1, i + 1) + field(4, field(1, i + 1))))
    for i in range(instances):
        module = i % modules
        instance = text(f"module{module}#{i}")
        for thread in range(threads):
            place = module * 300 + (i // modules * threads + thread) % 300 + 1
            labels = b"".join(field(3, field(1, key) + field(2, value)) for key, value in
                              ((5, names[module]), (6, instance), (7, on[thread]), (8, owners[module])))
            rows.append(field(2, field(1, place) + field(2, varint(1) + varint(10000000)) + labels))
    head = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    return b"".join([*(field(6, value.encode()) for value in strings), head, *tables, *rows]), instances * threads


@test("push: 50 modules x 8 threads x 10,000 instances are at most 51 series, in parts of 12,000 samples", beside=True)
def series():
    with harness.folder() as folder, receiver() as running:
        content, total = big_profile()
        (folder / "big.pb.gz").write_bytes(gzip.compress(content, 1))
        run = Run([str(GUESTPROF), "push", "--to", running.url, str(folder / "big.pb.gz")], timeout=60)
        rows = running.end()
    expect(run.status == 0, f"{run.status} {run.stderr}")
    found = {name for row in rows for name in row["series"]}
    expect(len(found) <= 51 and len(rows) >= 2, f"{len(found)} series in {len(rows)} parts")
    expect(sum(row["values"]["samples"] for row in rows) == total, f"{[row['values'] for row in rows]}, not {total}")
    expect(all(row["samples"] <= 12000 and row["size"] <= 3 << 20 for row in rows), f"{[row['size'] for row in rows]}")
    expect({key for row in rows for key in row["keys"]} == {"wasm_module", "tenant"}, f"{rows[0]['keys']}")
    harness.say(f"# {len(rows)} parts, {len(found)} series, {run.seconds:.1f} s")


@test("push --follow: windows follow each other, and nothing is sent twice", beside=True)
def followed():
    with harness.folder() as folder, receiver() as running:
        with host(folder) as process:
            push = subprocess.Popen([str(GUESTPROF), "push", "--to", running.url, "--follow", str(folder), "--every", "1s"],
                                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment())
            time.sleep(5)  # a few windows
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        time.sleep(3)  # the last window, and the second behind it
        push.terminate()
        _, err = push.communicate(timeout=30)
        rows = running.end()
        expect(push.returncode == 0, f"{push.returncode} {err}")
        recorded = pprof.read(next(folder.glob("guestprof.*.pb*")))
        sent = sum(row["values"]["samples"] for row in rows)
        # What was there before the first window began is not sent.
        expect(len(rows) >= 2 and 0.5 * recorded.total() < sent <= recorded.total(),
               f"{sent} of {recorded.total()} samples in {len(rows)} profiles: {err}")
        expect(all(row["duration"] == 10**9 for row in rows), f"{[row['duration'] for row in rows]}")


if __name__ == "__main__":
    sys.exit(harness.main())
