#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""instructions.py [--store] - instructions of the paths that run most, against stored figures.

Counted by callgrind, so that a busy machine changes nothing. A path that takes a tenth more than
tests/bench/instructions.tsv says fails; --store writes that file anew.
"""

import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import harness
from harness import BUILD, ROOT, Run, Skip, expect, folder, tail, test

STORED = ROOT / "tests/bench/instructions.tsv"
MARGIN = 0.10
# What it is: the program, the function in which instructions count, and how often its work is done there.
PATHS = {
    "handler: a sample, 8 to 512 frames and 32 KB of stack": (["handler_bench", "100"], "handler_on_signal", 1300),
    "publish: a module comes and goes among 1,000": (["paths_bench"], "path_publish", 1000),
    "resolve: a sample of 12 frames": (["paths_bench"], "path_resolve", 20000),
    "encode: a stack of 12 frames": (["paths_bench"], "path_encode", 10000),
}


def instructions(name):
    """Of one unit of the work of path NAME."""
    command, function, times = PATHS[name]
    program = BUILD / "bench" / command[0]
    made = Run(["make", "-s", "-C", str(ROOT), f"BUILD={BUILD}", str(program)])
    expect(made.status == 0, tail(made.stderr))
    with folder() as path:
        out = path / "callgrind.out"
        run = Run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={function}",
                   str(program), *command[1:]])
        found = re.search(r"^summary: (\d+)", out.read_text(), re.M) if out.exists() else None
    expect(found and int(found[1]) > 0, f"nothing was counted: {tail(run.stderr)}")
    return int(found[1]) / times


def stored():
    lines = STORED.read_text().splitlines() if STORED.exists() else []
    return {name: float(count) for name, count in (line.split("\t") for line in lines)}


def path_costs(name):
    if shutil.which("valgrind") is None:
        raise Skip("no valgrind")
    before, now = stored().get(name), instructions(name)
    print(f"#   {name}: {now:.0f} instructions", flush=True)
    expect(before, "no stored figure: tests/run/instructions.py --store")
    expect(now <= before * (1 + MARGIN), f"{now:.0f} instructions, {100 * (now / before - 1):.1f} % over {before:.0f}")


def store():
    STORED.write_text("".join(f"{name}\t{instructions(name):.0f}\n" for name in PATHS))


for each in PATHS:
    test("instructions: {}", each)(path_costs)

if __name__ == "__main__":
    sys.exit(store() if "--store" in sys.argv[1:] else harness.main())
