/* SPDX-License-Identifier: MIT */
/*
 * report_text.h - the parts of the report for people.
 */
#ifndef PRELOAD_CMD_REPORT_TEXT_H
#define PRELOAD_CMD_REPORT_TEXT_H

#include "preload/cmd/report.h"

/* Program, time, clock, samples, losses, cost. */
void report_head(const struct report *report, FILE *out);

/* Groups, and their instances below them. */
void report_groups(const struct report *report, FILE *out);

void report_functions(const struct report *report, FILE *out);

/* Where guests wait; nothing where no waits were recorded. */
void report_waits(const struct report *report, FILE *out);

/* TEXT escaped, cut to COLUMNS; padded to them unless IS_LAST. */
void report_cell(FILE *out, const char *text, size_t columns, bool is_last);

enum { REPORT_SHARE_SIZE = 16 };

/* PPM as "74.1 %" in TEXT. */
const char *report_share(char text[REPORT_SHARE_SIZE], uint64_t ppm);

/* A line in bold, where there are colours. */
void report_title(const struct report *report, FILE *out, const char *line);

#endif /* PRELOAD_CMD_REPORT_TEXT_H */
