/* SPDX-License-Identifier: MIT */
/* report_groups.c - the table of groups and their named instances, or of parts. Threads: any. */
#include "preload/cmd/report/report_text.h"

#include "preload/cmd/say.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* With the spaces between them: 100 columns. */
enum { GROUP_COLUMNS = 23, HOTTEST_COLUMNS = 19 };
/* Where a column for waiting takes its room from. */
enum { NARROW_GROUP_COLUMNS = 17, NARROW_HOTTEST_COLUMNS = 12 };
/* And where one for interpreters does. */
enum { INTERPRETER_COLUMNS = 6 };
enum { LABEL_COLUMNS = 96 };
enum { INSTANCE_ROWS_MAX = 8 };

static void put_state(FILE *out, const struct totals_row *row, enum wasm_state state, int columns)
{
	fprintf(out, " %*.0f%%", columns - 1,
		(double)proportion_ppm(row->samples_by_state[state], row->weight.samples) / 10000);
}

/* Of the time that the row's threads were seen in, that in which they used no CPU. */
static void put_waiting(FILE *out, const struct totals_row *row)
{
	uint64_t wall_ns = row->weight.wall_ns;

	fprintf(out, " %3.0f%%",
		(double)proportion_ppm(wall_ns, wall_ns + row->weight.cpu_ns) / 10000);
}

static void put_share(const struct report *report, FILE *out, const struct totals_row *row)
{
	const struct totals *totals = report->totals;
	uint64_t ppm = proportion_ppm(totals_measure(totals, &row->weight),
				      totals_measure(totals, &totals->weight));
	uint64_t low, high;
	char share[REPORT_SHARE_SIZE], interval[32];

	if (row->weight.samples < REPORT_FEW_SAMPLES) {
		fprintf(out, " %18s", "too few samples");
		return;
	}
	proportion_interval(ppm, totals->weight.samples, &low, &high);
	snprintf(interval, sizeof(interval), "%.1f-%.1f", (double)low / 10000,
		 (double)high / 10000);
	fprintf(out, " %7s %10s", report_share(share, ppm), interval);
}

/* Which columns there are, the same for all rows. */
struct layout {
	bool has_waits, has_interpreter;
	size_t hottest_columns; /* the last one takes what is left */
};

static struct layout layout_of(const struct totals *totals)
{
	struct layout layout = { .has_waits = totals->weight.wall_ns != 0 };

	for (uint32_t i = 0; i < totals->group_count && !layout.has_interpreter; i++)
		layout.has_interpreter = totals->groups[i].samples_by_state[STATE_INTERPRETER] != 0;
	layout.hottest_columns = layout.has_waits ? NARROW_HOTTEST_COLUMNS : HOTTEST_COLUMNS;
	if (layout.has_interpreter)
		layout.hottest_columns -= INTERPRETER_COLUMNS;
	return layout;
}

/* Those that were created, or where nobody counted that, those that were seen. */
static void put_instance_count(FILE *out, const struct totals_row *row)
{
	uint64_t count =
		row->instances_created != 0 ? row->instances_created : row->instances_sampled;

	if (count != 0)
		fprintf(out, " %6" PRIu64 " ", count);
	else
		fprintf(out, " %6s ", "-");
}

