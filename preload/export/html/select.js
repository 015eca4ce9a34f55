/* select.js - which samples count, by the selection, and which of their frames are shown. */

/* Of enum frame_kind, of enum wasm_state. */
const HOST = 1, TRAMPOLINE = 3;
const WAITING = 3;
/* As the settings of the recorder: each shows more than the one before. */
const VIEWS = ["guest", "hostcalls", "full"];

/* -1: any. */
const selection = { value: "cpu_ns", group: -1, instance: -1, state: -1, view: 2, side: 0,
		    inverted: false, byLine: false };

function scopeIsSelected(scope) {
	const { group, instance, state } = selection;

	return (group < 0 || data.scopes.group[scope] === group) &&
		(instance < 0 || data.scopes.instance[scope] === instance) &&
		(state < 0 || data.scopes.state[scope] === state);
}

/*
 * By recorded node: self weights of both sides, and where stacks end, 2 where in a wait. The weights'
 * sums, and the numbers of samples that they rest on.
 */
function selectWeights() {
	const { rows, scopes, nodes } = data;
	const chosen = Array.from(scopes.group, (_, scope) => scopeIsSelected(scope));
	const size = nodes.parent.length;
	const weights = { self: [new Float64Array(size), new Float64Array(size)], sums: [0, 0],
			  samples: [0, 0], ends: new Uint8Array(size) };
	const value = rows[selection.value];

	for (let i = 0; i < rows.node.length; i++) {
		const scope = rows.scope[i], side = scopes.side[scope];

		if (!chosen[scope])
			continue;
		weights.ends[rows.node[i]] |= scopes.state[scope] === WAITING ? 2 : 1;
		weights.self[side][rows.node[i]] += value[i];
		weights.sums[side] += value[i];
		weights.samples[side] += rows.samples[i];
	}
	return weights;
}

/*
 * As --view does: guest is without the host's frames and without glue; hostcalls has of the host's
 * what a guest called, and what it waits in; full has all. A stack of nothing but glue shows its end.
 */
function selectVisible(ends) {
	const { parent, frame } = data.nodes;
	const visible = new Uint8Array(parent.length), inGuest = new Uint8Array(parent.length);
	const kindOf = (node) => data.functions.kind[data.frames.function[frame[node]]];

	for (let i = 0; i < parent.length; i++) {
		const kind = kindOf(i), up = parent[i], below = up >= 0 && inGuest[up] === 1;

		inGuest[i] = below || (kind !== HOST && kind !== TRAMPOLINE) ? 1 : 0;
		if (selection.view === 2)
			visible[i] = 1;
		else if (kind === TRAMPOLINE)
			visible[i] = !below && ends[i] ? 1 : 0;
		else if (kind !== HOST)
			visible[i] = 1;
		else if (selection.view === 1 && below)
			visible[i] = kindOf(up) !== HOST || ends[i] & 2 ? 1 : 0;
	}
	return visible;
}
