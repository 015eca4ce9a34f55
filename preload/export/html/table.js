/* table.js - the functions as a table: what the graph shows, for those who cannot use one. */

const TABLE_ROWS = 300;
const table = { sort: "self", section: document.getElementById("functions") };

function tableRows(tree) {
	const side = selection.side, rows = [];

	tree.sums = tree.sums || sumFunctions(tree);
	for (const [fn, sums] of tree.sums) {
		if (sums.total[side] > 0 && isSearched(functionName(fn), fn))
			rows.push({ fn, self: sums.self[side], total: sums.total[side], other: sums.self[1 - side] });
	}
	return rows.sort((a, b) => b[table.sort] - a[table.sort] || b.total - a.total || a.fn - b.fn);
}

function tableHead() {
	const row = element("tr");

	for (const [name, key] of [["Self", "self"], ["Total", "total"], ["Kind"], ["Module"], ["Function"], ["Source"]]) {
		const cell = element("th", key ? undefined : name, key ? "number" : "");
		cell.scope = "col";
		if (key) {
			const button = element("button", name);
			button.addEventListener("click", () => {
				table.sort = key;
				drawTable();
			});
			cell.append(button);
			cell.setAttribute("aria-sort", table.sort === key ? "descending" : "none");
		}
		row.append(cell);
	}
	const head = element("thead");
	head.append(row);
	return head;
}

function tableRow({ fn, self, total, other }) {
	const row = element("tr"), name = element("td", undefined, "name"), button = element("button", functionName(fn));
	const side = selection.side, sums = flame.tree.weights.sums;
	const change = data.isChange ? ` (${selection.side === 1 ? "was" : "is"} ${percent(other, sums[1 - side])})` : "";

	button.addEventListener("click", () => showFunction(fn));
	name.append(button);
	row.append(element("td", percent(self, sums[side]) + change, "number"), element("td", percent(total, sums[side]), "number"),
		   element("td", data.kinds[data.functions.kind[fn]]), element("td", moduleName(fn)), name,
		   element("td", placeOf(fn, 0)));
	return row;
}

function drawTable() {
	const rows = tableRows(flame.tree), made = element("table"), body = element("tbody");

	made.append(element("caption", (rows.length > TABLE_ROWS ? `The first ${TABLE_ROWS} of ` : "") + `${count(rows.length)} functions`));
	body.append(...rows.slice(0, TABLE_ROWS).map(tableRow));
	made.append(tableHead(), body);
	table.section.replaceChildren(made);
}

/* The widest node of a function, selected in the graph. */
function showFunction(fn) {
	const { tree } = flame;
	let best = 0;

	for (let i = 1; i < tree.parent.length; i++) {
		if (unitFunction(tree.unit[i]) === fn && (best === 0 || tree.width[i] > tree.width[best]))
			best = i;
	}
	if (best === 0)
		return;
	showTable(false);
	reveal(best);
	selectionMoved();
}
