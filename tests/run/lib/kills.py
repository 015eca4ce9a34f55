# SPDX-License-Identifier: MIT
"""kills.py - kills hosts at random moments and opens what they left with google/pprof."""

import concurrent.futures
import os
import random
import signal
import subprocess
import time

import harness
import pprof
from harness import LIBRARY, NEWEST, PPROF, Run, Skip, environment, expect, host

# One second between two chunks, and what the machine takes to write one.
MAY_MISS_S = 1.0 + 0.3
# Hosts that run at once: they share the machine's two cores, and each is killed at a moment of its own.
SIDE_BY_SIDE = 4


def kill_once(seconds):
    """Runs a guest for SECONDS, kills the host; the recording must open and lack a second at most."""
    with harness.folder() as path:
        file = path / "killed.pb"
        env = environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT=str(file), GUESTPROF_HZ="1000")
        with subprocess.Popen(host(NEWEST, "split.wasm", "run", "cpu_ms=60000"), env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds)  # the moment itself is what is tested
            process.send_signal(signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = -signal.SIGKILL
        used = usage.ru_utime
        if not file.exists():
            expect(used < MAY_MISS_S, f"killed after {used:.2f} s of CPU, and no file")
            return
        opened = Run([str(PPROF), "-symbolize=none", "-top", str(file)], env=environment(PPROF_TMPDIR=str(path)))
        expect(opened.status == 0, f"pprof cannot open it: {harness.tail(opened.stderr)}")
        recorded = sum(sample.cpu_ns for sample in pprof.read(file).samples) / 1e9
        expect(recorded >= used - MAY_MISS_S, f"{used:.2f} s of CPU, {recorded:.2f} s recorded")


def kill_many(count):
    if not PPROF.exists():
        raise Skip("no google/pprof: scripts/setup test")
    generator = random.Random(1)
    moments = [0.05 + 3.2 * generator.random() for _ in range(count)]
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        kills = [pool.submit(kill_once, seconds) for seconds in moments]
        for number, (seconds, kill) in enumerate(zip(moments, kills)):
            try:
                kill.result()
            except harness.Failure as reason:
                pool.shutdown(wait=False, cancel_futures=True)
                raise harness.Failure(f"kill {number}, after {seconds:.3f} s: {reason}") from None
