# SPDX-License-Identifier: MIT
"""gdb_stops.py - runs inside gdb: at each tick of the profiler's clock, gdb's own view of the stack.

The stop is at the signal, before it is delivered: the handler then sees the very same stack. One
line a stop goes to $STOPS_FILE: pcs, leaf first, in hex, `?` before those in no loaded object, `-`
before those in the profiler's library; and behind `|` why gdb did not go on.
"""

import os

import gdb
import gdb.unwinder

LIMIT = int(os.environ["STOPS_COUNT"])
lines = []


def word_of(pc):
    library = gdb.solib_name(pc)
    if library is None and not in_program(pc):
        return f"?{pc:x}"
    return f"-{pc:x}" if library is not None and "libguestprof" in library else f"{pc:x}"


def describe():
    leaf_sp[0] = int(gdb.parse_and_eval("(unsigned long)$rsp"))
    gdb.invalidate_cached_frames()
    words, frame = [], gdb.newest_frame()
    reason = ""
    while frame is not None and len(words) < 500:
        # gdb makes up frames of inlined functions, and of tail calls from debug information
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            words.append(word_of(frame.pc()))
        if frame.unwind_stop_reason() != gdb.FRAME_UNWIND_NO_REASON:
            reason = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
        try:
            frame = frame.older()
        except gdb.error as error:
            reason = str(error)
            break
    return " ".join(words) + "|" + reason


class Generated(gdb.unwinder.Unwinder):
    """gdb knows nothing of generated code, and would guess word by word: it follows rbp there."""

    def __init__(self):
        super().__init__("generated code")

    def __call__(self, pending):
        rip, rsp, rbp = (int(pending.read_register(name)) & (1 << 64) - 1 for name in ("rip", "rsp", "rbp"))
        if gdb.solib_name(rip) is not None or in_program(rip):
            return None
        is_leaf = rsp == leaf_sp[0]
        at, fp = rbp + 8, None
        code = bytes(gdb.selected_inferior().read_memory(rip, 4))
        if is_leaf and (code[0] == 0xC3 or code == b"\x55\x48\x89\xe5"):
            at, fp = rsp, rbp
        elif is_leaf and code[:3] == b"\x48\x89\xe5":
            at, fp = rsp + 8, rbp
        word = lambda address: int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, 8)), "little")
        kind = gdb.lookup_type("long")
        info = pending.create_unwind_info(Id(at + 8, rip))
        for name, value in (("rip", word(at)), ("rsp", at + 8), ("rbp", word(rbp) if fp is None else fp)):
            info.add_saved_register(name, gdb.Value(value - (1 << 64) if value >> 63 else value).cast(kind))
        for name in ("rbx", "r12", "r13", "r14", "r15"):
            info.add_saved_register(name, pending.read_register(name))
        return info


class Id:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


leaf_sp = [0]
program = []


def in_program(pc):
    """gdb has no name for the ranges of the program and the vDSO: ask the kernel, once."""
    if not program:
        path = os.path.realpath(gdb.current_progspace().filename)
        with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="ascii") as maps:
            for line in maps:
                words = line.split()
                if len(words) > 5 and (os.path.realpath(words[5]) == path or words[5] == "[vdso]"):
                    program.append(tuple(int(word, 16) for word in words[0].split("-")))
    return any(low <= pc < high for low, high in program)


def main():
    for command in ("set pagination off", "set confirm off", "set startup-with-shell off", "set width 0",
                    "set debuginfod enabled off", "set backtrace past-main on", "set backtrace limit 500",
                    "set print thread-events off", "handle all nostop noprint pass", "handle SIGPROF stop print pass",
                    "set environment LD_PRELOAD " + os.environ["STOPS_PRELOAD"]):
        gdb.execute(command, to_string=True)
    gdb.unwinder.register_unwinder(None, Generated(), True)
    gdb.execute("run", to_string=True)
    while gdb.selected_inferior().pid != 0:
        if len(lines) < LIMIT:
            lines.append(describe())
        else:
            gdb.execute("handle SIGPROF nostop noprint pass", to_string=True)
        gdb.execute("continue", to_string=True)
    with open(os.environ["STOPS_FILE"], "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


main()
