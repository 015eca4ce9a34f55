# SPDX-License-Identifier: MIT
"""synthetic.py - recordings made of numbers: a large one, as preload/encode/recording.h describes it; small ones."""

import random

from wasmnames import uleb

LABELS = ["wasm_module", "wasm_instance", "wasm_state", "thread_name", "thread_id", "time"]
PERIOD_NS = 10_000_000
SECONDS = 100


def field(number, value):
    """A protobuf field: a number, or bytes."""
    if isinstance(value, int):
        return uleb(number << 3) + uleb(value)
    return uleb(number << 3 | 2) + uleb(len(value)) + value


def packed(number, values):
    return field(number, b"".join(map(uleb, values)))


class Texts:
    def __init__(self):
        self.ids, self.fields = {}, []
        self.id("")

    def id(self, text):
        if text not in self.ids:
            self.ids[text] = len(self.ids)
            self.fields.append(field(6, text.encode()))
        return self.ids[text]


def stacks_of(randoms, count, functions):
    """COUNT distinct stacks, leaf first, as paths of a few call trees: most share their callers."""
    made, stacks = [(1,)], {}
    while len(stacks) < count:
        parent = randoms.choice(made[-2000:])
        stack = (1 + randoms.randrange(functions),) + parent
        if len(stack) < 40:
            made.append(stack)
        if len(stack) > 4:
            stacks[stack] = None
    return list(stacks)


def tables(texts, functions, groups):
    """One mapping a group; a function of each location, two lines in every tenth: inlined."""
    out = []
    for group in range(groups):
        out.append(field(3, field(1, group + 1) + field(5, texts.id(f"module{group}.wasm"))
                         + field(6, texts.id(f"{group:064x}")) + field(1000, group + 1)))
    for i in range(1, functions + 1):
        name = texts.id(f"crate_{i % 37}::module_{i % 11}::Type<u{i % 64}>::function_{i}")
        out.append(field(5, field(1, i) + field(2, name) + field(3, name)
                         + field(4, texts.id(f"src/file_{i % 97}.rs")) + field(5, i)))
        lines = [i, 1 + i % functions] if i % 10 == 0 else [i]
        out.append(field(4, field(1, i) + field(2, 1 + i % groups) + field(3, 64 * i)
                         + b"".join(field(4, field(1, f) + field(2, f + 3) + field(3, 7)) for f in lines)
                         + field(1001, 1)))
    return out


def sample(texts, keys, stack, group, instance, at):
    label = lambda key, value: field(3, field(1, keys[key]) + field(2, texts.id(value)))
    number = lambda key, value: field(3, field(1, keys[key]) + field(3, value))
    module = f"module{group}.wasm"
    return field(2, stack + packed(2, [1, PERIOD_NS]) + label("wasm_module", module)
                 + label("wasm_instance", f"{module}#{instance}") + label("wasm_state", "guest")
                 + label("thread_name", f"worker-{instance % 8}") + number("thread_id", 100 + instance % 8)
                 + number("time", at))


def counted(functions):
    """A profile, none of ours, of {function: samples}; of one frame each."""
    texts = Texts()
    rows = [field(1, field(1, texts.id("samples")) + field(2, texts.id("count"))),
            field(3, field(1, 1) + field(5, texts.id("app.wasm")))]
    for number, (name, count) in enumerate(functions.items(), 1):
        rows.append(field(5, field(1, number) + field(2, texts.id(name))))
        rows.append(field(4, field(1, number) + field(2, 1) + field(4, field(1, number))))
        rows.append(field(2, field(1, number) + field(2, count)
                          + field(3, field(1, texts.id("wasm_module")) + field(2, texts.id("app.wasm")))))
    return b"".join(texts.fields + rows)


def recording(path, samples=100000, instances=1000, functions=2000, groups=40, stacks=20000, seed=1):
    """Writes it to PATH. Threads are eight, time is SECONDS; host calls and lives are in it too."""
    randoms, texts = random.Random(seed), Texts()
    keys = {name: texts.id(name) for name in LABELS}
    value = lambda number, kind, unit: field(number, field(1, texts.id(kind)) + field(2, texts.id(unit)))
    head = [value(1, "samples", "count"), value(1, "cpu", "nanoseconds"), value(11, "cpu", "nanoseconds"),
            field(12, PERIOD_NS), field(9, 1764525600 * 10**9), field(10, SECONDS * 10**9),
            field(1001, field(1, 1) + field(2, 4242) + field(3, b"synthetic") + field(4, b"cpu timer")
                  + field(6, 100) + field(7, b"hostcalls") + field(8, 1))]
    body = tables(texts, functions, groups)
    kept = [packed(1, stack) for stack in stacks_of(randoms, stacks, functions)]
    each = samples // instances
    for i in range(samples):
        instance = i % instances
        body.append(sample(texts, keys, randoms.choice(kept), instance % groups, instance,
                           SECONDS * 10**9 * (i // instances) // each))
    for i in range(20000):
        body.append(field(1004, field(1, b"env.read") + field(2, i * 10**6) + field(3, randoms.randrange(10**6))
                          + field(4, 100 + i % 8)))
    for i in range(instances):
        module = f"module{i % groups}.wasm"
        body.append(field(1006, field(1, texts.id(module)) + field(2, texts.id(f"{module}#{i}"))
                          + field(3, i * 1000) + field(4, SECONDS * 10**9)))
    with open(path, "wb") as file:
        file.write(b"".join(texts.fields) + b"".join(head) + b"".join(body))
