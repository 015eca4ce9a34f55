/* SPDX-License-Identifier: MIT */
/* report_text.c - the report for people, and the cells its tables are made of. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/read/escape.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *report_share(char text[REPORT_SHARE_SIZE], uint64_t ppm)
{
	if (ppm > 0 && ppm < 500)
		snprintf(text, REPORT_SHARE_SIZE, "<0.1 %%");
	else
		snprintf(text, REPORT_SHARE_SIZE, "%.1f %%", (double)ppm / 10000);
	return text;
}

void report_cell(FILE *out, const char *text, size_t columns, bool is_last)
{
	char *escaped = escape_new(text, ESCAPE_VISIBLE);
	size_t used;

	if (escaped == NULL)
		return;
	escape_cut(escaped, columns);
	used = escape_columns(escaped);
	fprintf(out, "%s%*s", escaped, is_last || used >= columns ? 0 : (int)(columns - used), "");
	free(escaped);
}

/* Length of what of TEXT goes into a line of COLUMNS: up to a space, or all that fits. */
static size_t line_length(const char *text, size_t columns)
{
	size_t length = strlen(text), space = 0;

	if (length <= columns)
		return length;
	for (size_t i = 0; i <= columns; i++) {
		if (text[i] == ' ')
			space = i;
	}
	length = columns;
	/* no character is cut */
	while (length > 1 && ((uint8_t)text[length] & 0xc0) == 0x80)
		length--;
	return space != 0 ? space : length;
}

void report_wrap(FILE *out, const char *text, size_t indent)
{
	char *escaped = escape_new(text, ESCAPE_VISIBLE);
	const char *at = escaped;

	while (at != NULL && *at != '\0') {
		size_t length = line_length(at, REPORT_COLUMNS - indent);

		fprintf(out, "%*s%.*s\n", (int)indent, "", (int)length, at);
		at += length;
		at += strspn(at, " ");
	}
	free(escaped);
}

bool report_wants_colours(void)
{
	/* present and not empty, whatever its value */
	const char *refusal = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (refusal == NULL || refusal[0] == '\0');
}

void report_title(const struct report *report, FILE *out, const char *line)
{
	fprintf(out, report->has_colours ? "\n\033[1m%s\033[0m\n" : "\n%s\n", line);
}

void report_text(const struct report *report, FILE *out)
{
	report_head(report, out);
	if (report->totals->weight.samples == 0 && report->totals->weight.wall_ns == 0) {
		fputs("\nno samples: no guest ran long enough to be seen\n", out);
		report_warn(report, out);
		return;
	}
	report_groups(report, out);
	if (report->has_tree)
		report_tree(report, out);
	else
		report_functions(report, out);
	report_stack(report, out);
	report_waits(report, out);
	report_hostcalls(report, out);
	report_warn(report, out);
}
