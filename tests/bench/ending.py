# SPDX-License-Identifier: MIT
"""ending.py - a million samples: how long from the end of main to the finished file, and how large that is."""
import os
import subprocess
import sys
import tempfile
import time

from peers import ours, pprof, recording, threads_host

HZ, SAMPLES = 10000, 1_000_000
LIMIT_S, LIMIT_BYTES = 0.5, 30_000_000


def run(quick, write, targets):
    wanted = SAMPLES // 20 if quick else SAMPLES
    with tempfile.TemporaryDirectory(prefix="guestprof-ending-") as folder:
        # a tick in ten does not come at that rate
        host = threads_host("sqlite", threads=2, instances=2, wall_s=600, cpu_s=wanted / HZ * 1.15, argument=3000)
        process = subprocess.Popen(host, env=ours(HZ).whole_environment(), cwd=folder, stdout=subprocess.PIPE, text=True)
        said = process.stdout.read()
        process.wait()
        seconds = (time.monotonic_ns() - int(said)) / 1e9
        if process.returncode != 0:
            sys.exit(f"ending: status {process.returncode}")
        file = recording(folder)
        size, name = os.path.getsize(file), file.name
        profile = pprof.read(file)
        count = profile.total()
        lost = sum(value for key, value in profile.stats.items() if key.startswith("lost"))
    stacks = len({tuple(sample.frames) for sample in profile.samples})
    write(f"{count:,} samples, {stacks:,} different stacks, {lost:,} lost: {seconds:.3f} s from the end of main to the end of the process, "
          f"{name.split('ours')[1]} of {size / 1e6:.1f} MB")
    if quick:
        return True
    good = targets.note("end time", f"{seconds:.2f} s ({count:,} samples)", seconds <= LIMIT_S and count >= 0.9 * SAMPLES)
    return targets.note("end size", f"{size / 1e6:.1f} MB", size <= LIMIT_BYTES) and good
