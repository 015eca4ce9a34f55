/* page.js - the controls: selectors, search, mouse, keys, themes. Runs once the page is there. */

const byId = (id) => document.getElementById(id);

/* ---- selectors ---- */

/* The NAME column's texts that have samples, heaviest first, with their shares. */
function choices(name, keep) {
	const { rows, scopes } = data, sums = new Map();
	let whole = 0;

	for (let i = 0; i < rows.node.length; i++) {
		const scope = rows.scope[i], key = scopes[name][scope], weight = rows[selection.value][i];
		if (!keep(scope))
			continue;
		sums.set(key, (sums.get(key) || 0) + weight);
		whole += weight;
	}
	return [...sums].sort((a, b) => b[1] - a[1]).map(([key, sum]) => [key, percent(sum, whole)]);
}

function fill(select, any, options, chosen) {
	select.replaceChildren(...[[-1, any], ...options].map(([value, text]) => {
		const option = element("option", text);
		option.value = value;
		option.selected = value === chosen;
		return option;
	}));
	select.disabled = options.length < 2 && chosen < 0;
}

function groupText(group) {
	const label = data.labels.get(data.texts[group]);

	return data.texts[group] + (label ? `  ${label}` : "");
}

function fillSelectors() {
	const inGroup = (scope) => selection.group < 0 || data.scopes.group[scope] === selection.group;

	const groups = choices("group", () => true), states = choices("state", inGroup);
	const instances = choices("instance", inGroup).filter(([key]) => key !== 0);

	fill(byId("group"), "all", groups.map(([key, share]) => [key, `${groupText(key)}  ${share}`]), selection.group);
	fill(byId("instance"), "all", instances.map(([key, share]) => [key, `${data.texts[key]}  ${share}`]), selection.instance);
	fill(byId("state"), "all", states.map(([key, share]) => [key, `${data.states[key]}  ${share}`]), selection.state);
}

/* Only weights that were recorded, only views that are not wider than the recording's stacks. */
function fillOnce() {
	const values = [["cpu_ns", "CPU time"], ["samples", "samples"], ["wall_ns", "waiting"]]
		.filter(([value]) => sumRows(value) > 0);
	const stacks = data.heads.map((head) => VIEWS.indexOf(head.stacks));
	const widest = stacks.includes(-1) ? 2 : Math.min(...stacks);
	const views = VIEWS.slice(0, widest + 1).map((view, i) => [i, view === "full" ? "all frames" : view]);

	selection.value = values.length > 0 ? values[0][0] : "samples";
	selection.view = widest;
	selection.side = data.isChange ? 1 : 0;
	byId("side-label").hidden = !data.isChange;
	fill(byId("value"), "", values, selection.value);
	fill(byId("view"), "", stacks.includes(-1) && !data.heads[0].is_ours ? [[2, "all frames"]] : views, selection.view);
	for (const id of ["value", "view"])
		byId(id).firstChild.remove();
}

/* ---- what changes when something is chosen ---- */

function unitPath(tree, node) {
	const path = [];

	for (; tree !== null && node > 0; node = tree.parent[node])
		path.unshift(tree.unit[node]);
	return path;
}

