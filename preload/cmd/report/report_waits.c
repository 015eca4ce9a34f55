/* SPDX-License-Identifier: MIT */
/* report_waits.c - the table of where guests wait, and in what. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"

/* With the spaces between them: 100 columns. */
enum { CALL_COLUMNS = 20, MODULE_COLUMNS = 22, NAME_COLUMNS = 39 };

static void put_wait(const struct totals *totals, FILE *out, const struct totals_wait *wait)
{
	const struct totals_function *guest =
		wait->function != TOTALS_NONE ? &totals->functions[wait->function] : NULL;
	char share[REPORT_SHARE_SIZE];

	fprintf(out, "%8.2f %7s ", (double)wait->wall_ns / 1e9,
		report_share(share, proportion_ppm(wait->wall_ns, totals->weight.wall_ns)));
	report_cell(out, totals->functions[wait->call].name, CALL_COLUMNS, false);
	fputc(' ', out);
	report_cell(out, totals->groups[wait->group].module, MODULE_COLUMNS, false);
	fputc(' ', out);
	report_cell(out, guest != NULL ? guest->name : "-", NAME_COLUMNS, true);
	fputc('\n', out);
}

void report_waits(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	char rest[SAY_COUNT_SIZE];
	uint32_t rows = 0;

	if (totals->wait_count == 0)
		return;
	report_title(report, out,
		     "  WAIT s   SHARE IN                   MODULE                 FUNCTION");
	for (; rows < totals->wait_count && rows < report->function_rows; rows++)
		put_wait(totals, out, &totals->waits[totals->wait_order[rows]]);
	if (rows < totals->wait_count)
		fprintf(out, "%8s more waits: -n %u shows all\n",
			say_count(rest, totals->wait_count - rows), totals->wait_count);
}
