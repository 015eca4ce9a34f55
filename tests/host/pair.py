# SPDX-License-Identifier: MIT
"""pair.py - a program on the `wasmtime` package with two modules: of app.py, whose shares are known, in two
instances; and one that is read from a file. Arguments: the file, which exports `run` of an i32; seconds of CPU.
"""

import pathlib
import random
import sys
import time

from app import GUEST
from wasmtime import Engine, Instance, Module, Store


def main():
    engine = Engine()
    store = Store(engine)
    images, other = Module(engine, GUEST), Module(engine, pathlib.Path(sys.argv[1]).read_bytes())
    calls = [Instance(store, images, []).exports(store)["thumbnail"] for _ in range(2)]
    run = Instance(store, other, []).exports(store)["run"]
    sizes = random.Random(1)
    end = time.thread_time() + float(sys.argv[2])
    while time.thread_time() < end:
        for call in calls:
            call(store, sizes.randrange(500, 1501))
        run(store, 0)
    print("pair: 3 instances, done")


if __name__ == "__main__":
    main()
