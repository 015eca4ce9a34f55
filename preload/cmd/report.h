/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the report shows, and its two forms.
 */
#ifndef PRELOAD_CMD_REPORT_H
#define PRELOAD_CMD_REPORT_H

#include "preload/encode/output.h"
#include "preload/encode/reader.h"
#include "preload/encode/totals.h"

#include <stdio.h>

/* Below so many samples a share says nothing: its 95 % interval is wider than itself. */
enum { REPORT_FEW_SAMPLES = 30 };

struct report {
	struct recording **recordings; /* owned */
	size_t recording_count;
	struct totals *totals; /* owned */
	size_t function_rows;  /* at most so many functions */
	bool by_instance;      /* rows for all named instances, not for eight at most */
	bool has_lines;	       /* functions by file and line */
	bool has_colours;
};

/* At most 100 columns. */
void report_text(const struct report *report, FILE *out);

/* 0 or negative errno. */
int report_json(const struct report *report, struct output *output);

/* Share of PART in WHOLE in millionths, 0 of nothing. */
uint64_t report_ppm(uint64_t part, uint64_t whole);

/*
 * The 95 % interval of a share seen in samples (Wilson's score interval: right near 0 and 1 too),
 * in millionths. SAMPLES: how many there are in all; PPM: the share.
 */
void report_interval(uint64_t ppm, uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm);

#endif /* PRELOAD_CMD_REPORT_H */
