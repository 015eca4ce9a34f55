/* SPDX-License-Identifier: MIT */
/*
 * diff_rows.h - shares before and after, and whether they changed.
 *
 * A share is tested by a two-proportion z-test. With many rows some would pass at 95 % by chance,
 * so the limit is that of Holm's method: with 95 % not one of the rows that are called changed is
 * so by chance. Rows of under 30 samples on both sides are not tested.
 *
 * Where clock ticks were merged into others a sample stands for several, and what counts for its
 * certainty is how many were taken.
 */
#ifndef PRELOAD_CMD_REPORT_DIFF_ROWS_H
#define PRELOAD_CMD_REPORT_DIFF_ROWS_H

#include "preload/read/totals.h"

enum diff_verdict {
	DIFF_FEW,   /* too few samples to tell */
	DIFF_NOISE, /* inside the sampling error */
	DIFF_GREW,
	DIFF_SHRANK,
	DIFF_NEW,  /* grew from nothing */
	DIFF_GONE, /* shrank to nothing */
};

struct diff_side {
	struct totals_weight weight; /* self, of a function */
	uint64_t share_ppm;
};

struct diff_row {
	const char *module, *name; /* name: NULL for a group */
	enum frame_kind kind;
	struct diff_side before, after;
	int64_t change_ppm, low_ppm, high_ppm; /* after - before, and its 95 % interval */
	double z;
	enum diff_verdict verdict;
};

struct diff_list {
	struct diff_row *rows; /* owned; those that changed first, the greatest change first */
	size_t count, room;
	size_t changed;
};

struct diff_rows {
	struct diff_list groups, functions;
	uint64_t before_samples, after_samples; /* that were taken */
};

/* ROWS refers to texts of both. 0 or -ENOMEM; diff_rows_free() in both cases. */
int diff_rows_make(struct diff_rows *rows, const struct totals *before, const struct totals *after);
void diff_rows_free(struct diff_rows *rows);

/* "noise", "grew", "too few samples". */
const char *diff_verdict_text(enum diff_verdict verdict);

static inline bool diff_has_changed(const struct diff_row *row)
{
	return row->verdict >= DIFF_GREW;
}

#endif /* PRELOAD_CMD_REPORT_DIFF_ROWS_H */
