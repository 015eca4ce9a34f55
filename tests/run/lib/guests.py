# SPDX-License-Identifier: MIT
"""guests.py - what is known of the guests in tests/host/: legal stacks (root first) and shares."""

SPLIT_CHAINS = {
    ("run",),
    ("run", "outer"),
    ("run", "outer", "middle"),
    ("run", "outer", "middle", "inner"),
}
SPLIT_SHARES = {"inner": 0.70, "middle": 0.20, "outer": 0.10}

# The same below the guest's own entry, for hosts that take no argument.
COMMAND_CHAINS = {("command",)} | {("command",) + chain for chain in SPLIT_CHAINS}
INITIALIZE_CHAINS = {("initialize",)} | {("initialize",) + chain for chain in COMMAND_CHAINS}

TINY_CHAINS = {("run",), ("run", "step"), ("run", "step", "mix"), ("run", "step", "bump")}

COMPONENT_CHAINS = {("upper",), ("upper", "lower")}
COMPONENT_SHARES = {"upper": 0.30, "lower": 0.70}


def into_host(export):
    """The guest's part of a stack that ends in the host: all three functions."""
    return {(export, export + "_upper", export + "_lower")}


def on_the_way(export):
    """Also what the guest itself may be caught in."""
    full = (export, export + "_upper", export + "_lower")
    return {full[:n] for n in (1, 2, 3)}


CALLBACK = ("callback", "callback_upper", "callback_lower")
AGAIN = ("again", "again_upper", "again_lower")
# A second activation above the first: the host is between them.
AGAIN_CHAINS = {AGAIN + CALLBACK}

# Innermost guest function and host call of mixed.wat.
MIXED_SHARES = {("spin", None): 0.40, ("asks_work", "env.work"): 0.20, ("asks_more", "env.more"): 0.40}
