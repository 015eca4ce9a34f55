/*
 * data.js - the block of JSON in the page, as typed arrays.
 *
 * version    1
 * kinds      of frames; states: of samples
 * heads      one object a recording: what it is, and how well it was sampled
 * texts      all names, escaped as they are to be shown; 0 is ""
 * functions  columns name, module, file (texts), kind, line
 * frames     columns function, line, inlined: a function at one of its lines
 * nodes      columns parent (-1: a root), frame: the prefix tree of all stacks, parents first
 * scopes     columns group, instance (texts), state, side: whose samples; side 1 is the second recording
 * rows       columns node (where the stack ends), scope, samples, cpu_ns, wall_ns
 * labels     [group, text]: what the user labelled a group with
 * sources    {file (text), lines}
 */

function typed(table, types) {
	const columns = {};

	for (const [name, type] of Object.entries(types))
		columns[name] = new type(table[name]);
	return columns;
}

function readData() {
	const block = document.getElementById("data");
	const raw = JSON.parse(block.textContent);

	block.remove();
	return {
		...raw,
		functions: typed(raw.functions, { name: Int32Array, module: Int32Array, file: Int32Array,
						  kind: Uint8Array, line: Int32Array }),
		frames: typed(raw.frames, { function: Int32Array, line: Int32Array, inlined: Uint8Array }),
		nodes: typed(raw.nodes, { parent: Int32Array, frame: Int32Array }),
		scopes: typed(raw.scopes, { group: Int32Array, instance: Int32Array, state: Uint8Array,
					    side: Uint8Array }),
		rows: typed(raw.rows, { node: Int32Array, scope: Int32Array, samples: Float64Array,
					cpu_ns: Float64Array, wall_ns: Float64Array }),
		labels: new Map(raw.labels.map(([group, text]) => [group, text])),
		sources: new Map(raw.sources.map((source) => [source.file, source.lines])),
		isChange: raw.heads.length > 1,
	};
}

const data = readData();

function functionName(fn) {
	return data.texts[data.functions.name[fn]];
}

function moduleName(fn) {
	return data.texts[data.functions.module[fn]];
}

function fileName(fn) {
	return data.texts[data.functions.file[fn]];
}

/* "file:line" of a function at a line, or where it begins. */
function placeOf(fn, line) {
	const file = fileName(fn), at = line || data.functions.line[fn];

	return file === "" ? "" : at > 0 ? `${file}:${at}` : file;
}

function sumRows(value) {
	return data.rows[value].reduce((sum, weight) => sum + weight, 0);
}
