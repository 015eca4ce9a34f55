/* source.js - the lines of the selected frame's file, with what was sampled on each. */

const SOURCE_LINES = 3000;
const source = { panel: document.getElementById("source"), isOpen: false, shown: "" };

/* Line -> {self, total} in FILE, each sample once. */
function sumLines(tree, file) {
	const { parent, frame } = data.nodes, sums = new Map(), last = new Map();

	for (let i = 0; i < parent.length; i++) {
		const weights = [tree.weights.self[0][i], tree.weights.self[1][i]];

		if (weights[0] === 0 && weights[1] === 0)
			continue;
		for (let up = i; up >= 0; up = parent[up]) {
			const line = data.frames.line[frame[up]];

			if (data.functions.file[data.frames.function[frame[up]]] !== file || line <= 0)
				continue;
			if (!sums.has(line))
				sums.set(line, { self: [0, 0], total: [0, 0] });
			addWeights(sums.get(line), weights, up === i, last.get(line) !== i);
			last.set(line, i);
		}
	}
	return sums;
}

function sourceRow(number, text, sum, here) {
	const side = selection.side, whole = flame.tree.weights.sums[side];
	const row = element("tr", undefined, (sum && sum.total[side] > 0 ? "hot" : "") + (number === here ? " here" : ""));

	row.append(element("td", sum ? percent(sum.self[side], whole) : "", "number"),
		   element("td", sum ? percent(sum.total[side], whole) : "", "number"),
		   element("td", String(number), "number"), element("td", text));
	return row;
}

/* Numbers of the lines to show: all, or those around HERE, or those that were sampled. */
function shownLines(lines, sums, here) {
	if (lines === undefined)
		return [...sums.keys()].sort((a, b) => a - b);
	const first = lines.length <= SOURCE_LINES ? 1 : Math.max(1, here - SOURCE_LINES / 2);
	const size = Math.min(SOURCE_LINES, lines.length - first + 1);
	return Array.from({ length: Math.max(0, size) }, (_, i) => first + i);
}

/* Of the selected node: the line that is most of it, or where its function begins. */
function lineOfNode(tree, node) {
	const unit = tree.unit[node], fn = unitFunction(unit);
	let best = unitLine(unit), most = 0;

	if (best > 0)
		return best;
	for (const [line, sum] of sumLines(tree, data.functions.file[fn])) {
		if (line >= data.functions.line[fn] && sum.total[selection.side] > most && belongsTo(line, fn))
			[best, most] = [line, sum.total[selection.side]];
	}
	return best || data.functions.line[fn];
}

function belongsTo(line, fn) {
	for (let i = 0; i < data.frames.line.length; i++) {
		if (data.frames.line[i] === line && data.frames.function[i] === fn)
			return true;
	}
	return false;
}

function drawSource() {
	const { tree, selected } = flame;

	if (!source.isOpen)
		return;
	if (selected === 0) {
		source.panel.replaceChildren(element("p", "Select a frame to see its source."));
		return;
	}
	const fn = unitFunction(tree.unit[selected]), file = data.functions.file[fn];
	if (file === 0) {
		source.panel.replaceChildren(element("h2", functionName(fn)),
					     element("p", "No source file is known: the module has no debug information, or none was given (--wasm)."));
		return;
	}
	drawFile(tree, fn, file, lineOfNode(tree, selected));
}

function drawFile(tree, fn, file, here) {
	const lines = data.sources.get(file), sums = sumLines(tree, file), made = element("table"), head = element("tr");
	const parts = [element("h2", placeOf(fn, here))];

	if (lines === undefined)
		parts.push(element("p", "The file is not in this page (export with --sources DIR); these lines were sampled:"));
	for (const name of ["Self", "Total", "Line", "Text"])
		head.append(element("th", name, name === "Text" ? "" : "number"));
	made.append(head, ...shownLines(lines, sums, here).map(
		(number) => sourceRow(number, lines === undefined ? "" : lines[number - 1], sums.get(number), here)));
	source.panel.replaceChildren(...parts, made);
	const row = made.querySelector(".here");
	if (row !== null)
		row.scrollIntoView({ block: "center" });
}
