/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the report shows, and its two forms.
 */
#ifndef PRELOAD_CMD_REPORT_REPORT_H
#define PRELOAD_CMD_REPORT_REPORT_H

#include "preload/cmd/report/proportion.h"
#include "preload/export/output.h"
#include "preload/read/reader.h"
#include "preload/read/totals.h"

#include <stdio.h>

/* Below so many samples a share says nothing: its 95 % interval is wider than itself. */
enum { REPORT_FEW_SAMPLES = 30 };

/* Calls with less are left out of the tree. */
enum { REPORT_TREE_CUT_PPM = 5000 };

/* Which table is the first. */
enum report_by {
	REPORT_BY_GROUP,
	REPORT_BY_INSTANCE, /* groups, with all their named instances, not eight at most */
	REPORT_BY_PART,	    /* what totals->by says */
	REPORT_BY_FUNCTION, /* none: functions only */
};

struct report {
	const struct recording *recording;
	const struct totals *totals; /* of it */
	enum report_by by;
	const char *by_name;  /* as it was asked for: "group", "label:tenant" */
	size_t function_rows; /* at most so many functions */
	size_t group_rows;    /* at most so many groups, or parts */
	bool has_lines;	      /* functions by the line that ran */
	bool has_tree;
	bool has_colours;
	bool has_boxes; /* the terminal shows characters that draw boxes */
};

/* What limits a recording. Texts are not escaped. */
struct report_warning {
	const char *id; /* the same in every version */
	char text[320];
	const char *cure; /* what to do, or what it means */
};

enum { REPORT_WARNINGS_MAX = 32 };

/* Standard output is a terminal, and nobody asked for none (no-color.org). */
bool report_wants_colours(void);

/* Fills LIST; returns how many there are. */
size_t report_warnings(const struct report *report,
		       struct report_warning list[REPORT_WARNINGS_MAX]);

/* The node of the call tree with the most self weight; TOTALS_NONE when nothing has any. */
uint32_t report_hottest_node(const struct totals *totals);

/* Of the total of NODE, which is no group: where it was not found with certainty. */
uint32_t report_guessed_ppm(const struct totals *totals, uint32_t node);

/* At most 100 columns. */
void report_text(const struct report *report, FILE *out);

/* 0 or negative errno. */
int report_json(const struct report *report, struct output *output);

#endif /* PRELOAD_CMD_REPORT_REPORT_H */
