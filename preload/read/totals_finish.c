/* SPDX-License-Identifier: MIT */
/* totals_finish.c - after the last recording: sums, orders, the time covered. Threads: one at a
 * time. */
#include "preload/read/totals_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row's weight and its number: equal weights stay in order of first sight. */
struct ranked {
	uint64_t measure, second, third;
	uint32_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->measure != right->measure)
		return left->measure > right->measure ? -1 : 1;
	if (left->second != right->second)
		return left->second > right->second ? -1 : 1;
	if (left->third != right->third)
		return left->third > right->third ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

static uint32_t *order_of(struct ranked *ranked, uint32_t count)
{
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));

	if (order == NULL)
		return NULL;
	if (count != 0)
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (uint32_t i = 0; i < count; i++)
		order[i] = ranked[i].index;
	return order;
}

static uint32_t *order_rows(const struct totals *totals, struct ranked *ranked,
			    const struct totals_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ totals_measure(totals, &rows[i].weight),
					     rows[i].weight.samples, rows[i].weight.wall_ns, i };
	return order_of(ranked, count);
}

static uint32_t *order_functions(const struct totals *totals, struct ranked *ranked)
{
	for (uint32_t i = 0; i < totals->function_count; i++) {
		const struct totals_function *function = &totals->functions[i];
		uint64_t self = totals_measure(totals, &function->self);
		uint64_t total = totals_measure(totals, &function->total);

		ranked[i] = (struct ranked){ totals->by_total ? total : self,
					     totals->by_total ? self : total,
					     function->total.wall_ns, i };
	}
	return order_of(ranked, totals->function_count);
}

/* A node's weight is never above its parent's, and of two that are equal the parent is first. */
static uint32_t *order_nodes(const struct totals *totals, struct ranked *ranked)
{
	for (uint32_t i = 0; i < totals->node_count; i++)
		ranked[i] = (struct ranked){ totals_measure(totals, &totals->nodes[i].total),
					     totals->nodes[i].total.samples,
					     totals->nodes[i].total.wall_ns, i };
	return order_of(ranked, totals->node_count);
}

static uint32_t *order_waits(const struct totals *totals, struct ranked *ranked)
{
	for (uint32_t i = 0; i < totals->wait_count; i++)
		ranked[i] = (struct ranked){ .measure = totals->waits[i].wall_ns, .index = i };
	return order_of(ranked, totals->wait_count);
}

int totals_finish(struct totals *totals)
{
	size_t most = (size_t)totals->group_count + totals->instance_count + totals->part_count +
		      totals->function_count + totals->wait_count + totals->node_count;
	struct ranked *ranked = calloc(most + 1, sizeof(*ranked));

	if (ranked == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < totals->group_count; i++)
		totals_add_weight(&totals->weight, &totals->groups[i].weight);
	totals->duration_ns = spans_covered(totals->own->spans, totals->own->span_count);
	totals->group_order = order_rows(totals, ranked, totals->groups, totals->group_count);
	totals->instance_order =
		order_rows(totals, ranked, totals->instances, totals->instance_count);
	totals->part_order = order_rows(totals, ranked, totals->parts, totals->part_count);
	totals->node_order = order_nodes(totals, ranked);
	totals->function_order = order_functions(totals, ranked);
	totals->wait_order = order_waits(totals, ranked);
	totals_find_hottest(totals);
	free(ranked);
	return totals->group_order == NULL || totals->instance_order == NULL ||
			       totals->part_order == NULL || totals->node_order == NULL ||
			       totals->function_order == NULL || totals->wait_order == NULL
		       ? -ENOMEM
		       : 0;
}

struct totals *totals_of(const struct recording *recording)
{
	struct totals *totals = totals_new();

	if (totals != NULL && totals_add(totals, recording) == 0 && totals_finish(totals) == 0)
		return totals;
	totals_free(totals);
	return NULL;
}