static void put_row(const struct report *report, FILE *out, const struct layout *layout,
		    const struct totals_row *row)
{
	const struct totals *totals = report->totals;
	double seconds = (double)row->weight.cpu_ns / 1e9;
	char name[600];

	if (row->instance == NULL && row->merged != 0)
		snprintf(name, sizeof(name), "%.500s, %" PRIu64 " groups", row->module,
			 row->merged);
	else if (row->instance == NULL)
		snprintf(name, sizeof(name), "%s", row->module);
	else if (report->recording->process_count > 1)
		snprintf(name, sizeof(name), "  %.500s (%" PRIu64 ")", row->instance, row->pid);
	else
		snprintf(name, sizeof(name), "  %.500s", row->instance);
	report_cell(out, name, layout->has_waits ? NARROW_GROUP_COLUMNS : GROUP_COLUMNS, false);
	if (layout->has_waits)
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
	if (layout->has_interpreter)
		put_state(out, row, STATE_INTERPRETER, INTERPRETER_COLUMNS - 1);
	if (layout->has_waits)
		put_waiting(out, row);
	put_instance_count(out, row);
	if (row->hottest != TOTALS_NONE)
		report_cell(out, totals->functions[row->hottest].name, layout->hottest_columns,
			    true);
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

static void put_instances(const struct report *report, FILE *out, const struct layout *layout,
			  uint32_t group)
{
	const struct totals *totals = report->totals;
	uint32_t count = count_instances(totals, group);

	if (count > INSTANCE_ROWS_MAX && report->by != REPORT_BY_INSTANCE) {
		fprintf(out, "  %" PRIu32 " instances with names: --by instance shows them\n",
			count);
		return;
	}
	for (uint32_t i = 0; count != 0 && i < totals->instance_count; i++) {
		const struct totals_row *row = &totals->instances[totals->instance_order[i]];

		if (row->group == group)
			put_row(report, out, layout, row);
	}
}

/* Of COUNT rows those that were not shown, by ORDER. */
static void put_rest(const struct report *report, FILE *out, const struct totals_row *rows,
		     const uint32_t *order, uint32_t count)
{
	const struct totals *totals = report->totals;
	struct totals_weight rest = { 0 };
	char share[REPORT_SHARE_SIZE];

	if (count <= report->group_rows)
		return;
	for (uint32_t i = (uint32_t)report->group_rows; i < count; i++) {
		rest.samples += rows[order[i]].weight.samples;
		rest.cpu_ns += rows[order[i]].weight.cpu_ns;
	}
	fprintf(out, "%zu more rows with %s: -n %" PRIu32 " shows all\n",
		count - report->group_rows,
		report_share(share, proportion_ppm(totals_measure(totals, &rest),
						   totals_measure(totals, &totals->weight))),
		count);
}

/* The user's own key, but a terminal gets nothing that it would obey. */
static char in_title(char letter)
{
	return letter > ' ' && letter < 0x7f ? (char)toupper(letter) : '?';
}

/* "label:tenant" becomes TENANT, as far as it fits. */
static void put_title(const struct report *report, FILE *out, const struct layout *layout)
{
	const char *colon = strchr(report->by_name, ':');
	const char *from = colon != NULL ? colon + 1 : report->by_name;
	char title[256], key[NARROW_GROUP_COLUMNS + 1];
	size_t length = 0;

	if (report->by != REPORT_BY_PART)
		from = "group";
	for (; from[length] != '\0' && length + 1 < sizeof(key); length++)
		key[length] = in_title(from[length]);
	key[length] = '\0';
	snprintf(title, sizeof(title), "%-*s%s %7s %5s %7s %10s %5s %5s %4s%s%s %6s %s",
		 layout->has_waits ? NARROW_GROUP_COLUMNS : GROUP_COLUMNS, key,
		 layout->has_waits ? "  WAIT s" : "", "CPU s", "CORES", "SHARE", "95 % in", "GUEST",
		 "BLTIN", "HOST", layout->has_interpreter ? " INTRP" : "",
		 layout->has_waits ? " WAIT" : "", "INST.",
		 layout->hottest_columns < HOTTEST_COLUMNS ? "HOTTEST" : "HOTTEST FUNCTION");
	report_title(report, out, title);
}

static void put_parts(const struct report *report, FILE *out, const struct layout *layout)
{
	const struct totals *totals = report->totals;

	for (uint32_t i = 0; i < totals->part_count && i < report->group_rows; i++)
		put_row(report, out, layout, &totals->parts[totals->part_order[i]]);
	put_rest(report, out, totals->parts, totals->part_order, totals->part_count);
}

void report_groups(const struct report *report, FILE *out)
{
	const struct totals *totals = report->totals;
	const struct layout layout = layout_of(totals);

	if (report->by == REPORT_BY_FUNCTION)
		return;
	put_title(report, out, &layout);
	if (report->by == REPORT_BY_PART) {
		put_parts(report, out, &layout);
		return;
	}
	for (uint32_t i = 0; i < totals->group_count && i < report->group_rows; i++) {
		put_row(report, out, &layout, &totals->groups[totals->group_order[i]]);
		put_labels(out, &totals->groups[totals->group_order[i]]);
		put_instances(report, out, &layout, totals->group_order[i]);
	}
	put_rest(report, out, totals->groups, totals->group_order, totals->group_count);
}
