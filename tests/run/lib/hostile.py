# SPDX-License-Identifier: MIT
"""hostile.py - names that try to be more than names, and a guest whose functions carry them.

What a guest is called, and what its functions are called, is chosen by whoever wrote it. Each name
here tries to get out of one sink: a page, a terminal, a line of folded stacks, JSON, a file name.
"""

import re

from wasmnames import uleb

# In the order of the guest's functions. Bytes: a name section may hold anything.
NAMES = [
    b"</script><script>alert(1)//",
    b"<img src=x onerror=alert(1)>",
    b"<!--",
    b"]]>",
    b"&lt;b&gt;",
    b"a&b" * 40,
    b"${7*7}",
    b"{{constructor}}",
    b"\"quoted\"",
    b"'; DROP TABLE functions;--",
    b"back\\slash\\u003c\\",
    b"\\x1b[31m",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x1b\\",
    b"\x9b31m",
    "\u009b31m".encode(),
    b"line\nroot",
    b"cr\rover",
    b"tab\tstop",
    b"nul\0byte",
    b"bell\x07 backspace\x08\x08\x08 delete\x7f",
    b"../../../etc/passwd",
    b"/dev/tcp/1.2.3.4/80",
    b"C:\\windows\\system32",
    "\u202egnp.exe".encode(),
    "\u2066hidden\u2069 \u200fmark".encode(),
    "שלום עולם".encode(),
    "zero\u200bwidth\ufeff".encode(),
    "line\u2028separator\u2029".encode(),
    ("Z" + "\u0301\u0317" * 30 + "algo").encode(),
    b"cut\xff\xfeoff",
    b"overlong\xc0\xaf",
    b"surrogate\xed\xa0\x80",
    b"semi;colon;[u8; 32]",
    b"ends in a number 12",
    b"ends in a number 1.5",
    b" spaces around  ",
    b";",
    b"x" * 100001,
]
assert len(NAMES) == len(set(NAMES)) == 40

MODULE_NAME = b"</title>\x1b[2J;mod\nule ../../\xe2\x80\xae 7"

# What may be in no output: what moves a cursor, hides, reorders or piles up (and is not a line's end).
RAW = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u0300-\u036f\u0590-\u08ff\u200b-\u200f\u2028-\u202e\u2060-\u206f"
                 "\ud800-\udfff\ufeff]")

# What may be in no data either: a pprof file keeps the marks above for its readers to show.
CONTROL = re.compile("[\0-\x1f\x7f-\x9f]")

# Of a function's loop: 8 to 16 us. How long one takes varies, or the calls of all in turn, always equally long, could
# fall into step with the clock that samples them, and some would never be met.
ROUNDS, MORE_ROUNDS_BITS = 16384, 14


def section(number, body):
    return bytes([number]) + uleb(len(body)) + body


def i32_const(value):
    """With the number as a signed LEB128."""
    code = bytearray(b"\x41")
    while not -64 <= value < 64:
        code.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(code) + bytes([value & 0x7f])


def text(value):
    return uleb(len(value)) + value


def body_of(code):
    return uleb(len(code)) + code


def guest():
    """A module whose `run` calls each function in turn; each spins."""
    count = len(NAMES)
    # A linear congruential generator in a global; its upper bits are random enough.
    step = b"\x23\0" + i32_const(1103515245) + b"\x6c" + i32_const(12345) + b"\x6a\x24\0"
    rounds = b"\x23\0" + i32_const(32 - MORE_ROUNDS_BITS) + b"\x76" + i32_const(ROUNDS) + b"\x6a\x21\0"
    spin = (b"\1\1\x7f" + step + rounds
            + b"\x03\x40\x20\0\x41\1\x6b\x22\0\x0d\0\x0b\x0b")  # loop: i -= 1, again if not 0
    run = b"\0" + b"".join(b"\x10" + uleb(i) for i in range(count)) + b"\x0b"
    names = uleb(count) + b"".join(uleb(i) + text(name) for i, name in enumerate(NAMES))
    return (b"\0asm\1\0\0\0" + section(1, b"\2\x60\0\0\x60\1\x7f\0")
            + section(3, uleb(count + 1) + b"\0" * count + b"\1")
            + section(6, b"\1\x7f\1" + i32_const(1) + b"\x0b")
            + section(7, b"\1" + text(b"run") + b"\0" + uleb(count))
            + section(10, uleb(count + 1) + body_of(spin) * count + body_of(run))
            + section(0, text(b"name") + section(0, text(MODULE_NAME)) + section(1, names)))


def strings_of(value):
    """All texts in decoded JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)
