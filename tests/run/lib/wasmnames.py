# SPDX-License-Identifier: MIT
"""wasmnames.py - the names in a wasm binary, and binaries made of names."""


def uleb(number):
    out = bytearray()
    while True:
        byte = number & 0x7F
        number >>= 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def read_uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def sections(data):
    """(id, body) of each section."""
    at = 8
    while at < len(data):
        size, body = read_uleb(data, at + 1)
        yield data[at], data[body:body + size]
        at = body + size


def function_names(data):
    """{index: name} as the name section has it, bytes."""
    names = {}
    for number, body in sections(data):
        if number != 0:
            continue
        length, at = read_uleb(body, 0)
        if body[at:at + length] != b"name":
            continue
        at += length
        while at < len(body):
            kind = body[at]
            size, start = read_uleb(body, at + 1)
            at = start + size
            if kind != 1:
                continue
            count, next_name = read_uleb(body, start)
            for _ in range(count):
                index, next_name = read_uleb(body, next_name)
                length, next_name = read_uleb(body, next_name)
                names[index] = body[next_name:next_name + length]
                next_name += length
    return names


def binary(names):
    """A module whose `run`, the last function, calls one empty function for each of NAMES in their order."""
    def section(number, body):
        return bytes([number]) + uleb(len(body)) + body

    def text(value):
        return uleb(len(value)) + value

    count = len(names)
    calls = b"\0" + b"".join(b"\x10" + uleb(i) for i in range(count)) + b"\x0b"
    code = uleb(count + 1) + b"\x02\0\x0b" * count + uleb(len(calls)) + calls
    table = uleb(count) + b"".join(uleb(i) + text(name) for i, name in enumerate(names))
    return (b"\0asm\1\0\0\0" + section(1, b"\1\x60\0\0") + section(3, uleb(count + 1) + b"\0" * (count + 1))
            + section(7, b"\1" + text(b"run") + b"\0" + uleb(count)) + section(10, code)
            + section(0, text(b"name") + section(1, table)))
