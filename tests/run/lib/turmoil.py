# SPDX-License-Identifier: MIT
"""turmoil.py - the host of tests/torture: how long it runs, who got on and who did not."""

import re

import whole
from harness import HOSTS, NEWEST, Run, environment, expect, record

GAP = re.compile(r"^gap (\w+) ([0-9.]+) s, (\d+) times$", re.M)
NEVER_SECONDS = 5
KINDS = {"guests", "modules", "throws", "libraries", "allocations"}
ALL_KINDS = KINDS | {"nestings", "traps", "fibers", "births", "programs", "signals", "sums"}
# Of the ticks that the clock promises for the process's CPU time.
LEAST_DELIVERED = 0.8


def command(seconds, everything):
    return [str(HOSTS / NEWEST / "torture"), str(HOSTS / "split.wasm"), str(HOSTS / "plugin.so"), str(seconds), "gaps",
            *(["all"] if everything else [])]


def gaps(run):
    """The longest time in which a thread did not get on, by kind of thread."""
    expect(run.status == 0 and run.stdout.endswith("torture: no stall\n"), f"{run.status}: {run.stderr}")
    longest = {}
    for kind, seconds, _ in GAP.findall(run.stdout):
        longest[kind] = max(longest.get(kind, 0), float(seconds))
    expect(set(longest) in (KINDS, ALL_KINDS), f"gaps of {longest}")
    return longest


def plain(seconds, everything=False):
    return gaps(Run(command(seconds, everything), timeout=seconds + 120))


def recorded(seconds, hz, everything=False):
    """(the profile, gaps) with whole stacks."""
    profile = record(command(seconds, everything), hz=hz, compare=False, timeout=seconds + 120,
                     env=environment(GUESTPROF_STACKS="full"))
    return profile, gaps(profile.run)


def expect_calm(with_us, without):
    """Nobody stood still longer than twice the longest gap of the same host alone."""
    allowed = min(2 * max(without.values()), NEVER_SECONDS)
    print(f"#   longest gap {max(with_us.values()):.2f} s, alone {max(without.values()):.2f} s", flush=True)
    expect(max(with_us.values()) <= allowed, f"gaps {with_us}, alone {without}")


def expect_whole(profile):
    whole.expect_complete(profile, 0.99, 500)


def expect_delivered(profile, hz):
    """The clock kept most of its promise, and what came is in the recording or in a counter."""
    stats, promised = profile.stats, profile.info[11] / 1e9 * hz
    share = stats["signals"] / promised
    lost = sum(count for name, count in stats.items() if name.startswith("lost_"))
    print(f"#   {100 * share:.1f} % of {promised:.0f} ticks came, {lost} samples lost", flush=True)
    expect(share >= LEAST_DELIVERED, f"{stats['signals']} of {promised:.0f} ticks came")
