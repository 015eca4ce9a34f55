# SPDX-License-Identifier: MIT
"""clocks.py - past 250 Hz: what each clock costs with an empty handler, and why ours is what it is."""
import subprocess

from peers import BUILD


def rows(text):
    """Cells of the rows whose clock opened, by (clock, Hz)."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) >= 4 and cells[1].isdigit():
            found[cells[0], int(cells[1])] = list(map(float, cells[2:]))
    return found


def run(quick, write, _targets):
    output = subprocess.run([BUILD / "bench/clocks_bench", "6" if quick else "40"], capture_output=True, text=True, check=True).stdout
    computing, sleeping = output.split("\n\n")
    write(f"a thread that computes, and one that sleeps and wakes all the time\n\n{computing}\n\n{sleeping}")
    if quick:
        return True
    costs, sleeps = rows(computing), rows(sleeping)
    if ("perf-setsig", 1000) not in costs:
        write("perf_event is refused here: CPU timers serve, 250 times a second at most")
        return True
    own, trap, sent = (costs.get((clock, 1000), [0, 0, 0, 0]) for clock in ("perf-setsig", "perf-sigtrap", "tgkill-thread"))
    write(f"Kept: perf_event with F_SETSIG, {own[1]:.1f} % of a thread that computes at 1,000 Hz. By sigtrap it takes {trap[1]:.1f} %, but "
          f"SIGTRAP is the debuggers' and the engines' own. A thread that sends signals takes {sent[1]:.1f} % of the thread it samples "
          f"and {sent[3]:.1f} % of a core for itself, whether its host computes or not, and as much again for each further thread to look at.\n"
          f"Where perf_event is refused CPU timers serve: {costs['cpu-timer', 1000][0]:.0f} a second, and each stands for what it missed.\n\n"
          f"What a host that sleeps much pays at 1,000 Hz is not the samples: the kernel takes perf_event's timer away and sets it again at "
          f"each switch of its thread, {sleeps['perf-setsig', 1000][1]:.1f} us a sleep. At 100 Hz, with a period above the kernel's tick, the same event "
          f"takes {sleeps['perf-setsig', 100][1]:.2f} us, for the CPU's own timer needs no other setting; a CPU timer "
          f"{sleeps['cpu-timer', 1000][1]:.2f} us. To switch the event off while the thread is in no guest would set it as often. "
          f"Servers are best sampled at 250 Hz or less.")
    return True
