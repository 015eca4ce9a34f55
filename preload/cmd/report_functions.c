/* SPDX-License-Identifier: MIT */
/* report_functions.c - the table of the hottest functions. Threads: any. */
#include "preload/cmd/report_text.h"

#include "preload/cmd/say.h"

#include <inttypes.h>
#include <string.h>

/* With the spaces between them: 100 columns. */
enum { MODULE_COLUMNS = 22, NAME_COLUMNS = 41 };

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
		report_share(self, report_ppm(totals_measure(totals, &function->self), whole)),
		report_share(total, report_ppm(totals_measure(totals, &function->total), whole)));
}

/* The function's name and, at the end where no cut reaches it, `file.c:12`. */
static void put_name(FILE *out, const struct totals_function *function, bool has_line)
{
	const char *slash = strrchr(function->file, '/');
	const char *file = slash != NULL ? slash + 1 : function->file;
	char place[NAME_COLUMNS];
	int width;

	if (!has_line || function->line == 0) {
		report_cell(out, function->name, NAME_COLUMNS, true);
		return;
	}
	width = snprintf(place, sizeof(place), "%.20s:%" PRId64, file, function->line);
	report_cell(out, function->name, (size_t)(NAME_COLUMNS - 1 - width), false);
	fputc(' ', out);
	report_cell(out, place, (size_t)width, true);
}

static void put_function(const struct report *report, FILE *out,
			 const struct totals_function *function)
{
	char samples[SAY_COUNT_SIZE];

	fprintf(out, "%8s", say_count(samples, function->self.samples));
	put_shares(report->totals, out, function);
	fprintf(out, " %-10s ", frames_kind_name(function->kind));
	report_cell(out, function->module[0] != '\0' ? function->module : "-", MODULE_COLUMNS,
		    false);
	fputc(' ', out);
	put_name(out, function, report->has_lines);
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
