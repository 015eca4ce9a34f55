# SPDX-License-Identifier: MIT
"""napping.py - a program on the `extism` package whose plugin waits in a function of the host's: SECONDS"""

import sys
import time

from extism import Plugin, host_fn

NAP = 0.05


def name(text):
    return bytes([len(text)]) + text.encode()


def section(number, content):
    return bytes([number, len(content)]) + content


# (module (import "extism:host/user" "nap" (func)) (func (call 0)) (func (export "run") (result i32) (call 1) (i32.const 0)))
GUEST = (b"\0asm\1\0\0\0" + section(1, b"\2\x60\0\0\x60\0\1\x7f")
         + section(2, b"\1" + name("extism:host/user") + name("nap") + b"\0\0") + section(3, b"\2\0\1")
         + section(7, b"\1" + name("run") + b"\0\2") + section(10, b"\2\4\0\x10\0\x0b\6\0\x10\1\x41\0\x0b"))


@host_fn(name="nap", signature=([], []))
def nap(*_):
    time.sleep(NAP)


plugin = Plugin(GUEST, functions=[nap])
for _ in range(round(float(sys.argv[1]) / NAP)):
    plugin.call("run", b"")
print("napping: done")
