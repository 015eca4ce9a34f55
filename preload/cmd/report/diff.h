/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what a diff shows, and its forms.
 */
#ifndef PRELOAD_CMD_REPORT_DIFF_H
#define PRELOAD_CMD_REPORT_DIFF_H

#include "preload/cmd/report/diff_match.h"
#include "preload/cmd/report/diff_rows.h"
#include "preload/export/output.h"

#include <stdio.h>

struct diff {
	struct recording *before, *after; /* names as diff_match() left them */
	struct totals *before_totals, *after_totals;
	struct diff_match match;
	struct diff_rows rows;
	size_t row_count; /* at most so many functions are shown */
	bool has_colours;
};

/* At most 100 columns. */
void diff_text(const struct diff *diff, FILE *out);

/* 0 or negative errno. */
int diff_json(const struct diff *diff, struct output *output);

#endif /* PRELOAD_CMD_REPORT_DIFF_H */
