# SPDX-License-Identifier: MIT
"""stopped.py - loaded and stopped: whether anything of ours happens in a host whose guests run."""
import os
import pathlib
import subprocess
import tempfile
import time

from peers import threads_host, ways


def switches(task):
    text = (task / "status").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line)


def events(task):
    """perf_event's descriptors in the table of TASK."""
    found = 0
    for descriptor in (task / "fd").iterdir():
        try:
            found += "perf_event" in os.readlink(descriptor)
        except OSError:
            pass
    return found


def our_task(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "guestprof":
            return task
    return None


def run(quick, write, targets):
    """Looks at our thread twice, while the guests run on two threads."""
    seconds = 2 if quick else 10
    with tempfile.TemporaryDirectory(prefix="guestprof-stopped-") as folder:
        host = threads_host("sqlite", threads=2, instances=2, wall_s=seconds + 3, argument=3000)
        process = subprocess.Popen(host, env=ways()["stopped"].whole_environment(), cwd=folder, stdout=subprocess.DEVNULL)
        time.sleep(2)  # loads are taken in when they come
        task = our_task(process.pid)
        before = switches(task) if task else 0
        time.sleep(seconds)
        wakeups = switches(task) - before if task else 0
        timers = pathlib.Path(f"/proc/{process.pid}/timers").read_text().count("ID:")
        perf = events(task) if task else 0
        process.wait()
    write(f"loaded and stopped, {seconds} s of two threads in guests: {wakeups} switches of our thread, {timers} timers, {perf} events")
    return targets.note("stopped wakeups", f"{wakeups + timers + perf}", wakeups + timers + perf == 0 and process.returncode == 0)
