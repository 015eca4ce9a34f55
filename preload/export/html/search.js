/* search.js - which frames a regular expression finds, the share that they have, and the next one. */

const search = { pattern: null, matches: null, found: [], at: -1 };

/* Small letters match large ones too. Throws SyntaxError. */
function compilePattern(text) {
	if (text === "")
		return null;
	return new RegExp(text, /\p{Lu}/u.test(text.replace(/\\./g, "")) ? "u" : "iu");
}

/* By unit, each asked once; the outermost matching nodes hold every sample that matches, once. */
function searchTree(tree) {
	const size = tree.parent.length, answers = new Int8Array(tree.unitCount);
	const below = new Uint8Array(size);
	const sums = [0, 0];

	search.matches = new Uint8Array(size);
	search.found = [];
	search.at = -1;
	if (search.pattern === null)
		return null;
	for (let i = 1; i < size; i++) {
		const unit = tree.unit[i];

		if (answers[unit] === 0)
			answers[unit] = isSearched(unitName(unit), unitFunction(unit)) ? 1 : -1;
		search.matches[i] = answers[unit] === 1 ? 1 : 0;
		below[i] = below[tree.parent[i]] | search.matches[tree.parent[i]];
		if (search.matches[i] && !below[i]) {
			sums[0] += tree.total[0][i];
			sums[1] += tree.total[1][i];
		}
	}
	collectFound(tree);
	return sums;
}

/* Nothing searched for is everywhere. */
function isSearched(name, fn) {
	return search.pattern === null || search.pattern.test(name) || search.pattern.test(moduleName(fn));
}

/* In the order of the picture: left to right, outer before inner. */
function collectFound(tree) {
	const pending = [0];

	while (pending.length > 0) {
		const node = pending.pop(), children = tree.childrenOf(node);

		if (search.matches[node])
			search.found.push(node);
		for (let i = children.length - 1; i >= 0; i--)
			pending.push(children[i]);
	}
}

/* The match STEP further on, or -1. */
function nextMatch(step) {
	const total = search.found.length;

	if (total === 0)
		return -1;
	search.at = search.at < 0 && step < 0 ? total - 1 : (search.at + step + total) % total;
	return search.found[search.at];
}
