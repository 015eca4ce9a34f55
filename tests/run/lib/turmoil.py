# SPDX-License-Identifier: MIT
"""turmoil.py - the host of tests/torture: how long it runs, who got on and who did not."""

import concurrent.futures
import os
import re

import whole
from harness import HOSTS, NEWEST, Run, environment, expect, record

GAP = re.compile(r"^gap (\w+) ([0-9.]+) s, (\d+) times$", re.M)
NEVER_SECONDS = 5
# Below is no stall, whatever the other does: who waits for the loader's lock waits until its holder gets a CPU, of
# which thirty threads have two. 2.9 s were seen without guestprof on a machine with eighty.
SHORT_SECONDS = 3
OWN_LOAD = 40
PATIENCE_SECONDS = 120  # on top, for a machine that does much else
KINDS = {"guests", "modules", "throws", "libraries", "allocations",
         "nestings", "traps", "fibers", "births", "programs", "signals", "sums"}
# Of the ticks that the clock promises for the process's CPU time.
LEAST_DELIVERED = 0.8


def command(seconds):
    return [str(HOSTS / NEWEST / "torture"), str(HOSTS / "split.wasm"), str(HOSTS / "plugin.so"), str(seconds), "gaps", "all"]


def gaps(run):
    """The longest time in which a thread did not get on, by kind of thread."""
    expect(run.status == 0 and run.stdout.endswith("torture: no stall\n"), f"{run.status}: {run.stderr}")
    longest = {}
    for kind, seconds, _ in GAP.findall(run.stdout):
        longest[kind] = max(longest.get(kind, 0), float(seconds))
    expect(set(longest) == KINDS, f"gaps of {longest}")
    return longest


def plain(seconds):
    return gaps(Run(command(seconds), timeout=seconds + PATIENCE_SECONDS))


def recorded(seconds, hz):
    """(the profile, gaps) with whole stacks."""
    profile = record(command(seconds), hz=hz, compare=False, timeout=seconds + PATIENCE_SECONDS,
                     env=environment(GUESTPROF_STACKS="full"))
    return profile, gaps(profile.run)


def side_by_side(seconds, hz):
    """Everything at once at HZ, with the same host alone beside it: whatever else the machine does, both have it."""
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        alone = beside.submit(plain, seconds)
        profile, with_us = recorded(seconds, hz)
        expect_calm(with_us, alone.result())
    expect_whole(profile)
    expect_delivered(profile, hz)
    return profile


def expect_calm(with_us, without):
    """Nobody stood still longer than twice the longest gap of the same host alone; longer where others are busy."""
    crowd = max(1, os.getloadavg()[0] / OWN_LOAD)
    allowed = min(max(2 * max(without.values()), SHORT_SECONDS * crowd), NEVER_SECONDS * crowd)
    print(f"#   longest gap {max(with_us.values()):.2f} s, alone {max(without.values()):.2f} s", flush=True)
    expect(max(with_us.values()) <= allowed, f"gaps {with_us}, alone {without}, allowed {allowed:.1f} s")


def expect_whole(profile):
    """Before the first call into a guest a thread that compiles may look like one that is in a guest: a few."""
    stray, total = profile.stats["no_guest_found"], profile.total()
    expect(stray <= 50 + total / 20, f"{stray} samples without a guest, {total} with")
    whole.expect_complete(profile, 0.99, 200, stray)


def expect_delivered(profile, hz):
    """The clock kept most of its promise, and what came is in the recording or in a counter.

    A thread that lives for 5 ms may end before our thread had the CPU to give it a clock.
    """
    short_lives = float(re.search(r"^short lives ([0-9.]+) s", profile.run.stdout, re.M).group(1))
    stats, promised = profile.stats, (profile.info[11] / 1e9 - short_lives) * hz
    share = stats["signals"] / promised
    lost = sum(count for name, count in stats.items() if name.startswith("lost_"))
    print(f"#   {100 * share:.1f} % of {promised:.0f} ticks came, {lost} samples lost", flush=True)
    expect(share >= LEAST_DELIVERED, f"{stats['signals']} of {promised:.0f} ticks came")
