/* SPDX-License-Identifier: MIT */
/* report_tree.c - the call tree: groups, and below each function what it calls. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include <stdlib.h>
#include <string.h>

/* What is called at a greater depth is left out. */
enum { DEPTH_MAX = 32 };
/* Two columns a level behind those of the shares. */
enum { SHARES_COLUMNS = 17, LEVEL_COLUMNS = 2 };

static const struct shapes {
	const char *branch, *last, *through, *none;
} boxes = { "\342\224\234 ", "\342\224\224 ", "\342\224\202 ", "  " },
  ascii = { "|-", "`-", "| ", "  " };

struct tree {
	const struct report *report;
	FILE *out;
	const struct shapes *shapes;
	/* By node: the first of those below it, and the next one below its parent; TOTALS_NONE. */
	uint32_t *below, *next;
	bool has_next[DEPTH_MAX + 1]; /* of the node at each depth that is being shown */
	bool was_cut;
};

static uint64_t ppm_of(const struct tree *tree, const struct totals_weight *weight)
{
	const struct totals *totals = tree->report->totals;

	return proportion_ppm(totals_measure(totals, weight),
			      totals_measure(totals, &totals->weight));
}

/* Links shown nodes, the heaviest first: from the lightest on, each before its siblings. Roots. */
static uint32_t link_nodes(struct tree *tree)
{
	const struct totals *totals = tree->report->totals;
	uint32_t roots = TOTALS_NONE;

	for (uint32_t i = 0; i < totals->node_count; i++)
		tree->below[i] = TOTALS_NONE;
	for (uint32_t i = totals->node_count; i-- > 0;) {
		uint32_t node = totals->node_order[i], parent = totals->nodes[node].parent;
		uint32_t *list = parent == TOTALS_NONE ? &roots : &tree->below[parent];

		if (ppm_of(tree, &totals->nodes[node].total) < REPORT_TREE_CUT_PPM) {
			tree->was_cut = true;
			continue;
		}
		tree->next[node] = *list;
		*list = node;
	}
	return roots;
}

static void put_shares(const struct tree *tree, const struct totals_node *node)
{
	char self[REPORT_SHARE_SIZE], total[REPORT_SHARE_SIZE];

	if (node->total.samples < REPORT_FEW_SAMPLES)
		fprintf(tree->out, "%15s  ", "too few samples");
	else
		fprintf(tree->out, "%7s %7s  ", report_share(total, ppm_of(tree, &node->total)),
			report_share(self, ppm_of(tree, &node->self)));
}

static void put_node(const struct tree *tree, uint32_t number, size_t depth)
{
	const struct totals *totals = tree->report->totals;
	const struct totals_node *node = &totals->nodes[number];
	size_t columns = REPORT_COLUMNS - SHARES_COLUMNS - LEVEL_COLUMNS * depth;

	put_shares(tree, node);
	for (size_t i = 1; i < depth; i++)
		fputs(tree->has_next[i] ? tree->shapes->through : tree->shapes->none, tree->out);
	if (depth > 0)
		fputs(tree->has_next[depth] ? tree->shapes->branch : tree->shapes->last, tree->out);
	if (node->parent == TOTALS_NONE)
		report_cell(tree->out, totals->groups[node->function].module, columns, true);
	else
		report_node_name(tree->out, totals, number, columns);
	fputc('\n', tree->out);
}

/* Without recursion: a recording's depth is not ours to trust. */
static void put_nodes(struct tree *tree, uint32_t root)
{
	uint32_t path[DEPTH_MAX + 1];
	size_t depth = 0;

	path[0] = root;
	for (;;) {
		uint32_t node = path[depth];

		tree->has_next[depth] = tree->next[node] != TOTALS_NONE;
		put_node(tree, node, depth);
		if (tree->below[node] != TOTALS_NONE && depth < DEPTH_MAX) {
			path[++depth] = tree->below[node];
			continue;
		}
		tree->was_cut |= tree->below[node] != TOTALS_NONE;
		while (depth > 0 && tree->next[path[depth]] == TOTALS_NONE)
			depth--;
		if (tree->next[path[depth]] == TOTALS_NONE)
			return;
		path[depth] = tree->next[path[depth]];
	}
}

void report_tree(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	struct tree tree = {
		.report = report,
		.out = out,
		.shapes = report->has_boxes ? &boxes : &ascii,
		.below = calloc((size_t)totals->node_count + 1, sizeof(uint32_t)),
		.next = calloc((size_t)totals->node_count + 1, sizeof(uint32_t)),
	};
	uint32_t roots;

	if (tree.below != NULL && tree.next != NULL) {
		roots = link_nodes(&tree);
		report_title(report, out, "  TOTAL    SELF  CALLS");
		if (roots != TOTALS_NONE)
			put_nodes(&tree, roots);
		if (tree.was_cut)
			fprintf(out, "calls under %.1f %% and below depth %d are left out\n",
				REPORT_TREE_CUT_PPM / 1e4, DEPTH_MAX);
	}
	free(tree.below);
	free(tree.next);
}
