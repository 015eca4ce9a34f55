# SPDX-License-Identifier: MIT
"""whole.py - how many stacks are complete: from the leaf to the thread's start."""

from harness import expect

# Where a chain may end: libc's thread start has no name in a stripped libc.
ROOTS = ("_start", "start_thread", "clone3", "__clone3", "libc.so.6+0x")


def expect_complete(profile, least, samples, stray=0):
    """The share of stacks that reach the thread's start, of all that were taken with a guest on the stack.

    STRAY of those in which no guest was found had none.
    """
    good = total = 0
    strange = {}
    for sample in profile.samples:
        total += sample.count
        if sample.frames[0].name.startswith(ROOTS) and not sample.truncated:
            good += sample.count
        else:
            strange[sample.frames[0].name] = strange.get(sample.frames[0].name, 0) + sample.count
    lost = profile.stats.get("lost_stack", 0) + profile.stats.get("no_guest_found", 0) - stray
    total += lost
    expect(total >= samples, f"only {total} samples")
    share = good / total
    print(f"#   {100 * share:.2f} % of {total} complete", flush=True)
    expect(share >= least, f"{100 * share:.2f} % of {total} stacks are complete, not {100 * least} %: "
                           f"{lost} without a guest, ends: {strange}")
