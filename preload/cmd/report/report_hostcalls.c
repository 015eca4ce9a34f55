/* SPDX-License-Identifier: MIT */
/* report_hostcalls.c - the table of host functions whose calls were counted. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"

#include <stdlib.h>

/* With the spaces between them: 100 columns. */
enum { MODULE_COLUMNS = 22, NAME_COLUMNS = 37, TIME_SIZE = 16 };

/* The one that took longest first. */
static int compare(const void *a, const void *b)
{
	const struct recording_hostcall *left = *(const struct recording_hostcall *const *)a;
	const struct recording_hostcall *right = *(const struct recording_hostcall *const *)b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left < right ? -1 : left > right;
}

/* "1.25 us": what is long enough to be told from nothing. */
static const char *time_text(char text[TIME_SIZE], double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	while (ns >= 999.5 && unit < ARRAY_SIZE(units) - 1) {
		ns /= 1000;
		unit++;
	}
	snprintf(text, TIME_SIZE, "%.*f %s",
		 ns < 9.995 && unit != 0 ? 2
		 : ns < 99.95		 ? 1
					 : 0,
		 ns, units[unit]);
	return text;
}

static void put_call(FILE *out, const struct recording_hostcall *call)
{
	char mean[TIME_SIZE], longest[TIME_SIZE], count[SAY_COUNT_SIZE];

	fprintf(out, "%11s %9.3f %8s %8s ", say_count(count, call->count),
		(double)call->total_ns / 1e9,
		time_text(mean,
			  call->count != 0 ? (double)call->total_ns / (double)call->count : 0),
		time_text(longest, (double)call->longest_ns));
	report_cell(out, call->module, MODULE_COLUMNS, false);
	fputc(' ', out);
	report_cell(out, call->name, NAME_COLUMNS, true);
	fputc('\n', out);
}

void report_hostcalls(const struct report *report, FILE *out)
{
	size_t count = report->recording->hostcall_count, rows = 0;
	const struct recording_hostcall **order = calloc(count + 1, sizeof(*order));
	char rest[SAY_COUNT_SIZE];

	if (count == 0 || order == NULL) {
		free(order);
		return;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = &report->recording->hostcalls[i];
	qsort(order, count, sizeof(*order), compare);
	report_title(report, out,
		     "      CALLS   TOTAL s     MEAN  LONGEST MODULE                 HOST CALL");
	for (; rows < count && rows < report->function_rows; rows++)
		put_call(out, order[rows]);
	if (rows < count)
		fprintf(out, "%8s more host calls: -n %zu shows all\n",
			say_count(rest, count - rows), count);
	free(order);
}
