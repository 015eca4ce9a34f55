#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go.py - a Go host whose engine is linked statically (wasmtime-go): every run comes through, named and complete.

Built once by `go build` from the package, 65 MB, into build/engines/go (TEST_ENGINES).
"""

import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import guests
import harness
import pprof
from harness import ENGINES, HOSTS, ROOT, Run, Skip, environment, expect, expect_chains, expect_shares, tail, test

SOURCES = ROOT / "tests/host/gostatic"
PROGRAM = ENGINES / "go/host"
RUNS = 20


def host():
    if shutil.which("go") is None:
        raise Skip("no go compiler")
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < max(path.stat().st_mtime for path in SOURCES.iterdir()):
        PROGRAM.parent.mkdir(parents=True, exist_ok=True)
        built = Run(["go", "build", "-mod=readonly", "-o", str(PROGRAM), "."], timeout=900, cwd=SOURCES,
                    env=environment(HOME=os.environ.get("HOME", "/root")))
        if built.status != 0:
            raise Skip(f"go cannot build it: {tail(built.stderr)}")
    return [PROGRAM, HOSTS / "split.wasm", "800"]


@test("wasmtime-go, 200 goroutines at 1,000 Hz, 20 runs")
def goroutines():
    command = host()
    plain = Run(list(map(str, command)))
    expect(plain.status == 0, plain.stderr)
    leaves, fewest, lost, total = {}, None, 0, 0
    for number in range(RUNS):
        with harness.folder() as path:
            file = path / "out.pb.gz"
            run = harness.run_recorded(command, file, 1000, env=environment(GUESTPROF_MEMORY="512M"))
            expect(run.status == 0 and run.stdout == plain.stdout and run.host_stderr == "",
                   f"run {number}: {run.status}: {run.stdout} {tail(run.stderr)}")
            expect(file.exists(), f"run {number}: {tail(run.stderr)}")
            profile = pprof.read(file)
        for name, count in expect_chains(profile, guests.SPLIT_CHAINS, None, 0.99).items():
            leaves[name] = leaves.get(name, 0) + count
        fewest = min(profile.total(), fewest or profile.total())
        total += profile.total()
        lost += sum(profile.stats.get(name, 0) for name in ("lost_ring_full", "lost_no_ring", "lost_stack"))
    print(f"# {total} samples, {fewest} in the poorest run, {lost} lost")
    expect(fewest > 50, f"a run has {fewest} samples")
    expect_shares(leaves, guests.SPLIT_SHARES, slack=0.01)
    expect(lost <= 0.05 * total, f"{lost} of {total} samples lost")


if __name__ == "__main__":
    sys.exit(harness.main())
