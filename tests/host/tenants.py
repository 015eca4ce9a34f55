# SPDX-License-Identifier: MIT
"""tenants.py - a platform: modules of several tenants in one process, each on threads of its own.

    tenants.py SECONDS NEIGHBOUR[:THREADS]...

The tenant `acme` has the same work whatever its neighbours are: it computes, asks its host for something,
which computes and sleeps, and is called by a neighbour's guest too. Neighbours have telling names for
everything that has one.
"""

import ctypes
import sys
import threading
import time

STEP = "(local.set $x (i64.add (i64.mul (local.get $x) (i64.const 6364136223846793005)) (i64.const 1442695040888963407)))"


def spin(name, rounds, then=""):
    return f"""
  (func ${name} (local $n i32) (local $x i64)
    (local.set $n (i32.const {rounds}))
    (loop $more {STEP * 8}
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (global.set $state (i64.add (global.get $state) (local.get $x))) {then})"""


def guest(name, parts, imported):
    """Three functions below the export `serve`, the innermost of which calls the import."""
    module, function = imported
    first, second, third = parts
    return f"""(module ${name}-app
  (import "{module}" "{function}" (func ${function}))
  (memory 1)
  (global $state (mut i64) (i64.const 1))
{spin(third, 20000, f"(memory.fill (i32.const 0) (i32.const 1) (i32.const 60000)) (call ${function})")}
{spin(second, 20000, f"(call ${third})")}
{spin(first, 20000, f"(call ${second})")}
  (func (export "serve") (call ${first})))"""


ACME = guest("acme", ("acme_route", "acme_parse", "acme_render"), ("acme_platform", "fetch"))


def name_thread(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


class Tenant:
    """A store with one instance."""

    def __init__(self, engine, module, host_function):
        from wasmtime import Func, FuncType, Instance, Store

        self.store = Store(engine)
        self.instance = Instance(self.store, module, [Func(self.store, FuncType([], []), host_function)])
        self.serve = self.instance.exports(self.store)["serve"]

    def call(self):
        self.serve(self.store)


def fetch():
    """What acme asks its host for: some work, and a wait."""
    total = 0
    for number in range(8000):
        total += number * number
    time.sleep(0.004)


def run_acme(engine, module, end):
    name_thread("acme-worker")
    tenants = [Tenant(engine, module, fetch) for _ in range(2)]
    while time.monotonic() < end:
        for tenant in tenants:
            tenant.call()


def run_neighbour(engine, name, module, acme_module, end):
    """Its host function calls an instance of acme's, below its own frames."""
    name_thread(f"{name}-worker")
    acme = Tenant(engine, acme_module, fetch)
    neighbour = Tenant(engine, module, acme.call)
    while time.monotonic() < end:
        neighbour.call()


def main():
    from wasmtime import Engine, Module

    end = time.monotonic() + float(sys.argv[1])
    engine = Engine()
    neighbours = []
    for word in sys.argv[2:]:
        name, _, threads = word.partition(":")
        text = guest(name, (f"{name}_charge_card", f"{name}_send_invoice", f"{name}_audit_ledger"),
                     (f"{name}_backend", f"{name}_database"))
        neighbours.append((name, Module(engine, text), int(threads or 1)))
    acme = Module(engine, ACME)
    threads = [threading.Thread(target=run_acme, args=(engine, acme, end))]
    for name, module, count in neighbours:
        threads += [threading.Thread(target=run_neighbour, args=(engine, name, module, acme, end)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
