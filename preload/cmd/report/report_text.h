/* SPDX-License-Identifier: MIT */
/*
 * report_text.h - the parts of the report for people.
 */
#ifndef PRELOAD_CMD_REPORT_REPORT_TEXT_H
#define PRELOAD_CMD_REPORT_REPORT_TEXT_H

#include "preload/cmd/report/report.h"

enum { REPORT_COLUMNS = 100 };

/* Program, time, clock, samples, losses, cost. */
void report_head(const struct report *report, FILE *out);

/* Groups, and their instances below them; or the parts that were asked for. */
void report_groups(const struct report *report, FILE *out);

void report_functions(const struct report *report, FILE *out);

/* Where guests wait; nothing where no waits were recorded. */
void report_waits(const struct report *report, FILE *out);

/* Host functions whose calls were counted one by one; nothing where none were. */
void report_hostcalls(const struct report *report, FILE *out);

/* The call tree below each group. */
void report_tree(const struct report *report, FILE *out);

/* The stack that most samples ended in. */
void report_stack(const struct report *report, FILE *out);

/* What limits the recording, and what to do about it; nothing where nothing does. */
void report_warn(const struct report *report, FILE *out);

/* TEXT escaped, cut to COLUMNS; padded to them unless IS_LAST. */
void report_cell(FILE *out, const char *text, size_t columns, bool is_last);

/*
 * Name of FUNCTION, not padded, and behind it, where no cut reaches it, `file.c:12`, if known; all
 * in COLUMNS, of which there are at least REPORT_NAME_LEAST.
 */
enum { REPORT_NAME_LEAST = 12 };
void report_name(FILE *out, const struct totals_function *function, size_t columns);

/* The same of NODE's function, with a question mark behind it where half of it is a guess. */
void report_node_name(FILE *out, const struct totals *totals, uint32_t node, size_t columns);

/* TEXT escaped, in lines of at most 100 columns, each behind INDENT spaces. */
void report_wrap(FILE *out, const char *text, size_t indent);

enum { REPORT_SHARE_SIZE = 16 };

/* PPM as "74.1 %" in TEXT. */
const char *report_share(char text[REPORT_SHARE_SIZE], uint64_t ppm);

/* A line in bold, where there are colours. */
void report_title(const struct report *report, FILE *out, const char *line);

#endif /* PRELOAD_CMD_REPORT_REPORT_TEXT_H */
