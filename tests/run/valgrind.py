#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""valgrind.py - real hosts under valgrind's memcheck, preloaded: no invalid access, nothing lost.

Undefined values are not asked for: what engines write by generated code, and what Rust leaves
undefined in its enums, makes hundreds of reports that are none.
"""

import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + "/lib")
import cases
import harness
from cases import case, preloaded
from harness import HOSTS, NEWEST, Skip, expect, host, test

VALGRIND = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--smc-check=all-non-file",
            "--undef-value-errors=no", "--num-callers=24", "--fullpath-after="]
SPLIT, TINY = HOSTS / "split.wasm", HOSTS / "tiny.wasm"
# Where the handler looks through an engine's own memory for its records: page by page, each asked
# for first (sig/reach.h), so that it also comes to what no block of the allocator holds.
LOOKS = re.compile(r"\b(exitrec_\w+|reach_page)\b")


def memcheck(command, **settings):
    """(errors as texts, blocks in use at the end, lost blocks as texts, recordings' samples)."""
    if shutil.which("valgrind") is None:
        raise Skip("no valgrind")
    with harness.folder() as path:
        log = path / "log"
        run, files = preloaded(path, [*VALGRIND, f"--log-file={log}", *command], timeout=300, **settings)
        text = re.sub(r"^==\d+== ?", "", log.read_text(errors="replace"), flags=re.M)
        expect(run.status == 0, f"{run.status}: {harness.tail(run.stderr)} {harness.tail(text)}")
        samples = cases.total(files)
    parts = re.split(r"\n\s*\n", text)
    errors = [part for part in parts if re.match(r"(Invalid|Syscall param|Jump to|Mismatched|Process term)", part)]
    lost = [part for part in parts if " lost in loss record " in part]
    blocks = int(re.search(r"in use at exit: [\d,]+ bytes in ([\d,]+) blocks", text).group(1).replace(",", ""))
    return [error for error in errors if not LOOKS.search(error)], blocks, lost, samples


def check(errors, lost):
    expect(not errors, errors[:1])
    ours = [part for part in lost if re.search(r"/(preload|symtab)/[\w/]+\.c:\d+\)", part)]
    expect(not ours, f"{len(ours)} losses of ours: {ours[:1]}")


@test("valgrind: whole stacks of a guest, no invalid access, nothing lost")
def whole_stacks():
    errors, _, lost, samples = memcheck(host(NEWEST, "split.wasm", "run", "cpu_ms=1500"), GUESTPROF_HZ="100",
                                        GUESTPROF_STACKS="full")
    check(errors, lost)
    expect(samples > 0, "no samples")


@test("valgrind: sixty loads, no invalid access, nothing lost")
def loads():
    errors, _, lost, _ = memcheck(case("modules", "many", 1, 60, SPLIT, TINY), GUESTPROF_HZ="100")
    check(errors, lost)


if __name__ == "__main__":
    sys.exit(harness.main())
