/* SPDX-License-Identifier: MIT */
/* report_groups.c - the table of groups and their named instances. Threads: any. */
#include "preload/cmd/report_text.h"

#include "preload/cmd/say.h"

#include <inttypes.h>
#include <string.h>

/* With the spaces between them: 100 columns. */
enum { GROUP_COLUMNS = 23, HOTTEST_COLUMNS = 19 };
/* Where a column for waiting takes its room from. */
enum { NARROW_GROUP_COLUMNS = 18, NARROW_HOTTEST_COLUMNS = 16 };
enum { LABEL_COLUMNS = 96 };
enum { GROUP_ROWS_MAX = 40, INSTANCE_ROWS_MAX = 8 };

static void put_state(FILE *out, const struct totals_row *row, enum wasm_state state, int columns)
{
	fprintf(out, " %*.0f%%", columns - 1,
		(double)report_ppm(row->samples_by_state[state], row->weight.samples) / 10000);
}

static void put_share(const struct report *report, FILE *out, const struct totals_row *row)
{
	const struct totals *totals = report->totals;
	uint64_t ppm = report_ppm(totals_measure(totals, &row->weight),
				  totals_measure(totals, &totals->weight));
	uint64_t low, high;
	char share[REPORT_SHARE_SIZE], interval[32];

	if (row->weight.samples < REPORT_FEW_SAMPLES) {
		fprintf(out, " %18s", "too few samples");
		return;
	}
	report_interval(ppm, totals->weight.samples, &low, &high);
	snprintf(interval, sizeof(interval), "%.1f-%.1f", (double)low / 10000,
		 (double)high / 10000);
	fprintf(out, " %7s %10s", report_share(share, ppm), interval);
}

static void put_row(const struct report *report, FILE *out, const struct totals_row *row)
{
	const struct totals *totals = report->totals;
	double seconds = (double)row->weight.cpu_ns / 1e9;
	bool has_waits = totals->weight.wall_ns != 0;
	char name[600];

	if (row->instance == NULL)
		snprintf(name, sizeof(name), "%s", row->module);
	else if (report->recording_count > 1)
		snprintf(name, sizeof(name), "  %.500s (%" PRIu64 ")", row->instance, row->pid);
	else
		snprintf(name, sizeof(name), "  %.500s", row->instance);
	report_cell(out, name, has_waits ? NARROW_GROUP_COLUMNS : GROUP_COLUMNS, false);
	if (has_waits)
		fprintf(out, " %7.2f", (double)row->weight.wall_ns / 1e9);
	fprintf(out, " %7.2f", seconds);
	if (totals->duration_ns != 0)
		fprintf(out, " %5.2f", seconds * 1e9 / (double)totals->duration_ns);
	else
		fprintf(out, " %5s", "-");
	put_share(report, out, row);
	put_state(out, row, STATE_GUEST, 5);
	put_state(out, row, STATE_BUILTIN, 5);
	put_state(out, row, STATE_HOST, 4);
	fprintf(out, " %6" PRIu64 " ", row->instances_created);
	if (row->hottest != TOTALS_NONE)
		report_cell(out, totals->functions[row->hottest].name,
			    has_waits ? NARROW_HOTTEST_COLUMNS : HOTTEST_COLUMNS, true);
	fputc('\n', out);
}

/* Below the group's row, as wide as the table. */
static void put_labels(FILE *out, const struct totals_row *row)
{
	char text[600], *end;

	if (row->labels == NULL || *row->labels == '\0')
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strlen(row->labels) - 1, row->labels);
	for (end = text; (end = strchr(end, TOTALS_LABEL_END)) != NULL;)
		*end = ' ';
	fputs("  ", out);
	report_cell(out, text, LABEL_COLUMNS, true);
	fputc('\n', out);
}

static uint32_t count_instances(const struct totals *totals, uint32_t group)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < totals->instance_count; i++)
		count += totals->instances[i].group == group;
	return count;
}

static void put_instances(const struct report *report, FILE *out, uint32_t group)
{
	const struct totals *totals = report->totals;
	uint32_t count = count_instances(totals, group);

	if (count > INSTANCE_ROWS_MAX && !report->by_instance) {
		fprintf(out, "  %" PRIu32 " instances with names: --by instance shows them\n",
			count);
		return;
	}
	for (uint32_t i = 0; count != 0 && i < totals->instance_count; i++) {
		const struct totals_row *row = &totals->instances[totals->instance_order[i]];

		if (row->group == group)
			put_row(report, out, row);
	}
}

static void put_rest(const struct totals *totals, FILE *out)
{
	struct totals_weight rest = { 0 };
	char share[REPORT_SHARE_SIZE];

	if (totals->group_count <= GROUP_ROWS_MAX)
		return;
	for (uint32_t i = GROUP_ROWS_MAX; i < totals->group_count; i++) {
		rest.samples += totals->groups[totals->group_order[i]].weight.samples;
		rest.cpu_ns += totals->groups[totals->group_order[i]].weight.cpu_ns;
	}
	fprintf(out, "%" PRIu32 " more groups with %s; --json shows all\n",
		totals->group_count - GROUP_ROWS_MAX,
		report_share(share, report_ppm(totals_measure(totals, &rest),
					       totals_measure(totals, &totals->weight))));
}

void report_groups(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	bool has_waits = totals->weight.wall_ns != 0;
	char title[128];

	snprintf(title, sizeof(title), "%-*s%s %7s %5s %7s %10s %5s %5s %4s %6s %s",
		 has_waits ? NARROW_GROUP_COLUMNS : GROUP_COLUMNS, "GROUP",
		 has_waits ? "  WAIT s" : "", "CPU s", "CORES", "SHARE", "95 % in", "GUEST",
		 "BLTIN", "HOST", "INST.", "HOTTEST FUNCTION");
	report_title(report, out, title);
	for (uint32_t i = 0; i < totals->group_count && i < GROUP_ROWS_MAX; i++) {
		put_row(report, out, &totals->groups[totals->group_order[i]]);
		put_labels(out, &totals->groups[totals->group_order[i]]);
		put_instances(report, out, totals->group_order[i]);
	}
	put_rest(totals, out);
}
