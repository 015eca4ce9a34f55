/*
 * tree.js - the tree that is drawn: recorded stacks, merged by function (or line), in the selected
 * view, from their roots or from their leaves. Node 0 is everything.
 */

/* What nodes are merged by: a function, called or inlined; or one of its lines. */
function unitOf(frame) {
	return selection.byLine ? frame : data.frames.function[frame] * 2 + data.frames.inlined[frame];
}

function unitFunction(unit) {
	return selection.byLine ? data.frames.function[unit] : unit >> 1;
}

function unitLine(unit) {
	return selection.byLine ? data.frames.line[unit] : 0;
}

function unitIsInlined(unit) {
	return selection.byLine ? data.frames.inlined[unit] === 1 : (unit & 1) === 1;
}

function unitName(unit) {
	const name = functionName(unitFunction(unit)), line = unitLine(unit);

	return line > 0 ? `${name}:${line}` : name;
}

class Tree {
	constructor() {
		this.weights = selectWeights();
		this.visible = selectVisible(this.weights.ends);
		this.parent = [-1];
		this.unit = [-1];
		this.depth = [0];
		this.self = [[0], [0]];
		this.total = [[0], [0]];
		this.children = new Map();
		this.unitCount = Math.max(data.frames.function.length, 2 * data.functions.name.length) + 1;
		if (selection.inverted)
			this.growFromLeaves();
		else
			this.growFromRoots();
		this.children = null;
		this.order();
	}

	child(node, unit) {
		const key = node * this.unitCount + unit;
		let found = this.children.get(key);

		if (found === undefined) {
			found = this.parent.length;
			this.children.set(key, found);
			this.parent.push(node);
			this.unit.push(unit);
			this.depth.push(this.depth[node] + 1);
			for (const side of [0, 1]) {
				this.self[side].push(0);
				this.total[side].push(0);
			}
		}
		return found;
	}

	/* A recorded node counts where its nearest shown ancestor is. */
	growFromRoots() {
		const { parent, frame } = data.nodes, [before, after] = this.weights.self;
		const used = new Uint8Array(parent.length), place = new Int32Array(parent.length);

		for (let i = parent.length - 1; i >= 0; i--) {
			if (before[i] > 0 || after[i] > 0)
				used[i] = 1;
			if (used[i] && parent[i] >= 0)
				used[parent[i]] = 1;
		}
		for (let i = 0; i < parent.length; i++) {
			if (!used[i])
				continue;
			const up = parent[i] < 0 ? 0 : place[parent[i]];
			place[i] = this.visible[i] ? this.child(up, unitOf(frame[i])) : up;
			this.self[0][place[i]] += before[i];
			this.self[1][place[i]] += after[i];
		}
		for (const side of [0, 1]) {
			const total = this.total[side], self = this.self[side];

			for (let i = this.parent.length - 1; i >= 0; i--) {
				total[i] += self[i];
				if (i > 0)
					total[this.parent[i]] += total[i];
			}
		}
	}

	growFromLeaves() {
		const { parent, frame } = data.nodes, [before, after] = this.weights.self;

		for (let i = 0; i < parent.length; i++) {
			if (before[i] === 0 && after[i] === 0)
				continue;
			let at = 0;
			this.total[0][0] += before[i];
			this.total[1][0] += after[i];
			for (let up = i; up >= 0; up = parent[up]) {
				if (!this.visible[up])
					continue;
				at = this.child(at, unitOf(frame[up]));
				this.total[0][at] += before[i];
				this.total[1][at] += after[i];
			}
			this.self[0][at] += before[i];
			this.self[1][at] += after[i];
		}
	}

	/* Children in one array, the widest first; and where each begins, in units of weight. */
	order() {
		const size = this.parent.length, width = this.total[selection.side];
		const first = new Int32Array(size + 2), list = new Int32Array(size);

		for (let i = 1; i < size; i++)
			first[this.parent[i] + 2]++;
		for (let i = 2; i < size + 2; i++)
			first[i] += first[i - 1];
		for (let i = 1; i < size; i++)
			list[first[this.parent[i] + 1]++] = i;
		this.x = new Float64Array(size);
		this.maxDepth = 0;
		for (let i = 0; i < size; i++) {
			const children = list.subarray(first[i], first[i + 1]);
			let x = this.x[i];

			if (children.length > 1)
				children.sort((a, b) => width[b] - width[a] || a - b);
			for (const child of children) {
				this.x[child] = x;
				x += width[child];
			}
			if (width[i] > 0)
				this.maxDepth = Math.max(this.maxDepth, this.depth[i]);
		}
		this.first = first;
		this.list = list;
		this.width = width;
	}

	/* Those that have a width; a child's number is larger than its parent's. */
	childrenOf(node) {
		return this.list.subarray(this.first[node], this.first[node + 1]).filter((i) => this.width[i] > 0);
	}

	isWithin(node, ancestor) {
		for (; node > ancestor; node = this.parent[node])
			;
		return node === ancestor;
	}

	share(node, side) {
		return this.weights.sums[side] > 0 ? this.total[side][node] / this.weights.sums[side] : 0;
	}
}
