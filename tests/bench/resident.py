# SPDX-License-Identifier: MIT
"""resident.py - what profilers add to a host's memory: guests in three instances at a time, on four threads."""
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from peers import threads_host, ways

WAYS = ("plain", "100 Hz", "gperftools 100 Hz", "async-profiler ctimer 10ms")
LIMIT_MB = 10


def kilobytes(pid):
    """(resident, of it written by nobody else) of process PID."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return [int(re.search(rf"^{name}: +(\d+)", text, re.M)[1]) for name in ("Rss", "Private_Dirty")]


class Host:
    """A host that runs so many seconds, and what it took in the last third of them."""

    def __init__(self, way, seconds):
        self.folder = tempfile.TemporaryDirectory(prefix="guestprof-resident-")
        self.seconds, self.readings = seconds, []
        self.process = subprocess.Popen(threads_host("sqlite", threads=4, instances=3, wall_s=seconds, argument=3000), cwd=self.folder.name,
                                        env=way.whole_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self):
        if self.process.poll() is None:
            self.readings.append(kilobytes(self.process.pid))

    def end(self):
        """Medians of kilobytes(), in MB."""
        status = self.process.wait()
        self.folder.cleanup()
        if status != 0 or not self.readings:
            raise SystemExit(f"a host of three instances ended with status {status}")
        return [statistics.median(column) * 1024 / 1e6 for column in zip(*self.readings)]


def measure(found, known, names, seconds):
    """Hosts in each way of NAMES, beside each other."""
    hosts = {name: Host(known[name], seconds) for name in names if name in known}
    time.sleep(seconds * 2 / 3)
    end = time.monotonic() + seconds / 3 - 1
    while time.monotonic() < end:
        for host in hosts.values():
            host.read()
        time.sleep(0.1)
    found.update({name: host.end() for name, host in hosts.items()})


def run(quick, write, targets):
    known, found = ways(), {}
    # what a plain host takes does not grow; peers share the machine, and so take fewer samples
    seconds = {name: 6 if quick else 12 if name == "plain" else 60 for name in WAYS}
    for names in (WAYS[:1], WAYS[1:2], WAYS[2:]):
        measure(found, known, names, seconds[names[0]])
    write("three instances at a time on four threads: memory, MB\n")
    write("| way | after s | resident | more than plain | written (private dirty) | more than plain |")
    write("| --- " * 6 + "|")
    for name, (resident, written) in found.items():
        more = [value - plain for value, plain in zip((resident, written), found["plain"])]
        write(f"| {name} | {seconds[name]} | {resident:.1f} | {more[0]:.1f} | {written:.1f} | {more[1]:.1f} |")
    added = {name: row[0] - found["plain"][0] for name, row in found.items()}
    peer = [name for name in WAYS[2:] if name in found]
    ours = added["100 Hz"]
    return targets.note("memory", f"{ours:.1f} MB", ours <= LIMIT_MB,
                        ", ".join(f"{name.split()[0]} {added[name]:.1f} MB" for name in peer),
                        max(added[name] for name in peer) / ours if peer else None)
