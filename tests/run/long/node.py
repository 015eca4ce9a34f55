#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""node.py - node started often: 50 times each, and 200 workers one after another."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "lib"), str(pathlib.Path(__file__).resolve().parents[1])]
import harness
import v8
from harness import HOSTS, LIBRARY, Run, environment, expect, test

harness.tests.clear()  # those of v8.py
v8.STARTS = 50

WORKERS = """
const fs = require('fs');
const { Worker, isMainThread } = require('worker_threads');

function work() {
	const module = new WebAssembly.Module(fs.readFileSync(process.env.GUEST));
	const { run } = new WebAssembly.Instance(module).exports;

	for (let i = 0; i < 20; i++)
		run(100 + i);
}

function next(left) {
	if (left > 0)
		new Worker(__filename).on('exit', () => next(left - 2));
}

work();
if (isMainThread) {
	next(199);
	next(200);
	process.on('exit', () => console.log('done'));
}
"""


def workers(version):
    with harness.folder() as path:
        script = path / "workers.js"
        script.write_text(WORKERS)
        run = Run([v8.binary(version), str(script)], timeout=300,
                  env=environment(LD_PRELOAD=str(LIBRARY), GUESTPROF_OUTPUT="none", GUESTPROF_HZ="1000",
                                  GUEST=str(HOSTS / "apart.wasm")))
    expect(run.status == 0 and run.stdout == "done\n", f"status {run.status}, {run.stdout!r}: {harness.tail(run.stderr)}")


for each in v8.NODES:
    test("node {} {} starts", each, v8.STARTS)(lambda version, _: v8.starts(version))
    test("node {} 200 workers", each)(workers)

if __name__ == "__main__":
    sys.exit(harness.main())
