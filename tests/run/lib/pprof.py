# SPDX-License-Identifier: MIT
"""pprof.py - reads a recording for the tests, independently of guestprof's own readers.

A small protobuf decoder for google/pprof's profile.proto, and the few extension fields of
preload/encode/recording.h that tests look at. A torn tail is dropped, as the format says.
"""

import collections
import gzip

KINDS = ["guest", "host", "builtin", "trampoline", "jit", "interpreter"]  # enum frame_kind

Frame = collections.namedtuple("Frame", "name kind module address")
Sample = collections.namedtuple("Sample", "frames count cpu_ns labels truncated wall_ns")  # root first


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of each field: int, or bytes. Stops at a field that runs past the end."""
    at = 0
    while at < len(data):
        try:
            key, at = varint(data, at)
            kind = key & 7
            if kind == 0:
                value, at = varint(data, at)
            elif kind == 1:
                value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
            elif kind == 2:
                size, at = varint(data, at)
                if at + size > len(data):
                    return
                value, at = data[at:at + size], at + size
            else:
                raise ValueError(f"wire type {kind} at {at}")
        except IndexError:
            return
        yield key >> 3, value


def packed(value):
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        numbers.append(number)
    return numbers


def message(data):
    """Each field's last value."""
    return dict(fields(data))


class Profile:
    """samples: list of Sample. stats: counters by name. info: process facts. groups, types. hostcalls: rows by (function, module)."""

    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.size, self.raw = len(data), data
        self.strings, self.mappings, self.functions, self.locations = [], {}, {}, {}
        self.stats, self.info, self.groups, self.types = {}, {}, {}, []
        self.hostcalls, self.intervals = {}, []
        self.period = self.time_ns = self.duration_ns = 0
        raw = []
        for number, value in fields(data):
            self._take(number, value, raw)
        self.types = [self.strings[message(value).get(1, 0)] for value in self.types]
        self.samples = [self._sample(value) for value in raw]

    def _take(self, number, value, raw):
        if number == 1:
            self.types.append(value)
        elif number == 2:
            raw.append(value)
        elif number in (3, 4, 5):
            table = {3: self.mappings, 4: self.locations, 5: self.functions}[number]
            row = message(value)
            table[row[1]] = row
        elif number == 6:
            self.strings.append(value.decode())
        elif number == 9:
            self.time_ns = value
        elif number == 10:
            self.duration_ns = value
        elif number == 12:
            self.period = value
        elif number == 1001:
            self.info = message(value)
        elif number == 1002:
            for _, entry in fields(value):
                row = message(entry)
                self.stats[row[1].decode()] = row.get(2, 0)
        elif number == 1003:
            row = message(value)
            self.groups[row.get(1), row.get(2)] = row  # a later one replaces
        elif number == 1004:
            row = message(value)
            self.intervals.append((row[1].decode(), row.get(2, 0), row.get(3, 0), row.get(4, 0)))
        elif number == 1008:
            row = message(value)
            self.hostcalls[self.strings[row.get(1, 0)], self.strings[row.get(2, 0)]] = row  # a later one replaces

    def _frames(self, location_id):
        """Caller first: a location's lines are innermost first."""
        location = self.locations[location_id]
        mapping = self.mappings.get(location.get(2, 0), {})
        kind = KINDS[location.get(1000, 0)]
        module = self.strings[mapping.get(5, 0)]
        lines = [message(value) for number, value in fields_of(location, 4)]
        names = [self.strings[self.functions[line[1]][2]] for line in lines] or [""]
        return [Frame(name, kind, module, location.get(3, 0)) for name in reversed(names)]

    def _sample(self, data):
        ids, values, labels, truncated = [], [], {}, False
        for number, value in fields(data):
            if number == 1:
                ids += packed(value)
            elif number == 2:
                values += packed(value)
            elif number == 3:
                label = message(value)
                text = self.strings[label[2]] if 2 in label else label.get(3, 0)
                labels[self.strings[label[1]]] = text
            elif number == 1000:
                truncated = bool(value)
        frames = [frame for location in reversed(ids) for frame in self._frames(location)]
        wall_ns = values[self.types.index("wall")] if "wall" in self.types else 0
        return Sample(frames, values[0], values[1], labels, truncated, wall_ns)

    def total(self, **labels):
        """Samples whose labels are as given."""
        return sum(s.count for s in self.samples
                   if all(s.labels.get(key) == value for key, value in labels.items()))

    def counts(self, label):
        found = collections.Counter()
        for sample in self.samples:
            found[sample.labels.get(label)] += sample.count
        return found


def fields_of(row, number):
    """The rows of a repeated field that message() kept one of: locations here have one line."""
    return [(number, row[number])] if number in row else []


def read(path):
    with open(path, "rb") as file:
        return Profile(file.read())


def guest_chain(sample):
    """Names of the guest functions, root first."""
    return tuple(frame.name for frame in sample.frames if frame.kind == "guest")


def is_whole(sample, legal):
    """Whether the guest frames are one of the LEGAL chains, or there is glue alone: the guest was being entered, or left."""
    return guest_chain(sample) in legal or all(frame.kind == "trampoline" for frame in sample.frames)
