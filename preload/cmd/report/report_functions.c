/* SPDX-License-Identifier: MIT */
/* report_functions.c - the table of the hottest functions. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"
#include "preload/read/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* With the spaces between them: 100 columns. */
enum { KIND_COLUMNS = 10, MODULE_COLUMNS = 22, NAME_COLUMNS = 41, LINE_DIGITS = 7 };

static void put_shares(const struct totals *totals, FILE *out,
		       const struct totals_function *function)
{
	char self[REPORT_SHARE_SIZE], total[REPORT_SHARE_SIZE];
	uint64_t whole = totals_measure(totals, &totals->weight);

	if (function->total.samples < REPORT_FEW_SAMPLES) {
		fprintf(out, " %15s", "too few samples");
		return;
	}
	fprintf(out, " %7s %7s",
		report_share(self, proportion_ppm(totals_measure(totals, &function->self), whole)),
		report_share(total,
			     proportion_ppm(totals_measure(totals, &function->total), whole)));
}

/* Where it begins, or with lines the one that ran; cut to half of COLUMNS. Its width. */
static size_t describe_place(char *place, size_t size, const struct totals_function *function,
			     size_t columns)
{
	const char *slash = strrchr(function->file, '/');
	const char *file = slash != NULL ? slash + 1 : function->file;
	char *escaped = escape_new(file, ESCAPE_VISIBLE);

	*place = '\0';
	if (escaped == NULL || *escaped == '\0' || function->line <= 0) {
		free(escaped);
		return 0;
	}
	if (columns / 2 > LINE_DIGITS)
		escape_cut(escaped, columns / 2 - LINE_DIGITS);
	if ((size_t)snprintf(place, size, "%s:%" PRId64, escaped, function->line) >= size)
		*place = '\0';
	free(escaped);
	return escape_columns(place);
}

void report_name(FILE *out, const struct totals_function *function, size_t columns)
{
	char place[256];
	size_t width = columns < 2 * REPORT_NAME_LEAST
			       ? 0
			       : describe_place(place, sizeof(place), function, columns);

	if (width == 0) {
		report_cell(out, function->name, columns, true);
		return;
	}
	report_cell(out, function->name, columns - 1 - width, false);
	fprintf(out, " %s", place);
}

static void put_function(const struct report *report, FILE *out,
			 const struct totals_function *function)
{
	const char *kind = frames_kind_name(function->kind);
	/* one of them is longer: the module's name gives it room */
	size_t over = strlen(kind) > KIND_COLUMNS ? strlen(kind) - KIND_COLUMNS : 0;
	char samples[SAY_COUNT_SIZE];

	fprintf(out, "%8s", say_count(samples, function->self.samples));
	put_shares(report->totals, out, function);
	fprintf(out, " %-*s ", KIND_COLUMNS, kind);
	report_cell(out, function->module[0] != '\0' ? function->module : "-",
		    MODULE_COLUMNS - over, false);
	fputc(' ', out);
	report_name(out, function, NAME_COLUMNS);
	fputc('\n', out);
}

/* Those that only waits have are in a table of their own. */
static uint32_t count_used(const struct totals *totals)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < totals->function_count; i++)
		count += totals->functions[i].total.samples != 0;
	return count;
}

void report_functions(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	uint32_t used = count_used(totals);
	char rest[SAY_COUNT_SIZE];
	size_t rows = 0;

	if (used == 0)
		return;
	report_title(report, out,
		     " SAMPLES    SELF   TOTAL KIND       MODULE                 FUNCTION");
	for (uint32_t i = 0; i < totals->function_count && rows < report->function_rows; i++) {
		const struct totals_function *function =
			&totals->functions[totals->function_order[i]];

		if (function->total.samples == 0)
			continue;
		put_function(report, out, function);
		rows++;
	}
	if (rows < used)
		fprintf(out, "%8s more functions: -n %u shows all\n", say_count(rest, used - rows),
			used);
}
