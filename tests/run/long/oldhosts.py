#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oldhosts.py - hosts under the glibc of an older Debian start, and are profiled.

A root file system of that release, made by debootstrap once and kept in build/old (TEST_OLD_ROOT);
the hosts run in it by chroot, with its loader and its libraries. The C host is compiled against it.
"""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/../lib")
import guests
import harness
import pprof
from harness import ENGINES, GUESTPROF, HOSTS, LIBRARY, PYTHON, ROOT, Run, Skip, expect, tail, test

PLACE = pathlib.Path(os.environ.get("TEST_OLD_ROOT", ROOT / "build/old"))
SUITES = ("buster", "bullseye")  # glibc 2.28 and 2.31; mirrors drop the oldest first
PACKAGES = "libc6-dev,libgcc-s1,python3"


def root_of(suite):
    """The folder with that release in it, made if need be."""
    root = PLACE / suite
    if (root / "complete").exists():
        return root
    if os.getuid() != 0 or shutil.which("debootstrap") is None:
        raise Skip("needs root and debootstrap")
    shutil.rmtree(root, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    packages = PACKAGES if suite != "buster" else PACKAGES.replace("libgcc-s1", "libgcc1")
    try:
        run = Run(["debootstrap", "--variant=minbase", "--no-check-gpg", f"--include={packages}", suite, str(root)],
                  timeout=600)
    except harness.Failure as reason:
        raise Skip(f"no {suite}: {reason}") from None
    if run.status != 0:
        shutil.rmtree(root, ignore_errors=True)
        raise Skip(f"debootstrap has no {suite} here: {tail(run.stdout + run.stderr, 120)}")
    # An absolute link leads out of a root that a linker is told about.
    loader = root / "lib64/ld-linux-x86-64.so.2"
    target = os.readlink(loader)
    if target.startswith("/"):
        loader.unlink()
        loader.symlink_to(".." + target)
    (root / "complete").touch()
    return root


def inside(root, *words, **settings):
    return Run(["chroot", str(root), "/usr/bin/env", *(f"{key}={value}" for key, value in settings.items()),
                *map(str, words)], env={"PATH": os.environ["PATH"]})


def furnished(suite):
    """The root, with the library, a guest and a place for recordings in /opt/gp."""
    root = root_of(suite)
    place = root / "opt/gp"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    shutil.copy(LIBRARY, place)
    shutil.copy(HOSTS / "split.wasm", place)
    version = inside(root, "ldd", "--version").stdout.splitlines()[0].split()[-1]
    print(f"#   {suite}: glibc {version}", flush=True)
    return root, place


def profiled(root, place, *words, **settings):
    plain = inside(root, *words, **settings)
    expect(plain.status == 0, f"without guestprof: {plain.status}: {tail(plain.stderr)}")
    run = inside(root, *words, LD_PRELOAD="/opt/gp/libguestprof.so", GUESTPROF_OUTPUT="/opt/gp/out.pb",
                 GUESTPROF_HZ="250", **settings)
    harness.same_as_without(run, plain)
    files = list(place.glob("out.pb*"))
    expect(len(files) == 1, f"recordings: {files}; {tail(run.stderr)}")
    report = Run([str(GUESTPROF), "report", str(files[0])])
    expect(report.status == 0, tail(report.stderr))
    return pprof.read(files[0])


def c_host(suite):
    root, place = furnished(suite)
    version = harness.VERSIONS[0]
    engine, libraries = ENGINES / f"wasmtime-{version}", root / "usr/lib/x86_64-linux-gnu"
    shutil.copy(engine / "libwasmtime.so", place)
    built = Run(["gcc", f"--sysroot={root}", f"-B{libraries}", f"-L{libraries}", f"-L{root}/lib/x86_64-linux-gnu",
                 "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-isystem", str(engine / "include"), "-o", str(place / "host"),
                 *map(str, (ROOT / "tests/host").glob("*.c")), f"-L{engine}", "-lwasmtime", "-Wl,-rpath,/opt/gp",
                 "-Wl,--allow-shlib-undefined", "-l:libpthread.so.0"])
    expect(built.status == 0, f"gcc: {tail(built.stderr)}")
    profile = profiled(root, place, "/opt/gp/host", "/opt/gp/split.wasm", "run", "cpu_ms=800")
    expect(profile.total() > 100, f"{profile.total()} samples")
    leaves = harness.expect_chains(profile, guests.SPLIT_CHAINS)
    expect("inner" in leaves, f"{leaves}")


def python_host(suite):
    root, place = furnished(suite)
    package = subprocess.run([str(PYTHON), "-c", "import wasmtime; print(wasmtime.__path__[0])"], check=True,
                             capture_output=True, text=True).stdout.strip()
    shutil.copytree(package, place / "py/wasmtime")
    shutil.copy(ROOT / "tests/host/app.py", place)
    profile = profiled(root, place, "python3", "/opt/gp/app.py", "0.5", PYTHONPATH="/opt/gp/py")
    expect(profile.total() > 50 and len(profile.counts("wasm_module")) == 1, f"{profile.counts('wasm_module')}")


for each in SUITES:
    test("a C host under the glibc of {}", each)(c_host)
    test("a Python host under the glibc of {}", each)(python_host)

if __name__ == "__main__":
    sys.exit(harness.main())
