#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""budget.py - GUESTPROF_BUDGET: who costs too much is sampled less often, and the sums stay right; no one else is.

All hosts run side by side, each until it has been judged often enough.
"""

import concurrent.futures
import functools
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/lib")
import harness
import live
import schema
from guests import SPLIT_SHARES
from harness import GUESTPROF, NEWEST, PYTHON, ROOT, Run, expect, test

DEADLINE_S = 90
WINDOWS = 3  # of two seconds and more: by then a cost that is too high has had its effect
FUNCTIONS = 20000

# Name, settings, whether the rate has to go down. The least that anybody measured is ten times 0.02 %.
HOSTS = {
    "cpu timers": (dict(GUESTPROF_HZ="250", GUESTPROF_BUDGET="0.02"), True),
    "perf_event": (dict(GUESTPROF_HZ="1000", GUESTPROF_BUDGET="0.05"), True),
    "100 Hz": (dict(GUESTPROF_HZ="100"), False),
    "250 Hz, a large module": (dict(GUESTPROF_HZ="250", GUESTPROF_DEBUG="embed"), False),
}


def large_module(folder):
    """split.wat and very many functions beside it, as a file."""
    text = (ROOT / "tests/host/split.wat").read_text()
    more = "\n".join(f"(func $a_function_that_nobody_calls_{i} (result i32) (i32.const {i}))" for i in range(FUNCTIONS))
    file = folder / "large.wat"
    file.write_text(text[:text.rindex(")")] + more + ")")
    code = "import sys, wasmtime; sys.stdout.buffer.write(wasmtime.wat2wasm(open(sys.argv[1]).read()))"
    wasm = subprocess.run([str(PYTHON), "-c", code, str(file)], stdout=subprocess.PIPE, check=True).stdout
    (folder / "large.wasm").write_bytes(wasm)
    return folder / "large.wasm"


def threads_ns(pid):
    """CPU time of the threads that run guests: those that use the CPU all the time."""
    times = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
            times.append(int(file.read().split()[0]))
    return sum(time_ns for time_ns in times if time_ns > max(times) / 5)


class Watched:
    """A host under ENV, watched until it was judged, then told to stop."""

    def __init__(self, env, is_dear, folder):
        command = live.busy(threads=3, cpu_ms=600000)
        if "GUESTPROF_DEBUG" in env:
            command[1] = str(large_module(folder))
        with live.live(command, **env) as host:
            self.watch(host, is_dear)
            if is_dear:
                time.sleep(1)  # some samples at the lower rate
            self.status = host.status()
            before = threads_ns(host.pid)
            host.run("stop")
            self.cpu_ns = (before, threads_ns(host.pid))
            host.end()
            file = next(host.folder.glob("guestprof.*"))
            self.text = re.sub(r"\s+", " ", self.command("report", file))
            self.report = schema.check(self.command("report", "--json", file), "report")
            self.merged = schema.check(
                self.command("report", "--json", self.merge(host.folder, file)), "report")

    @staticmethod
    def command(*words):
        run = Run([str(GUESTPROF), *map(str, words)])
        expect(run.status == 0, f"{words[0]}: {run.status}: {run.stderr}")
        return run.stdout

    def merge(self, folder, file):
        self.command("merge", "-o", folder / "merged.pb.gz", file)
        return folder / "merged.pb.gz"

    def watch(self, host, is_dear):
        self.costs, deadline = [], time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            status = host.status()
            if status["cost_ppm"] not in (None, *self.costs[-1:]):
                self.costs.append(status["cost_ppm"])
            if status["hz_divisor"] > 1 if is_dear else len(self.costs) >= WINDOWS:
                return
            time.sleep(0.3)  # between two looks
        if len(self.costs) < WINDOWS:
            raise harness.Skip(f"too little CPU time for a verdict: {len(self.costs)} windows in {DEADLINE_S} s")
        raise harness.Failure(f"not within {DEADLINE_S} s: {status}, costs {self.costs}")


@functools.lru_cache
def watched():
    with harness.folder() as folder, concurrent.futures.ThreadPoolExecutor(len(HOSTS)) as beside:
        return {name: beside.submit(Watched, *what, folder) for name, what in HOSTS.items()}


def lower_rate(name):
    host = watched()[name].result()
    budget = float(HOSTS[name][0]["GUESTPROF_BUDGET"])
    hz = int(HOSTS[name][0]["GUESTPROF_HZ"])
    process = host.report["processes"][0]
    rates = process["rates"]
    print(f"# {name}: {[(rate['time_ns'] / 1e9, rate['to_divisor'], rate['cost_ppm']) for rate in rates]}, "
          f"a signal {process['delivery_ns']} ns")
    expect(rates and rates[0]["from_divisor"] == 1 and rates[0]["to_divisor"] == 2, f"rates: {rates}")
    expect(all(rate["cost_ppm"] > rate["budget_ppm"] == round(budget * 1e4) for rate in rates), f"rates: {rates}")
    expect(host.merged["processes"][0]["rates"] == rates, f"merged: {host.merged['processes'][0]['rates']}")
    expect(host.status["hz"] == hz and host.status["budget_ppm"] == round(budget * 1e4), f"status: {host.status}")
    expect(50 < process["delivery_ns"] < 1e6, f"a signal takes {process['delivery_ns']} ns")
    line = (rf"from [\d.]+ s on at {hz / 2:g} of {hz} samples a second: own cost was [\d.]+ % of the process's CPU time, "
            rf"GUESTPROF_BUDGET={budget:g}")
    expect(re.search(line, host.text), f"no line in the report: {host.text[:800]}")
    expect("budget" in [warning["id"] for warning in host.report["warnings"]], "no warning")

    low, high = host.cpu_ns
    expect(0.9 * low < host.report["cpu_ns"] < 1.1 * high,
           f"{host.report['cpu_ns'] / 1e9:.2f} s sampled of {low / 1e9:.2f} to {high / 1e9:.2f}")
    taken = host.report["counters"]["samples"]
    expect(taken < host.report["samples"], f"{taken} samples taken, counted for {host.report['samples']}")
    counts = {row["name"]: row["self_share_ppm"] * taken // 1000000 for row in host.report["functions"]}
    # A sample counts for one period or for several: a little less certain than as many equal ones.
    harness.expect_shares({function: counts.get(function, 0) for function in SPLIT_SHARES}, SPLIT_SHARES, slack=0.06)


def full_rate(name):
    host = watched()[name].result()
    process = host.report["processes"][0]
    print(f"# {name}: costs {host.costs} ppm, a signal {process['delivery_ns']} ns")
    expect(process["rates"] == [], f"rates: {process['rates']}, costs {host.costs}")
    expect(host.status["hz_divisor"] == 1 and host.status["budget_ppm"] == 10000, f"status: {host.status}")
    expect("budget" not in [warning["id"] for warning in host.report["warnings"]], "a warning of nothing")
    expect("samples a second: own cost was" not in host.text, "a line of nothing")


for key, (_, is_dear) in HOSTS.items():
    test("budget: " + ("goes down, sums stay right: {}" if is_dear else "ordinary host keeps its rate: {}"),
         key)(lower_rate if is_dear else full_rate)


@test("budget: none above 250 Hz, off, or nonsense")
def not_at_all():
    for env, budget_ppm in ((dict(GUESTPROF_HZ="251"), 0), (dict(GUESTPROF_BUDGET="off"), 0),
                            (dict(GUESTPROF_HZ="1000", GUESTPROF_BUDGET="2"), 20000),
                            (dict(GUESTPROF_BUDGET="much"), 10000)):
        with live.live(harness.host(NEWEST, "split.wasm", "run", "cpu_ms=60000"), **env) as host:
            found = host.status()["budget_ppm"]
            expect(found == budget_ppm, f"{env}: {found}")


if __name__ == "__main__":
    sys.exit(harness.main())
