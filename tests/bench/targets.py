# SPDX-License-Identifier: MIT
"""targets.py - what is to be reached, row by row, and what the last runs measured of it.

The table is tests/bench/targets.md: a run replaces the rows that it measures and leaves the others.
scripts/readme-bench quotes it.
"""
import datetime
import pathlib
import re

from peers import machine

FILE = pathlib.Path(__file__).resolve().parent / "targets.md"
HEAD = ("what", "target", "guestprof", "a peer, in the same run", "peer / guestprof", "", "measured")
# In the README's order: the row's key, what it says, and its target.
ROWS = {
    **{f"100 {guest}": (f"CPU time at 100 Hz, ratio to plain: {guest}", "1.00 within the noise, 1.01 at most")
       for guest in ("fib", "zlib", "sqlite", "hot", "resvg")},
    "1000 rate": ("samples a CPU second at 1,000 Hz", "950 at least"),
    "1000 points": ("1,000 Hz, above an empty handler at that rate", "1.5 points at most"),
    "stopped": ("loaded and stopped: CPU time, ratio to plain", "1.00 within the noise, 1.01 at most"),
    "stopped wakeups": ("... timers, events, and wakeups of our thread, all threads busy", "none"),
    "walk 8": ("handler, median, 8 guest frames", "0.3 us (gate 0.5)"),
    "walk 64": ("handler, median, 64 guest frames", "0.6 us (gate 1)"),
    "walk 512": ("handler, median, 512 guest frames", "2 us (gate 3)"),
    "host known": ("host pc with a guest below, 32 KB of stack, bounds known", "2 us"),
    "host unknown": ("... bounds unknown", "4 us"),
    "modules": ("handler with 4,096 modules more than one, 8 frames", "100 ns more at most"),
    "start": ("the N-th profile of 35,823 functions: time to start", "20 us"),
    "start bytes": ("... memory", "64 kB"),
    "load": ("load of a module of 35,823 functions, host's thread", "1 ms more"),
    "memory": ("memory, three instances on four threads, one minute at 100 Hz", "10 MB more"),
    "end time": ("a million samples: from the end of main to the file", "0.5 s"),
    "end size": ("... the file", "30 MB"),
    "own": ("our thread at 100 Hz, `hostcalls` stacks", "0.2 % of a core"),
    "server cpu": ("server at a fixed rate, 100 Hz: CPU time, ratio to plain", "within the noise"),
    "server p50": ("... median latency, ratio to plain", "within the noise"),
    "server p99": ("... 99th percentile, ratio to plain", "within the noise"),
    "server p99.9": ("... 99.9th percentile, ratio to plain", "within the noise"),
    "server instance": ("... time to make an instance, ratio to plain", "within the noise"),
}


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


class Targets:
    """The rows of the file, and those that this run measures; is_kept: save() writes them."""

    def __init__(self, is_kept, file=FILE):
        self.is_kept, self.file, self.missed, self.touched = is_kept, file, [], False
        known = {what: key for key, (what, _) in ROWS.items()}
        lines = file.read_text().splitlines() if file.exists() else []
        self.rows = {known[row[0]]: row[2:] for row in map(cells, lines) if len(row) == len(HEAD) and row[0] in known}

    def note(self, key, ours, met, peer="", ratio=None):
        """OURS and PEER are texts with their units; RATIO is the peer's figure by ours."""
        self.touched = True
        self.rows[key] = [ours, peer, f"{ratio:,.2f}" if ratio is not None and ratio < 100 else f"{ratio:,.0f}" if ratio else "",
                          "met" if met else "**missed**", str(datetime.date.today())]
        if not met:
            self.missed.append(ROWS[key][0])
        return met

    def text(self):
        lines = [f"| {' | '.join(HEAD)} |", "| --- " * len(HEAD) + "|"]
        lines += [f"| {what} | {target} | {' | '.join(self.rows.get(key) or [''] * 3 + ['not measured', ''])} |"
                  for key, (what, target) in ROWS.items()]
        return "\n".join(lines) + "\n"

    def save(self):
        if self.is_kept:
            self.file.write_text(f"{machine()}\n\n{self.text()}")


def within_noise(ratios, noise, most=None):
    """Whether the median of RATIOS is at most 1 and what a second plain run varies by: NOISE are its ratios."""
    middle = sorted(ratios)[len(ratios) // 2]
    spread = sorted(abs(each - 1) for each in noise)
    # the median of n ratios varies by some 1.25 / sqrt(n) of their deviation; the quartile is two thirds of that
    allowed = 2 * 1.25 * (spread[len(spread) // 2] / 0.67) / len(ratios) ** 0.5
    return middle <= 1 + allowed or (most is not None and middle <= most)
