# SPDX-License-Identifier: MIT
"""walks.py - one sample: our handler's body, beside what others do for it on a real guest's stack."""
import re
import subprocess

from peers import BUILD

# Gates, in ns; the targets below them are printed beside the figures.
GATES = {8: 500, 64: 1000, 512: 3000}
GATE_KNOWN, GATE_UNKNOWN, GATE_MODULES = 2000, 4000, 100
MODULES = 4096


def peers(frames, modules, samples):
    """Median ns a sample by name."""
    lines = subprocess.run([BUILD / "bench/walkers_host", str(frames), str(modules), str(samples)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {name: float(ns) for name, ns in map(str.split, lines)}


def listed(found):
    return ", ".join(f"{name} {ns / 1e3:.2f} us" for name, ns in found.items())


def run(quick, write, targets):
    output = subprocess.run([BUILD / "bench/handler_bench", "3000" if quick else "20000"], capture_output=True, text=True).stdout
    write(f"```\n{output}```\n")
    plain = {(int(frames), int(ranges), kind): float(ns) for frames, ranges, kind, ns in
             re.findall(r"frames +(\d+) +ranges +(\d+) +(\w+) +p50 +([0-9.]+)", output.split("whole stacks")[0])}
    known, unknown = (float(ns) for ns in re.findall(r"in the host, 32 KB +p50 +([0-9.]+)", output))
    samples = 100 if quick else 1000
    others = {frames: peers(frames, 1, samples) for frames in GATES}
    many = peers(8, MODULES, samples)
    write("others on a real guest's stack, ns a sample, median\n")
    write(f"| frames | modules | {' | '.join(many)} |")
    write("| --- " * (2 + len(many)) + "|")
    for frames, modules, found in [*((frames, 1, others[frames]) for frames in GATES), (8, MODULES, many)]:
        write(f"| {frames} | {modules} | {' | '.join(f'{found[name]:,.0f}' for name in many)} |")
    for frames, gate in GATES.items():
        ours = plain[frames, 1, "one"]
        targets.note(f"walk {frames}", f"{ours / 1e3:.2f} us", ours <= gate, listed(others[frames]), others[frames]["engine"] / ours)
    steps = others[64].get("unw_step")
    targets.note("host known", f"{known / 1e3:.2f} us", known <= GATE_KNOWN,
                 f"unw_step, 64 frames, {steps / 1e3:.1f} us" if steps else "", steps / known if steps else None)
    targets.note("host unknown", f"{unknown / 1e3:.2f} us", unknown <= GATE_UNKNOWN)
    more, libgcc = plain[8, MODULES, "spread"] - plain[8, 1, "one"], many["libgcc"] - others[8]["libgcc"]
    targets.note("modules", f"{more:+.0f} ns", more <= GATE_MODULES, f"libgcc {libgcc:+,.0f} ns", libgcc / max(more, 1))
    return True  # what was missed the targets know
