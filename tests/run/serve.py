#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve.py - `wasmtime serve`: a static host that makes a store for each of 1,000 requests."""

import bisect
import contextlib
import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, sys.path[0] + "/lib")
import cells
import harness
import pprof
from harness import ENGINES, HOSTS, LIBRARY, Failure, Skip, environment, expect, expect_chains, expect_shares, test

ENGINE = "wasmtime serve (a component)"
REQUESTS, CLIENTS, SECONDS = 1000, 4, 60
CHAINS = {("handle",), ("handle", "route"), ("handle", "route", "render")}
SHARES = {"route": 0.3, "render": 0.7}
LEARNED_AFTER, PAUSE_MS = 40, 12  # requests until stores' numbers are known; between two of them
RINGS_MIB, MEMORY_MIB = 40, 64  # of threads that serve for the first time; in all


def version():
    return next(ENGINES.glob("wasmtime-cli-*")).name.rpartition("-")[2].partition(".")[0]


@contextlib.contextmanager
def server(**settings):
    """A running server and the port it listens on; it is interrupted at the end and has to obey."""
    command = next(ENGINES.glob("wasmtime-cli-*"), None)
    if command is None:
        raise Skip("no wasmtime command")
    with subprocess.Popen([command / "wasmtime", "serve", "--addr", "127.0.0.1:0", "-C", "cache=n", HOSTS / "serve.wasm"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment(**settings)) as process:
        timer = threading.Timer(3 * SECONDS, process.kill)
        timer.start()
        try:
            said = process.stdout.readline()
            found = re.search(r"Serving HTTP on http://127\.0\.0\.1:(\d+)/", said)
            if not found:
                raise Failure(f"the server says {said!r}")
            yield process, int(found.group(1))
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            timer.cancel()


def ask(port, count):
    """Statuses and lengths of COUNT answers, from CLIENTS connections at once."""
    answers, left, deadline = [], iter(range(count)), time.monotonic() + SECONDS

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        while next(left, None) is not None and time.monotonic() < deadline:
            connection.request("GET", "/")
            answer = connection.getresponse()
            answers.append((answer.status, len(answer.read())))
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


@test("wasmtime serve: 1,000 requests")
def thousand():
    with server() as (process, port):
        plain = ask(port, REQUESTS // 5)
        alone_mib = resident_mib(process.pid)
    alone = process.returncode
    with harness.folder() as path:
        with server(LD_PRELOAD=str(LIBRARY), GUESTPROF_HZ="1000", GUESTPROF_OUTPUT=str(path / "out.%p.pb")) as (process, port):
            answers = ask(port, REQUESTS // 2)
            half_mib = resident_mib(process.pid)
            answers += ask(port, REQUESTS // 2)
            mib, files = resident_mib(process.pid), os.listdir(path)
        expect(process.returncode == alone, f"status {process.returncode}, without guestprof {alone}")
        expect(len(answers) == REQUESTS and set(answers) == set(plain) == {(202, 0)}, f"answers {set(answers)}")
        expect(len(files) <= 1 and len(os.listdir(path)) == 1, f"files {files}, then {os.listdir(path)}")
        profile = pprof.read(path / os.listdir(path)[0])
    print(f"# resident {alone_mib:.0f} MiB alone, {half_mib:.0f} MiB after 500 requests, {mib:.0f} MiB after 1,000")
    expect(mib < half_mib + RINGS_MIB and mib < alone_mib + MEMORY_MIB, f"{half_mib:.0f} MiB, then {mib:.0f} MiB")
    expect(profile.total() > 150, f"only {profile.total()} samples")
    instances = profile.counts("wasm_instance")
    told = sum(n for label, n in instances.items() if label and not label.endswith(" (module only)"))
    expect(told > 0.5 * profile.total(), f"of {profile.total()} samples {told} have an instance: {dict(instances)}")
    expect(len(instances) < 80, f"{len(instances)} names of instances: {list(instances)[:9]}")
    expect_shares({name: n for name, n in expect_chains(profile, CHAINS).items() if name in SHARES}, SHARES, slack=0.02)
    cells.measured(ENGINE, version(), "modules", "unwind tables that it registers, or a look at the mappings")
    cells.measure(ENGINE, version(), profile, CHAINS)


def ask_in_turn(port, count):
    """When each of COUNT requests was sent, Unix nanoseconds; with a pause after each."""
    connection, starts = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS), []
    for _ in range(count):
        starts.append(time.time_ns())
        connection.request("GET", "/")
        connection.getresponse().read()
        time.sleep(PAUSE_MS / 1000)
    connection.close()
    return starts


@test("wasmtime serve: 40 requests, 40 stores")
def forty():
    """Each request has a store of its own, mostly in the place of the one before."""
    with harness.folder() as path:
        with server(LD_PRELOAD=str(LIBRARY), GUESTPROF_HZ="4000", GUESTPROF_OUTPUT=str(path / "out.pb"),
                    GUESTPROF_INSTANCES="all") as (_, port):
            starts = ask_in_turn(port, LEARNED_AFTER + 40)
        profile = pprof.read(path / os.listdir(path)[0])
    requests, owners = {}, {}
    for sample in profile.samples:
        at, label = profile.time_ns + sample.labels["time"], sample.labels.get("wasm_instance", "")
        number = bisect.bisect_right(starts, at) - 1
        if number >= LEARNED_AFTER and "#" in label:
            label = label.removesuffix(" (likely)")
            requests.setdefault(number, set()).add(label)
            owners.setdefault(label, set()).add(number)
    # A guest that has answered may go on for a while, and be met in the next request's time.
    split = {number: labels for number, labels in requests.items() if len(labels) > 1}
    merged = {label: numbers for label, numbers in owners.items() if len(numbers) > 1}
    expect(len(requests) >= 5, f"of 40 requests {len(requests)} have an instance")
    expect(len(split) <= len(requests) / 4, f"requests with several instances: {split}")
    expect(len(merged) <= len(owners) / 4, f"instances of several requests: {merged}")
    cells.measured(ENGINE, version(), "instances", "each, with how certain")


if __name__ == "__main__":
    sys.exit(harness.main())
