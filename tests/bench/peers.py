# SPDX-License-Identifier: MIT
"""peers.py - every way to run a program that the benches compare: as it is, under us, under a peer."""
import datetime
import os
import pathlib
import platform
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/run/lib"))
import pprof

ENGINES = pathlib.Path(os.environ.get("TEST_ENGINES", ROOT / "build/engines")).resolve()
HOSTS = ROOT / os.environ.get("TEST_HOSTS", "build/hosts")
BUILD = pathlib.Path(os.environ.get("TEST_BUILD", ROOT / "build")).resolve()
PERF_RATES, GPERF_RATES = (99, 997), (100, 1000)


def newest(pattern):
    found = sorted(ENGINES.glob(pattern))
    if not found:
        sys.exit(f"compare: {pattern} is not there: scripts/setup compare test")
    return found[-1]


def machine():
    """One line that says when and on what: figures of other machines differ."""
    model = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    clock = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return (f"{datetime.date.today()}, {os.cpu_count()} cores{f' of {model[1]}' if model else ''}, Linux {platform.release()}, "
            f"clock {clock.read_text().strip() if clock.exists() else 'unknown'}")


def threads_host(guest, threads, instances, wall_s, cpu_s=1e6, argument=1):
    """The words of threads_host with a guest of the comparison."""
    return list(map(str, [BUILD / "bench/threads_host", BUILD / f"bench/guests/{guest}.wasm", BUILD / f"bench/guests/{guest}.host.cwasm",
                          threads, instances, wall_s, cpu_s, argument]))


class Way:
    """One way to run a guest: its environment, what stands before the command, and the engine's options."""

    def __init__(self, environment=None, before=(), options=(), epoch=False, delivered=None):
        self.environment, self.before, self.options = environment or {}, list(before), list(options)
        self.epoch, self.delivered = epoch, delivered

    def whole_environment(self):
        """That of a program that is run so."""
        return {**os.environ, **{key: str(value) for key, value in self.environment.items()}}


def recording(folder):
    """The file that a way of ours() leaves in FOLDER; None: there was nothing to record."""
    return next(pathlib.Path(folder).glob("ours.pb*"), None)


def recorded_rate(folder, _text, _seconds):
    """Samples a CPU second of a recording of ours."""
    file = recording(folder)
    profile = pprof.read(file) if file else None
    cpu = sum(sample.cpu_ns for sample in profile.samples) / 1e9 if profile else 0
    return profile.total() / cpu if cpu else None


def signals_rate(_folder, text, seconds):
    found = re.search(r"empty: (\d+) signals", text)
    return int(found[1]) / seconds if found else None


def ours(hz, **settings):
    return Way({"LD_PRELOAD": BUILD / "libguestprof.so", "GUESTPROF_HZ": hz, "GUESTPROF_OUTPUT": "ours.pb.gz", **settings},
               delivered=recorded_rate)


def ways():
    preload = {"gperftools": "/usr/lib/x86_64-linux-gnu/libprofiler.so.0",
               "async-profiler": ENGINES / "async-profiler-4.5/libasyncProfiler.so"}
    found = {
        "plain": Way(), "again": Way(),
        "stopped": Way({"LD_PRELOAD": BUILD / "libguestprof.so", "GUESTPROF_START": 0, "GUESTPROF_CONTROL": "control",
                        "GUESTPROF_OUTPUT": "none"}),
        "100 Hz": ours(100), "250 Hz": ours(250), "1000 Hz": ours(1000),
        "100 Hz guest": ours(100, GUESTPROF_STACKS="guest"), "100 Hz full": ours(100, GUESTPROF_STACKS="full"),
        "100 Hz wall": ours(100, GUESTPROF_WALL=1),
        "empty 1000 Hz": Way({"LD_PRELOAD": BUILD / "bench/empty.so", "EMPTY_HZ": 1000}, delivered=signals_rate),
        "guest profiler 10 ms": Way(options=["--profile=guest,guest.json,10ms"], epoch=True),
        "guest profiler 1 ms": Way(options=["--profile=guest,guest.json,1ms"], epoch=True),
        "epochs alone": Way(options=["-W", "epoch-interruption=y,timeout=1000s"], epoch=True),
        "perfmap": Way(options=["--profile=perfmap"]), "jitdump": Way(options=["--profile=jitdump"]),
    }
    for hz in PERF_RATES:
        if shutil.which("perf"):
            found[f"perf {hz} Hz"] = Way(before=["perf", "record", "-q", "-g", "-F", str(hz), "-o", "perf.data"],
                                         options=["--profile=perfmap"])
    for hz in GPERF_RATES:
        if os.path.exists(preload["gperftools"]):
            found[f"gperftools {hz} Hz"] = Way({"LD_PRELOAD": preload["gperftools"], "CPUPROFILE": "gperf.prof",
                                                "CPUPROFILE_FREQUENCY": hz})
    for name, event in (("ctimer", "10ms"), ("ctimer", "1ms"), ("cpu", "1ms")):
        if os.path.exists(preload["async-profiler"]):
            found[f"async-profiler {name} {event}"] = Way({
                "LD_PRELOAD": preload["async-profiler"],
                "ASPROF_COMMAND": f"start,event={name},interval={event},file=async.collapsed"})
    return found


class Table:
    """Lines that are printed as they come, and kept for a file."""

    def __init__(self):
        self.lines = []

    def __call__(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def save(self, file):
        if file:
            pathlib.Path(file).write_text("\n".join(self.lines) + "\n")
