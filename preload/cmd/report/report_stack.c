/* SPDX-License-Identifier: MIT */
/* report_stack.c - the stack that most samples ended in, from its root. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"
#include "preload/read/escape.h"

#include <stdlib.h>
#include <string.h>

/* The frames shown when a stack is deeper: those next to its leaf tell most. */
enum { FRAMES_SHOWN = 16, KIND_COLUMNS = 12, GROUP_COLUMNS = 50, HALF_PPM = 500000 };

uint32_t report_hottest_node(const struct totals *totals)
{
	uint32_t hottest = TOTALS_NONE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < totals->node_count; i++) {
		uint64_t self = totals_measure(totals, &totals->nodes[i].self);

		if (self > most) {
			most = self;
			hottest = i;
		}
	}
	return hottest;
}

/* How many functions are on the stack of NODE. */
static size_t depth_of(const struct totals *totals, uint32_t node)
{
	size_t depth = 0;

	for (; totals->nodes[node].parent != TOTALS_NONE; node = totals->nodes[node].parent)
		depth++;
	return depth;
}

static uint32_t caller(const struct totals *totals, uint32_t node, size_t steps)
{
	while (steps-- > 0)
		node = totals->nodes[node].parent;
	return node;
}

uint32_t report_guessed_ppm(const struct totals *totals, uint32_t node)
{
	return (uint32_t)proportion_ppm(totals_measure(totals, &totals->nodes[node].guessed),
					totals_measure(totals, &totals->nodes[node].total));
}

void report_node_name(FILE *out, const struct totals *totals, uint32_t node, size_t columns)
{
	static const char mark[] = " ?";
	const struct totals_function *function = &totals->functions[totals->nodes[node].function];

	if (report_guessed_ppm(totals, node) < HALF_PPM || columns < sizeof(mark)) {
		report_name(out, function, columns);
		return;
	}
	report_name(out, function, columns - strlen(mark));
	fputs(mark, out);
}

static void put_frame(FILE *out, const struct totals *totals, uint32_t node)
{
	const struct totals_function *function = &totals->functions[totals->nodes[node].function];

	fprintf(out, "  %-10s ", frames_kind_name(function->kind));
	report_node_name(out, totals, node, REPORT_COLUMNS - 1 - KIND_COLUMNS);
	fputc('\n', out);
}

/* The title names the group, which may call itself anything. */
static void put_title(const struct report *report, FILE *out, uint32_t hottest)
{
	const struct totals *totals = report->totals;
	const struct totals_weight *self = &totals->nodes[hottest].self;
	uint32_t root = caller(totals, hottest, depth_of(totals, hottest));
	char *group =
		escape_new(totals->groups[totals->nodes[root].function].module, ESCAPE_VISIBLE);
	char share[REPORT_SHARE_SIZE], samples[SAY_COUNT_SIZE], title[512];

	if (group == NULL)
		return;
	escape_cut(group, GROUP_COLUMNS);
	snprintf(title, sizeof(title), "HOTTEST STACK, %s (%s samples), in %s",
		 report_share(share, proportion_ppm(totals_measure(totals, self),
						    totals_measure(totals, &totals->weight))),
		 say_count(samples, self->samples), group);
	report_title(report, out, title);
	free(group);
}

void report_stack(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	uint32_t hottest = report_hottest_node(totals);
	size_t depth, shown;

	if (hottest == TOTALS_NONE || totals->nodes[hottest].self.samples < REPORT_FEW_SAMPLES)
		return;
	depth = depth_of(totals, hottest);
	shown = depth < FRAMES_SHOWN ? depth : FRAMES_SHOWN;
	put_title(report, out, hottest);
	if (shown < depth)
		fprintf(out, "  %zu more callers\n", depth - shown);
	for (size_t i = shown; i-- > 0;)
		put_frame(out, totals, caller(totals, hottest, i));
}
