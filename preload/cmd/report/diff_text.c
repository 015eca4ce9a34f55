/* SPDX-License-Identifier: MIT */
/* diff_text.c - the diff for people. Threads: any. */
#include "preload/cmd/report/diff.h"

#include "preload/cmd/report/report_text.h"
#include "preload/cmd/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* With the spaces between them: 100 columns. */
enum { GROUP_COLUMNS = 28, MODULE_COLUMNS = 18, NAME_COLUMNS = 26, VERDICT_COLUMNS = 15 };
/* Modules and renamed functions shown; of more it is said how many. */
enum { LINES_MAX = 12, HOW_COLUMNS = 46 };

static void put_title(const struct diff *diff, FILE *out, const char *title)
{
	fprintf(out, diff->has_colours ? "\n\033[1m%s\033[0m\n" : "\n%s\n", title);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_side(FILE *out, const char *name, const struct recording *recording,
		     const struct totals *totals)
{
	const struct recording_process *first = &recording->processes[0];
	char line[512], samples[SAY_COUNT_SIZE], who[160], cores[32] = "";

	if (recording->process_count > 1)
		snprintf(who, sizeof(who), "%zu processes", recording->process_count);
	else if (first->program[0] != '\0')
		snprintf(who, sizeof(who), "%.100s[%" PRIu64 "]", first->program, first->pid);
	else
		snprintf(who, sizeof(who), "%.100s", recording->path);
	if (totals->duration_ns != 0)
		snprintf(cores, sizeof(cores), ", %.2f cores",
			 (double)totals->weight.cpu_ns / (double)totals->duration_ns);
	snprintf(line, sizeof(line), "%-7s %s, %s samples in %.2f s of CPU time%s", name, who,
		 say_count(samples, totals->weight.samples), (double)totals->weight.cpu_ns / 1e9,
		 cores);
	report_cell(out, line, REPORT_COLUMNS, true);
	fputc('\n', out);
}

static const char *module_text(const struct diff_module *module, char *text, size_t size)
{
	if (module->after == NULL)
		snprintf(text, size, "only before");
	else if (module->before == NULL)
		snprintf(text, size, "only after");
	else if (module->by_index != 0)
		snprintf(text, size, "%s; %" PRIu32 " functions by index",
			 diff_how_text(module->how), module->by_index);
	else if (module->how == DIFF_HOW_NAME || module->how == DIFF_HOW_BUILD_ID)
		snprintf(text, size, "%s; functions by name", diff_how_text(module->how));
	else
		snprintf(text, size, "%s", diff_how_text(module->how));
	return text;
}

static void put_module(const struct diff_module *module, FILE *out)
{
	const char *after = module->after != NULL ? module->after->name : NULL;
	const char *before = module->before_name;
	char name[600], text[160];

	if (before != NULL && after != NULL && strcmp(before, after) != 0)
		snprintf(name, sizeof(name), "%.250s is %.250s", before, after);
	else
		snprintf(name, sizeof(name), "%.500s", after != NULL ? after : before);
	fputs("  ", out);
	report_cell(out, name, REPORT_COLUMNS - 3 - HOW_COLUMNS, false);
	fputc(' ', out);
	report_cell(out, module_text(module, text, sizeof(text)), HOW_COLUMNS, true);
	fputc('\n', out);
}

static void put_modules(const struct diff_match *match, FILE *out)
{
	fputs("modules\n", out);
	for (size_t i = 0; i < match->module_count && i < LINES_MAX; i++)
		put_module(&match->modules[i], out);
	if (match->module_count > LINES_MAX)
		fprintf(out, "  and %zu more\n", match->module_count - LINES_MAX);
	for (size_t i = 0; i < match->rename_count && i < LINES_MAX; i++) {
		char line[1200];

		snprintf(line, sizeof(line), "renamed %.500s is %.500s now, by index",
			 match->renames[i].before, match->renames[i].after);
		report_wrap(out, line, 2);
	}
	if (match->rename_count > LINES_MAX)
		fprintf(out, "  and %zu more renamed\n", match->rename_count - LINES_MAX);
}

static void put_warnings(const struct diff *diff, FILE *out)
{
	const struct recording *before = diff->before, *after = diff->after;

	if (strcmp(before->stacks, after->stacks) != 0)
		report_wrap(
			out,
			"warning: their stacks differ (--stacks): what is host in one may not be "
			"in the other; --view guest compares what both have",
			0);
	if (strcmp(before->filter, after->filter) != 0)
		report_wrap(out, "warning: they were filtered in different ways", 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_interval(FILE *out, const struct diff_row *row)
{
	char interval[48];

	snprintf(interval, sizeof(interval), "%+.1f..%+.1f", (double)row->low_ppm / 10000,
		 (double)row->high_ppm / 10000);
	fprintf(out, " %14s", interval);
}

static void put_shares(FILE *out, const struct diff_row *row)
{
	char before[REPORT_SHARE_SIZE], after[REPORT_SHARE_SIZE];

	fprintf(out, "%7s %7s %+7.1f", report_share(before, row->before.share_ppm),
		report_share(after, row->after.share_ppm), (double)row->change_ppm / 10000);
	put_interval(out, row);
}

static void put_verdict(const struct diff *diff, FILE *out, const struct diff_row *row, int columns)
{
	const char *text = diff_verdict_text(row->verdict);
	bool is_worse = row->verdict == DIFF_GREW || row->verdict == DIFF_NEW;
	bool is_coloured = diff->has_colours && diff_has_changed(row);

	fputs(is_coloured ? (is_worse ? "\033[31m" : "\033[32m") : "", out);
	fprintf(out, " %-*s", columns, text);
	fputs(is_coloured ? "\033[0m" : "", out);
}

static void put_cores(FILE *out, const struct diff_side *side, const struct totals *totals)
{
	if (totals->duration_ns != 0)
		fprintf(out, " %7.2f", (double)side->weight.cpu_ns / (double)totals->duration_ns);
	else
		fprintf(out, " %7s", "-");
}

static void put_group(const struct diff *diff, FILE *out, const struct diff_row *row)
{
	report_cell(out, row->module, GROUP_COLUMNS, false);
	fputc(' ', out);
	put_shares(out, row);
	put_cores(out, &row->before, diff->before_totals);
	put_cores(out, &row->after, diff->after_totals);
	put_verdict(diff, out, row, 0);
	fputc('\n', out);
}

static void put_function(const struct diff *diff, FILE *out, const struct diff_row *row)
{
	put_shares(out, row);
	put_verdict(diff, out, row, VERDICT_COLUMNS);
	fputc(' ', out);
	report_cell(out, row->module[0] != '\0' ? row->module : "-", MODULE_COLUMNS, false);
	fputc(' ', out);
	report_cell(out, row->name, NAME_COLUMNS, true);
	fputc('\n', out);
}

/* Functions that were only on the stack have no self share to compare. */
static bool has_self(const struct diff_row *row)
{
	return row->before.weight.samples != 0 || row->after.weight.samples != 0;
}

static void put_list(const struct diff *diff, FILE *out, const struct diff_list *list,
		     void (*put)(const struct diff *, FILE *, const struct diff_row *))
{
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!has_self(&list->rows[i]))
			continue;
		if (all++ < diff->row_count) {
			put(diff, out, &list->rows[i]);
			shown++;
		}
	}
	if (shown < all)
		fprintf(out, "%zu more rows: -n %zu shows all\n", all - shown, all);
}

void diff_text(const struct diff *diff, FILE *out)
{
	const struct diff_rows *rows = &diff->rows;
	char title[128];

	put_side(out, "before", diff->before, diff->before_totals);
	put_side(out, "after", diff->after, diff->after_totals);
	put_modules(&diff->match, out);
	put_warnings(diff, out);
	if (rows->groups.changed == 0 && rows->functions.changed == 0)
		put_title(diff, out, "nothing changed beyond the sampling error");
	snprintf(title, sizeof(title), "%-*s %7s %7s %7s %14s %15s %s", GROUP_COLUMNS, "GROUP",
		 "BEFORE", "AFTER", "CHANGE", "95 % in", "CORES", "VERDICT");
	put_title(diff, out, title);
	put_list(diff, out, &rows->groups, put_group);
	snprintf(title, sizeof(title), "%7s %7s %7s %14s %-*s %-*s %s", "BEFORE", "AFTER", "CHANGE",
		 "95 % in", VERDICT_COLUMNS, "VERDICT", MODULE_COLUMNS, "MODULE", "FUNCTION");
	put_title(diff, out, title);
	put_list(diff, out, &rows->functions, put_function);
}
