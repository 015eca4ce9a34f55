/* SPDX-License-Identifier: MIT */
/* report_json_stacks.c - the hottest stack and the call tree for programs. Threads: any. */
#include "preload/cmd/report/report_json.h"

#include "preload/cmd/schema.h"

#include <stdlib.h>

static void write_weight(struct json *json, const struct totals *totals, const char *key,
			 const struct totals_weight *weight)
{
	json_begin_object(json, key);
	schema_number(json, "samples", weight->samples);
	schema_number(json, "cpu_ns", weight->cpu_ns);
	schema_number(json, "wall_ns", weight->wall_ns);
	schema_number(json, "share_ppm",
		      proportion_ppm(totals_measure(totals, weight),
				     totals_measure(totals, &totals->weight)));
	json_end_object(json);
}

/* ---- the hottest stack ----------------------------------------------------------------------- */

/* Leaf first. The group that the stack is of. */
static uint32_t write_frames(struct json *json, const struct totals *totals, uint32_t node)
{
	json_begin_array(json, "frames");
	for (; totals->nodes[node].parent != TOTALS_NONE; node = totals->nodes[node].parent) {
		json_begin_object(json, NULL);
		report_json_place(json, &totals->functions[totals->nodes[node].function]);
		schema_number(json, "guessed_ppm", report_guessed_ppm(totals, node));
		json_end_object(json);
	}
	json_end_array(json);
	return totals->nodes[node].function;
}

static void write_hottest(struct json *json, const struct totals *totals)
{
	uint32_t hottest = report_hottest_node(totals), group;

	if (hottest == TOTALS_NONE) {
		json_null(json, "hottest_stack");
		return;
	}
	json_begin_object(json, "hottest_stack");
	write_weight(json, totals, "self", &totals->nodes[hottest].self);
	group = write_frames(json, totals, hottest);
	json_text(json, "group", totals->groups[group].module);
	json_end_object(json);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void write_node(struct json *json, const struct totals *totals, const uint32_t *number_of,
		       const struct totals_node *node)
{
	json_begin_object(json, NULL);
	if (node->parent == TOTALS_NONE) {
		json_null(json, "parent");
		json_text(json, "group", totals->groups[node->function].module);
	} else {
		schema_number(json, "parent", number_of[node->parent]);
		report_json_place(json, &totals->functions[node->function]);
		schema_number(json, "guessed_ppm",
			      report_guessed_ppm(totals, (uint32_t)(node - totals->nodes)));
	}
	write_weight(json, totals, "self", &node->self);
	write_weight(json, totals, "total", &node->total);
	json_end_object(json);
}

/* A list, not a tree: readers of JSON bound its depth. In it, parents are before what they call. */
static void write_nodes(struct json *json, const struct totals *totals, uint32_t *number_of)
{
	uint64_t whole = totals_measure(totals, &totals->weight);
	uint32_t count = 0;

	json_begin_array(json, "tree");
	for (uint32_t i = 0; i < totals->node_count; i++) {
		uint32_t node = totals->node_order[i];

		if (proportion_ppm(totals_measure(totals, &totals->nodes[node].total), whole) <
		    REPORT_TREE_CUT_PPM)
			break; /* so is all that follows */
		number_of[node] = count++;
		write_node(json, totals, number_of, &totals->nodes[node]);
	}
	json_end_array(json);
}

void report_json_stacks(struct json *json, const struct report *report)
{
	const struct totals *totals = report->totals;
	uint32_t *number_of = calloc((size_t)totals->node_count + 1, sizeof(*number_of));

	write_hottest(json, totals);
	json->failed |= number_of == NULL;
	if (report->has_tree && number_of != NULL)
		write_nodes(json, totals, number_of);
	else
		json_null(json, "tree");
	free(number_of);
}
