/* describe.js - a node in words: for the tooltip, the line below the graph, and what reads it aloud. */

function weightText(weight) {
	return selection.value === "samples" ? `${count(weight)} samples` : seconds(weight);
}

function shareText(weight, side) {
	return `${percent(weight, flame.tree.weights.sums[side])} (${weightText(weight)})`;
}

/* A function's self and total in the whole selection, each sample once. */
function functionSums(tree, fn) {
	tree.sums = tree.sums || sumFunctions(tree);
	return tree.sums.get(fn) || { self: [0, 0], total: [0, 0] };
}

function sumFunctions(tree) {
	const { parent, frame } = data.nodes, sums = new Map(), last = new Map();

	for (let i = 0; i < parent.length; i++) {
		const weights = [tree.weights.self[0][i], tree.weights.self[1][i]];
		let isLeaf = true;

		if (weights[0] === 0 && weights[1] === 0)
			continue;
		for (let up = i; up >= 0; up = parent[up]) {
			const fn = data.frames.function[frame[up]];

			if (!tree.visible[up])
				continue;
			if (!sums.has(fn))
				sums.set(fn, { self: [0, 0], total: [0, 0] });
			addWeights(sums.get(fn), weights, isLeaf, last.get(fn) !== i);
			last.set(fn, i);
			isLeaf = false;
		}
	}
	return sums;
}

function addWeights(sum, weights, isLeaf, isFirst) {
	for (const side of [0, 1]) {
		sum.self[side] += isLeaf ? weights[side] : 0;
		sum.total[side] += isFirst ? weights[side] : 0;
	}
}

function changeText(tree, node) {
	const before = tree.share(node, 0), after = tree.share(node, 1);
	const isReal = isChange(before, tree.weights.samples[0], after, tree.weights.samples[1]);
	const points = (100 * (after - before)).toFixed(1);

	return `before ${shareText(tree.total[0][node], 0)}, after ${shareText(tree.total[1][node], 1)}: ` +
		(isReal ? `${after > before ? "+" : ""}${points} points` : "no more than the sampling error");
}

function describeAll(tree) {
	const side = selection.side, samples = tree.weights.samples[side];

	return [`all: ${weightText(tree.total[side][0])} in ${count(samples)} samples` +
		(samples < 30 && selection.value !== "wall_ns" ? " (too few samples)" : "")];
}

/* Lines of text. */
function describe(tree, node) {
	if (node <= 0)
		return describeAll(tree);
	const unit = tree.unit[node], fn = unitFunction(unit), side = selection.side, sums = functionSums(tree, fn);
	const place = placeOf(fn, unitLine(unit)), module = moduleName(fn);
	const kind = data.kinds[data.functions.kind[fn]] + (unitIsInlined(unit) ? ", inlined" : "");
	const samples = selection.value === "wall_ns" ? 0 : tree.weights.samples[side];
	const lines = [unitName(unit), kind + (module !== "" ? ` of ${module}` : "")];

	if (place !== "")
		lines.push(place);
	lines.push(`here: total ${shareText(tree.total[side][node], side)}` +
		   (selection.inverted ? "" : `, self ${shareText(tree.self[side][node], side)}`) +
		   (samples > 0 ? `, ${intervalText(tree.share(node, side), samples)}` : ""));
	lines.push(`function: self ${shareText(sums.self[side], side)}, total ${shareText(sums.total[side], side)}`);
	if (data.isChange)
		lines.push(changeText(tree, node));
	return lines;
}
