# SPDX-License-Identifier: MIT
"""own.py - our one thread: its share of a core, how many samples it could take, and that no one waits for us."""
import re
import subprocess
import tempfile
import time

from peers import BUILD, HOSTS, Way, ours, pprof, recording, threads_host
from stopped import our_task

NEWEST = "50.0.1"
TARGET_OWN_SHARES = {100: 0.003, 1000: 0.03}  # whole stacks
TARGET_HOSTCALLS = 0.002
# What else is called in a handler: the unwinder of libgcc, and that of libunwind.
PEERS = ("libgcc", "libunwind")


def recorded(command, way):
    """The recording of COMMAND, run in WAY."""
    with tempfile.TemporaryDirectory(prefix="guestprof-own-") as folder:
        subprocess.run(list(map(str, command)), cwd=folder, env=way.whole_environment(), stdout=subprocess.DEVNULL, check=True)
        return pprof.read(recording(folder))


def ran_ns(task):
    return int((task / "schedstat").read_text().split()[0])


def own_ns(profile):
    return profile.info[10]


def hostcalls(quick, write, targets):
    """One busy thread in sqlite at 100 Hz, from when all has been loaded on: by the scheduler's own count."""
    seconds = 4 if quick else 20
    with tempfile.TemporaryDirectory(prefix="guestprof-own-") as folder:
        process = subprocess.Popen(threads_host("sqlite", 1, 1, seconds + 4, argument=3000), cwd=folder, env=ours(100).whole_environment(),
                                   stdout=subprocess.DEVNULL)
        time.sleep(2)
        task = our_task(process.pid)
        before, begin = ran_ns(task), time.monotonic_ns()
        time.sleep(seconds)
        share = (ran_ns(task) - before) / (time.monotonic_ns() - begin)
        process.wait()
    write(f"our thread, `hostcalls` stacks at 100 Hz, sqlite on one thread, {seconds} s: {100 * share:.3f} % of a core")
    return targets.note("own", f"{100 * share:.2f} %", share <= TARGET_HOSTCALLS)


def cost(quick, write, _targets):
    """CPU of our thread with whole stacks of some 25 frames, by rate and unwinder, all of a run counted."""
    seconds = 2 if quick else 8
    host = [HOSTS / NEWEST / "host", HOSTS / "calls.wasm", "again", "argument=300", f"cpu_ms={seconds * 1000}"]
    good = True
    write(f"our thread, whole stacks: share of one core over {seconds} s\n")
    write("| Hz | unwinder | % of a core | frames | samples |")
    write("| --- " * 5 + "|")
    for hz, target in TARGET_OWN_SHARES.items():
        for unwinder in ("libunwind",) if quick else ("libunwind", "own"):
            profile = recorded(host, ours(hz, GUESTPROF_STACKS="full", GUESTPROF_UNWINDER=unwinder))
            share = own_ns(profile) / profile.duration_ns
            depth = sum(len(s.frames) * s.count for s in profile.samples) / profile.total()
            write(f"| {hz} | {unwinder} | {100 * share:.2f} | {depth:.0f} | {profile.total()} |")
            good = good and (unwinder != "libunwind" or share <= target)
    return good or quick


def stands_still(host, way, seconds):
    try:
        run = subprocess.run(host, env=way.whole_environment(), capture_output=True, text=True, timeout=3 * seconds)
    except subprocess.TimeoutExpired:
        return "all of it, its watch too"
    found = re.search(r"stands still since ([0-9.]+ s)", run.stderr)
    return found.group(1) if found else "never" if run.returncode == 0 else f"status {run.returncode}"


def stall(quick, write, _targets):
    """A host that throws, loads and unloads at once: how long until one of its threads stands still, by who samples."""
    seconds, rounds = (5, 1) if quick else (20, 3)
    host = [HOSTS / NEWEST / "torture", HOSTS / "split.wasm", HOSTS / "plugin.so", str(seconds)]
    ways = {peer: Way({"LD_PRELOAD": BUILD / f"bench/{peer}.so"}) for peer in PEERS}
    ways["guestprof"] = Way({"LD_PRELOAD": BUILD / "libguestprof.so", "GUESTPROF_OUTPUT": "none", "GUESTPROF_STACKS": "full",
                             "GUESTPROF_HZ": "1000"})
    good = True
    write(f"a host that throws, loads and unloads, sampled at 1 kHz: when a thread stands still ({seconds} s a run)\n")
    write("| sampled by | stands still after |")
    write("| --- " * 2 + "|")
    for way, how in ways.items():
        ends = [stands_still(host, how, seconds) for _ in range(rounds)]
        write(f"| {way} | {', '.join(ends)} |")
        good = good and (way != "guestprof" or set(ends) == {"never"})
    return good
