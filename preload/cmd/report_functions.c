/* SPDX-License-Identifier: MIT */
/* report_functions.c - the table of the hottest functions. Threads: any. */
#include "preload/cmd/report_text.h"

#include "preload/cmd/say.h"

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

static void put_function(const struct totals *totals, FILE *out,
			 const struct totals_function *function)
{
	char samples[SAY_COUNT_SIZE];

	fprintf(out, "%8s", say_count(samples, function->self.samples));
	put_shares(totals, out, function);
	fprintf(out, " %-10s ", frames_kind_name(function->kind));
	report_cell(out, function->module[0] != '\0' ? function->module : "-", MODULE_COLUMNS,
		    false);
	fputc(' ', out);
	report_cell(out, function->name, NAME_COLUMNS, true);
	fputc('\n', out);
}

void report_functions(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	char rest[SAY_COUNT_SIZE];
	size_t rows = 0;

	report_title(report, out,
		     " SAMPLES    SELF   TOTAL KIND       MODULE                 FUNCTION");
	for (uint32_t i = 0; i < totals->function_count && rows < report->function_rows;
	     i++, rows++)
		put_function(totals, out, &totals->functions[totals->function_order[i]]);
	if (rows < totals->function_count)
		fprintf(out, "%8s more functions: -n %u shows all\n",
			say_count(rest, totals->function_count - rows), totals->function_count);
}
