// SPDX-License-Identifier: MIT
//
// guest.js - runs the export `run` of a wasm file for a while: guest.js FILE cpu_ms=N [worker]
// The work of a call varies, so that no clock keeps step with it.
'use strict';
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');

function turn(run, milliseconds) {
	const end = process.cpuUsage().user / 1000 + milliseconds;
	let calls = 0;

	while (process.cpuUsage().user / 1000 < end) {
		run(200 + (calls * 37) % 101);
		calls++;
	}
	return calls;
}

function work(words) {
	const milliseconds = Number(words.find((word) => word.startsWith('cpu_ms=')).slice(7));
	const module = new WebAssembly.Module(fs.readFileSync(words[0]));
	const instance = new WebAssembly.Instance(module);

	turn(instance.exports.run, milliseconds);
}

if (!isMainThread) {
	work(workerData);
} else if (process.argv.includes('worker')) {
	new Worker(__filename, { workerData: process.argv.slice(2) });
} else {
	work(process.argv.slice(2));
}
if (isMainThread)
	console.log('done');
