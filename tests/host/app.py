# SPDX-License-Identifier: MIT
"""app.py - an ordinary program on the `wasmtime` package: an image service on two threads.

One module, four instances, and functions whose shares of the CPU time are known: each spins in the
same loop, a fixed number of rounds for each percent. Argument: seconds of CPU per thread.
"""

import random
import sys
import threading
import time

SHARES = {"blur": 50, "resize": 30, "encode": 20}  # percent

STEP = "(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))"


def spin(name, percent, then=""):
    return f"""
  (func ${name} (param $k i32) (local $n i32) (local $x i64)
    (local.set $n (i32.mul (local.get $k) (i32.const {percent})))
    (loop $more {STEP * 8}
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (global.set $state (i64.add (global.get $state) (local.get $x))) {then})"""


GUEST = f"""(module $images (global $state (mut i64) (i64.const 1))
{spin("encode", SHARES["encode"])}
{spin("resize", SHARES["resize"], "(call $encode (local.get $k))")}
{spin("blur", SHARES["blur"], "(call $resize (local.get $k))")}
  (func $thumbnail (export "thumbnail") (param $k i32) (call $blur (local.get $k))))"""


def serve(engine, module, seconds):
    """One thread: a store with two instances, used in turn."""
    from wasmtime import Instance, Store

    store = Store(engine)
    calls = [Instance(store, module, []).exports(store)["thumbnail"] for _ in range(2)]
    # Pictures differ in size; calls that all took equally long could fall into step with a sampling clock.
    sizes = random.Random(1)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        size = sizes.randrange(500, 1501)
        for call in calls:
            call(store, size)


def main():
    from wasmtime import Engine, Module

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    engine = Engine()
    module = Module(engine, GUEST)
    threads = [threading.Thread(target=serve, args=(engine, module, seconds)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("app: 2 threads, 4 instances, done")


if __name__ == "__main__":
    main()
