/* flame.js - draws the tree on a canvas as tall as the window, and tells what is where on it. */

const ROW = 18, FONT = "12px ui-monospace, monospace", TOO_NARROW = 0.4, LABEL_MIN = 22;

/* Hue, saturation by kind; lightness by theme. */
const KIND_COLOURS = [[24, 80], [215, 22], [48, 85], [160, 25], [280, 40], [340, 45]];

const flame = {
	tree: null, zoom: 0, selected: 0, rows: [],
	graph: document.getElementById("graph"),
	canvas: document.getElementById("canvas"),
	spacer: document.getElementById("spacer"),
	context: document.getElementById("canvas").getContext("2d"),
	charWidth: 7.2, width: 0, height: 0, pending: false,
};

function isDark() {
	return document.documentElement.classList.contains("dark");
}

/* The same name has the same colour everywhere. */
function hashOf(text) {
	let hash = 2166136261;

	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash >>> 8) / 16777216;
}

/* Red: more than before; blue: less; grey: no more than sampling twice would give. */
function changeColour(tree, node) {
	const before = tree.share(node, 0), after = tree.share(node, 1);
	const [beforeSamples, afterSamples] = tree.weights.samples;
	const light = isDark() ? 34 : 78;

	if (!isChange(before, beforeSamples, after, afterSamples))
		return `hsl(220 6% ${light}%)`;
	const strength = Math.min(1, Math.abs(after - before) / Math.max(before, after, 0.02) + 0.15);
	return `hsl(${after > before ? 6 : 216} ${20 + 70 * strength}% ${light - (isDark() ? 0 : 12 * strength)}%)`;
}

function nodeColour(tree, node) {
	if (node === 0)
		return isDark() ? "hsl(220 8% 30%)" : "hsl(220 12% 86%)";
	if (data.isChange)
		return changeColour(tree, node);
	const fn = unitFunction(tree.unit[node]), [hue, saturation] = KIND_COLOURS[data.functions.kind[fn]];
	const shade = hashOf(functionName(fn)), inlined = unitIsInlined(tree.unit[node]) ? 7 : 0;
	const light = isDark() ? 26 + 10 * shade + inlined : 68 + 10 * shade + inlined;
	return `hsl(${hue + 24 * (hashOf(moduleName(fn)) - 0.5)} ${saturation}% ${light}%)`;
}

function nodeLabel(tree, node) {
	return node === 0 ? "all" : unitName(tree.unit[node]);
}

function resizeCanvas() {
	const ratio = window.devicePixelRatio || 1;

	flame.width = flame.graph.clientWidth;
	flame.height = flame.graph.clientHeight;
	flame.canvas.width = Math.max(1, Math.round(flame.width * ratio));
	flame.canvas.height = Math.max(1, Math.round(flame.height * ratio));
	flame.canvas.style.width = flame.width + "px";
	flame.canvas.style.height = flame.height + "px";
	flame.context.setTransform(ratio, 0, 0, ratio, 0, 0);
	flame.context.font = FONT;
	flame.charWidth = flame.context.measureText("mmmmmmmmmm").width / 10;
	draw();
}

/* One frame at the next repaint, however many reasons there are. */
function draw() {
	if (flame.pending)
		return;
	flame.pending = true;
	requestAnimationFrame(() => {
		flame.pending = false;
		drawNow();
	});
}

function drawNow() {
	const { tree, context } = flame;

	context.fillStyle = getComputedStyle(document.body).backgroundColor;
	context.fillRect(0, 0, flame.width, flame.height);
	flame.rows = [];
	if (tree === null || tree.width[0] <= 0)
		return;
	flame.spacer.style.height = Math.max(0, (tree.maxDepth + 2) * ROW - flame.height) + "px";
	for (let up = tree.parent[flame.zoom]; up >= 0; up = tree.parent[up])
		drawNode(up, 0, flame.width, true);
	drawBelow(flame.zoom);
}

/* Children are ordered by width: what follows one that is too narrow is so too. */
function drawBelow(top) {
	const { tree } = flame, scale = flame.width / tree.width[top], left = tree.x[top];
	const last = Math.ceil((flame.graph.scrollTop + flame.height) / ROW), pending = [top];

	while (pending.length > 0) {
		const node = pending.pop();

		drawNode(node, (tree.x[node] - left) * scale, tree.width[node] * scale, false);
		if (tree.depth[node] >= last)
			continue;
		for (let i = tree.first[node]; i < tree.first[node + 1]; i++) {
			if (tree.width[tree.list[i]] * scale < TOO_NARROW)
				break;
			pending.push(tree.list[i]);
		}
	}
}

function drawNode(node, x, width, isAbove) {
	const { tree, context } = flame, depth = tree.depth[node], y = depth * ROW - flame.graph.scrollTop;
	const isMatch = search.pattern !== null && search.matches[node] === 1;

	if (y + ROW < 0 || y > flame.height)
		return;
	(flame.rows[depth] = flame.rows[depth] || []).push({ node, left: x, right: x + width });
	context.globalAlpha = isAbove || (search.pattern !== null && !isMatch) ? 0.45 : 1;
	context.fillStyle = isMatch ? (isDark() ? "#9c2f72" : "#ff9ad5") : nodeColour(tree, node);
	context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 0.5), ROW - 1);
	context.globalAlpha = 1;
	if (width >= LABEL_MIN)
		drawLabel(nodeLabel(tree, node), x, y, width);
	if (node === flame.selected) {
		context.strokeStyle = isDark() ? "#ffffff" : "#000000";
		context.lineWidth = 2;
		context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
	}
}

/* maxWidth: wide characters take two columns, and are squeezed rather than let out. */
function drawLabel(text, x, y, width) {
	const { context } = flame, room = Math.floor((width - 6) / flame.charWidth);

	if (room < 2)
		return;
	context.fillStyle = isDark() ? "#f2f4f7" : "#101418";
	context.textBaseline = "middle";
	context.direction = "ltr";
	context.fillText(text.length > room ? text.slice(0, room - 1) + "\u2026" : text, x + 3, y + ROW / 2, width - 4);
}

/* The node at a point of the window, or -1. */
function nodeAt(clientX, clientY) {
	const box = flame.canvas.getBoundingClientRect(), x = clientX - box.left;
	const row = flame.rows[Math.floor((clientY - box.top + flame.graph.scrollTop) / ROW)] || [];
	const found = row.find(({ left, right }) => x >= left && x < right);

	return found === undefined ? -1 : found.node;
}

function zoomTo(node) {
	flame.zoom = flame.selected = node;
	scrollToNode(node);
	draw();
}

function scrollToNode(node) {
	const y = flame.tree.depth[node] * ROW, { scrollTop } = flame.graph;

	if (y < scrollTop || y + 2 * ROW > scrollTop + flame.height)
		flame.graph.scrollTop = Math.max(0, y - flame.height / 3);
}

/* Selects NODE and zooms so far that it can be seen. */
function reveal(node) {
	const { tree } = flame;
	const isSeen = (top) => tree.isWithin(node, top) && tree.width[node] / tree.width[top] * flame.width >= LABEL_MIN;
	let top = isSeen(flame.zoom) ? flame.zoom : node;

	while (top > 0 && top !== flame.zoom && isSeen(tree.parent[top]))
		top = tree.parent[top];
	flame.zoom = top;
	flame.selected = node;
	scrollToNode(node);
	draw();
}
