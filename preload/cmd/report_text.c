/* SPDX-License-Identifier: MIT */
/* report_text.c - the report for people, and the cells its tables are made of. Threads: any. */
#include "preload/cmd/report_text.h"

#include "preload/encode/escape.h"

#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000 * 1000 };

uint64_t report_ppm(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (uint64_t)((long double)part / (long double)whole * MILLION + 0.5L);
}

/* Square root in steps of Newton: no libm for one root. */
static double root(double value)
{
	double guess = value > 1 ? value : 1;

	for (int i = 0; i < 100 && value > 0; i++)
		guess = (guess + value / guess) / 2;
	return value > 0 ? guess : 0;
}

void report_interval(uint64_t ppm, uint64_t samples, uint64_t *low_ppm, uint64_t *high_ppm)
{
	const double z = 1.959964; /* 97.5 % of a normal distribution lie below */
	double share = (double)ppm / MILLION, n = (double)samples;
	double centre, half;

	*low_ppm = 0;
	*high_ppm = MILLION;
	if (samples == 0)
		return;
	centre = (share + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * root(share * (1 - share) / n + z * z / (4 * n * n));
	if (centre - half > 0)
		*low_ppm = (uint64_t)((centre - half) * MILLION + 0.5);
	if (centre + half < 1)
		*high_ppm = (uint64_t)((centre + half) * MILLION + 0.5);
}

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

void report_title(const struct report *report, FILE *out, const char *line)
{
	fprintf(out, report->has_colours ? "\n\033[1m%s\033[0m\n" : "\n%s\n", line);
}

void report_text(const struct report *report, FILE *out)
{
	report_head(report, out);
	if (report->totals->weight.samples == 0 && report->totals->weight.wall_ns == 0) {
		fputs("\nno samples: no guest ran long enough to be seen\n", out);
		return;
	}
	report_groups(report, out);
	report_functions(report, out);
	report_waits(report, out);
}
