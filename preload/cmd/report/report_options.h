/* SPDX-License-Identifier: MIT */
/*
 * report_options.h - what the words after `guestprof report` ask for.
 */
#ifndef PRELOAD_CMD_REPORT_REPORT_OPTIONS_H
#define PRELOAD_CMD_REPORT_REPORT_OPTIONS_H

#include "preload/cmd/reading.h"
#include "preload/cmd/report/report.h"

struct report_options {
	bool is_json, by_total;
	enum totals_by parts;
	const char *label_key; /* NULL, but for parts by label */
	struct reading_options reading;
	struct report report; /* without recording and totals */
};

/* False after having said what is wrong. What follows the options begins at optind. */
bool report_options_read(struct report_options *options, int argc, char **argv);

#endif /* PRELOAD_CMD_REPORT_REPORT_OPTIONS_H */
