// SPDX-License-Identifier: MIT
//
// churn.js - modules that are made, run once and dropped, again and again: churn.js cpu_ms=N
//
// No two have the same bytes. Module K of five has one function, hot_K, that runs its loop (K + 1)
// times as long as that of the first: known shares, whatever address the code was at.
'use strict';
const KINDS = 5;
const { hrtime } = process;

function leb(number) {
	const bytes = [];

	do {
		bytes.push((number & 127) | (number > 127 ? 128 : 0));
		number >>>= 7;
	} while (number > 0);
	return bytes;
}

const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
const text = (string) => [...leb(string.length), ...Buffer.from(string)];

// (func (param $n i32) (result i32) (local $x i64) ...): a loop of n rounds over a multiply; then
// NUMBER in a constant, and as many additions as it says: sizes differ, so places do.
function binary(name, number) {
	const padding = [];

	for (let i = 0; i < number % 50; i++)
		padding.push(0x20, 0, 0x41, 1, 0x6a, 0x21, 0);
	const body = [
		1, 1, 0x7e, 0x42, 1, 0x21, 1,
		0x03, 0x40,
		0x20, 1, 0x42, 0xad, 0xfe, 0xd5, 0xe4, 0xd4, 0x85, 0xfd, 0xa8, 0xd8, 0, 0x7e, 0x21, 1,
		0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,
		...padding, 0x41, ...leb(1000000 + number).slice(0, -1), 0x02, 0x1a, 0x20, 1, 0xa7, 0x0b,
	];

	return Buffer.from([
		0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
		...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
		...section(3, [1, 0]),
		...section(7, [1, ...text('f'), 0, 0]),
		...section(10, [1, ...leb(body.length), ...body]),
		...section(0, [...text('name'), ...section(1, [1, 0, ...text(name)])]),
	]);
}

const end = process.cpuUsage().user / 1000 + Number(process.argv[2].slice(7));
const { f: first } = new WebAssembly.Instance(new WebAssembly.Module(binary('warm', 0))).exports;
let made = 0;
let result = 0;

first(1000);
while (process.cpuUsage().user / 1000 < end || made % KINDS !== 0) {
	const kind = made % KINDS;
	const module = new WebAssembly.Module(binary(`hot_${kind}`, made));

	result ^= new WebAssembly.Instance(module).exports.f(400000 * (kind + 1));
	made++;
	// what was dropped goes when memory is short: make it so
	if (made % 20 === 0)
		global.gc();
}
console.log('done', typeof result);