function followPath(tree, path) {
	let node = 0;

	for (const unit of path) {
		const next = tree.childrenOf(node).find((child) => tree.unit[child] === unit);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

/* Builds the tree anew; the zoom stays where it was, as far as its path is still there. */
function rebuild(keepsZoom) {
	const path = keepsZoom ? unitPath(flame.tree, flame.zoom) : [];

	flame.tree = new Tree();
	flame.zoom = flame.selected = followPath(flame.tree, path);
	showMatched();
	selectionMoved();
	draw();
}

function showMatched() {
	const sums = searchTree(flame.tree), side = selection.side;

	byId("matched").textContent = sums === null ? ""
		: `matched ${percent(sums[side], flame.tree.weights.sums[side])} in ${count(search.found.length)} frames`;
	if (!table.section.hidden)
		drawTable();
}

function selectionMoved() {
	byId("details").textContent = describe(flame.tree, flame.selected).join("  \u00b7  ");
	drawSource();
}

function searchChanged() {
	const input = byId("search");

	try {
		search.pattern = compilePattern(input.value);
		input.setAttribute("aria-invalid", "false");
		showMatched();
	} catch (error) {
		search.pattern = null;
		input.setAttribute("aria-invalid", "true");
		showMatched();
		byId("matched").textContent = "no regular expression";
	}
	draw();
}

function goToMatch(step) {
	const node = nextMatch(step);

	if (node < 0)
		return;
	reveal(node);
	selectionMoved();
	byId("matched").dataset.at = search.at;
}

function press(id, isPressed) {
	byId(id).setAttribute("aria-pressed", String(isPressed));
}

function showTable(isShown) {
	table.section.hidden = !isShown;
	flame.graph.hidden = isShown;
	press("table-toggle", isShown);
	if (isShown)
		drawTable();
	else
		resizeCanvas();
}

function toggle(id, key, keepsZoom) {
	selection[key] = !selection[key];
	press(id, selection[key]);
	rebuild(keepsZoom);
}

function toggleSource() {
	source.isOpen = !source.isOpen;
	source.panel.hidden = !source.isOpen;
	press("source-toggle", source.isOpen);
	drawSource();
	resizeCanvas();
}

function setTheme(dark) {
	document.documentElement.classList.toggle("dark", dark);
	byId("theme").textContent = dark ? "Light" : "Dark";
	draw();
}

function zoomAndTell(node) {
	zoomTo(node);
	selectionMoved();
}

/* ---- keys ---- */

function moveTo(node) {
	if (node === undefined || node < 0)
		return;
	reveal(node);
	selectionMoved();
}

function sibling(step) {
	const { tree, selected } = flame, children = selected > 0 ? [...tree.childrenOf(tree.parent[selected])] : [];

	return children[children.indexOf(selected) + step];
}

const KEYS = [
	["/", "search", () => byId("search").focus()],
	["n", "next match", () => goToMatch(1)],
	["N", "previous match", () => goToMatch(-1)],
	["ArrowDown", "to the widest frame called", () => moveTo(flame.tree.childrenOf(flame.selected)[0])],
	["ArrowUp", "to the caller", () => moveTo(flame.tree.parent[flame.selected])],
	["ArrowLeft", "to the frame on the left", () => moveTo(sibling(-1))],
	["ArrowRight", "to the frame on the right", () => moveTo(sibling(1))],
	["Enter", "zoom to the selected frame", () => zoomAndTell(flame.selected)],
	["Backspace", "zoom out by one frame", () => zoomAndTell(Math.max(0, flame.tree.parent[flame.zoom]))],
	["Escape", "the whole graph", () => zoomAndTell(0)],
	["i", "icicle or inverted", () => toggle("invert", "inverted", false)],
	["l", "by function or by source line", () => toggle("lines", "byLine", false)],
	["t", "table or graph", () => showTable(table.section.hidden)],
	["s", "source of the selected frame", () => toggleSource()],
	["d", "dark or light", () => setTheme(!isDark())],
	["?", "this help", () => byId("help").showModal()],
];

function onKey(event) {
	const isTyping = ["INPUT", "SELECT"].includes(event.target.tagName);
	const found = KEYS.find(([key]) => key === event.key);

	if (event.target.id === "search" && event.key === "Enter")
		goToMatch(event.shiftKey ? -1 : 1);
	else if (isTyping && event.key === "Escape")
		flame.graph.focus();
	if (isTyping || event.ctrlKey || event.altKey || event.metaKey || byId("help").open || found === undefined)
		return;
	if (event.target.tagName === "BUTTON" && event.key === "Enter")
		return;
	event.preventDefault();
	found[2]();
}

function fillHelp() {
	const rows = [...KEYS.map(([key, text]) => [key, text]), ["click", "zoom to a frame"], ["Shift+click", "select a frame without zoom"]];

	byId("keys").append(...rows.map(([key, text]) => {
		const row = element("tr"), cell = element("td");
		cell.append(element("kbd", key.replace("Arrow", "")));
		row.append(cell, element("td", text));
		return row;
	}));
}

/* ---- mouse ---- */

function onMove(event) {
	const node = nodeAt(event.clientX, event.clientY), tip = byId("tooltip");

	tip.hidden = node < 0;
	if (node < 0)
		return;
	tip.textContent = describe(flame.tree, node).join("\n");
	tip.style.left = Math.max(0, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)) + "px";
	const isLow = event.clientY + 22 + tip.offsetHeight > window.innerHeight;
	tip.style.top = Math.max(0, isLow ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18) + "px";
}

function onClick(event) {
	const node = nodeAt(event.clientX, event.clientY);

	if (node < 0)
		return;
	if (event.shiftKey) {
		flame.selected = node;
		draw();
		selectionMoved();
	} else {
		zoomAndTell(node);
	}
}

function onChoice(id, take) {
	byId(id).addEventListener("change", () => {
		take(byId(id).value);
		fillSelectors();
		rebuild(true);
	});
}

function listen() {
	const clicks = { previous: () => goToMatch(-1), next: () => goToMatch(1), reset: () => zoomAndTell(0),
			 invert: () => toggle("invert", "inverted", false), lines: () => toggle("lines", "byLine", false),
			 "table-toggle": () => showTable(table.section.hidden), "source-toggle": toggleSource,
			 theme: () => setTheme(!isDark()), "help-toggle": () => byId("help").showModal() };

	for (const [id, run] of Object.entries(clicks))
		byId(id).addEventListener("click", run);
	onChoice("group", (value) => Object.assign(selection, { group: Number(value), instance: -1, state: -1 }));
	for (const id of ["instance", "state", "view", "side"])
		onChoice(id, (value) => selection[id] = Number(value));
	onChoice("value", (value) => selection.value = value);
	byId("search").addEventListener("input", searchChanged);
	flame.graph.addEventListener("mousemove", onMove);
	flame.graph.addEventListener("mouseleave", () => byId("tooltip").hidden = true);
	flame.graph.addEventListener("click", onClick);
	flame.graph.addEventListener("scroll", draw);
	document.addEventListener("keydown", onKey);
	new ResizeObserver(resizeCanvas).observe(flame.graph);
	const preference = window.matchMedia("(prefers-color-scheme: dark)");
	preference.addEventListener("change", () => setTheme(preference.matches));
	setTheme(preference.matches);
}

drawHeads();
fillOnce();
fillSelectors();
fillHelp();
listen();
rebuild(false);
resizeCanvas();
