/* SPDX-License-Identifier: MIT */
/* diff_rows.c - joins two sums by name, and judges each change. Threads: one at a time. */
#include "preload/cmd/report/diff_rows.h"

#include "preload/cmd/report/proportion.h"
#include "preload/cmd/report/report.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *diff_verdict_text(enum diff_verdict verdict)
{
	static const char *const texts[] = {
		[DIFF_FEW] = "too few samples", [DIFF_NOISE] = "noise", [DIFF_GREW] = "grew",
		[DIFF_SHRANK] = "shrank",	[DIFF_NEW] = "new",	[DIFF_GONE] = "gone",
	};

	return texts[verdict];
}

/* ---- joining --------------------------------------------------------------------------------- */

struct joining {
	struct diff_list *list;
	struct names names;
	struct pairs keys; /* module and kind, name -> row */
};

/* The row of (MODULE, KIND, NAME), made if need be; NULL without memory. */
static struct diff_row *find_row(struct joining *joining, const char *module, enum frame_kind kind,
				 const char *name)
{
	struct diff_list *list = joining->list;
	uint32_t module_name = names_id(&joining->names, module);
	uint32_t function_name = name != NULL ? names_id(&joining->names, name) : 0, id;

	if (module_name == NAMES_NONE || function_name == NAMES_NONE)
		return NULL;
	id = pairs_id(&joining->keys, (uint64_t)module_name << 8 | kind, function_name);
	if (id == PAIRS_NONE ||
	    rows_reserve(&list->rows, &list->room, id, sizeof(*list->rows)) != 0)
		return NULL;
	if (id == list->count)
		list->rows[list->count++] =
			(struct diff_row){ .module = module, .name = name, .kind = kind };
	return &list->rows[id];
}

static void add_side(struct diff_side *side, const struct totals *totals,
		     const struct totals_weight *weight)
{
	side->weight.samples += weight->samples;
	side->weight.cpu_ns += weight->cpu_ns;
	side->weight.wall_ns += weight->wall_ns;
	side->share_ppm = proportion_ppm(totals_measure(totals, &side->weight),
					 totals_measure(totals, &totals->weight));
}

static int add_groups(struct joining *joining, const struct totals *totals, bool is_after)
{
	for (uint32_t i = 0; i < totals->group_count; i++) {
		const struct totals_row *group = &totals->groups[totals->group_order[i]];
		struct diff_row *row = find_row(joining, group->module, FRAME_GUEST, NULL);

		if (row == NULL)
			return -ENOMEM;
		add_side(is_after ? &row->after : &row->before, totals, &group->weight);
	}
	return 0;
}

static int add_functions(struct joining *joining, const struct totals *totals, bool is_after)
{
	for (uint32_t i = 0; i < totals->function_count; i++) {
		const struct totals_function *function =
			&totals->functions[totals->function_order[i]];
		struct diff_row *row =
			find_row(joining, function->module, function->kind, function->name);

		if (row == NULL)
			return -ENOMEM;
		add_side(is_after ? &row->after : &row->before, totals, &function->self);
	}
	return 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* How many of the samples were taken: the others are ticks that were merged into those. */
static uint64_t samples_taken(const struct totals *totals)
{
	uint64_t merged = 0;

	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strcmp(totals->stats[i].name, "overruns") == 0)
			merged = totals->stats[i].value;
	}
	if (totals->signals == 0)
		return totals->weight.samples;
	return (uint64_t)((long double)totals->weight.samples * (long double)totals->signals /
			  (long double)(totals->signals + merged));
}

static void measure(const struct diff_rows *rows, struct diff_row *row)
{
	struct proportion_pair pair = {
		.before_ppm = row->before.share_ppm,
		.after_ppm = row->after.share_ppm,
		.before_samples = rows->before_samples,
		.after_samples = rows->after_samples,
	};

	row->change_ppm = (int64_t)row->after.share_ppm - (int64_t)row->before.share_ppm;
	proportion_change(&pair, &row->low_ppm, &row->high_ppm);
	row->z = proportion_z(&pair);
	row->verdict = row->before.weight.samples < REPORT_FEW_SAMPLES &&
				       row->after.weight.samples < REPORT_FEW_SAMPLES
			       ? DIFF_FEW
			       : DIFF_NOISE;
}

static double size_of(double z)
{
	return z < 0 ? -z : z;
}

/* Those that are tested first, the most certain first. */
static int compare_certain(const void *a, const void *b)
{
	const struct diff_row *left = a, *right = b;

	if (left->verdict != right->verdict)
		return left->verdict == DIFF_FEW ? 1 : -1;
	return size_of(left->z) > size_of(right->z) ? -1 : size_of(left->z) < size_of(right->z);
}

static uint64_t greatest_share(const struct diff_row *row)
{
	return row->before.share_ppm > row->after.share_ppm ? row->before.share_ppm
							    : row->after.share_ppm;
}

/* Changed ones by how much, then the others by how much they matter. */
static int compare_shown(const void *a, const void *b)
{
	const struct diff_row *left = a, *right = b;
	uint64_t left_size, right_size;

	if (diff_has_changed(left) != diff_has_changed(right))
		return diff_has_changed(left) ? -1 : 1;
	left_size =
		diff_has_changed(left) ? (uint64_t)llabs(left->change_ppm) : greatest_share(left);
	right_size = diff_has_changed(right) ? (uint64_t)llabs(right->change_ppm)
					     : greatest_share(right);
	if (left_size != right_size)
		return left_size > right_size ? -1 : 1;
	if (left->name != NULL && right->name != NULL && strcmp(left->name, right->name) != 0)
		return strcmp(left->name, right->name);
	return strcmp(left->module, right->module);
}

static enum diff_verdict verdict_of(const struct diff_row *row)
{
	if (row->before.weight.samples == 0)
		return DIFF_NEW;
	if (row->after.weight.samples == 0)
		return DIFF_GONE;
	return row->z > 0 ? DIFF_GREW : DIFF_SHRANK;
}

/* Holm, 1979: the most certain must stand out of all, the next one of one less, and so on. */
static void judge(struct diff_list *list)
{
	size_t tested = 0;

	if (list->count == 0)
		return;
	qsort(list->rows, list->count, sizeof(*list->rows), compare_certain);
	while (tested < list->count && list->rows[tested].verdict != DIFF_FEW)
		tested++;
	while (list->changed < tested &&
	       size_of(list->rows[list->changed].z) >= proportion_limit(tested - list->changed)) {
		list->rows[list->changed].verdict = verdict_of(&list->rows[list->changed]);
		list->changed++;
	}
	qsort(list->rows, list->count, sizeof(*list->rows), compare_shown);
}

/* ---- both ------------------------------------------------------------------------------------ */

static int make_list(struct diff_rows *rows, struct diff_list *list, const struct totals *before,
		     const struct totals *after,
		     int (*add)(struct joining *, const struct totals *, bool))
{
	struct joining joining = { .list = list };
	int error = add(&joining, before, false);

	if (error == 0)
		error = add(&joining, after, true);
	for (size_t i = 0; error == 0 && i < list->count; i++)
		measure(rows, &list->rows[i]);
	if (error == 0)
		judge(list);
	names_free(&joining.names);
	pairs_free(&joining.keys);
	return error;
}

int diff_rows_make(struct diff_rows *rows, const struct totals *before, const struct totals *after)
{
	int error;

	*rows = (struct diff_rows){
		.before_samples = samples_taken(before),
		.after_samples = samples_taken(after),
	};
	error = make_list(rows, &rows->groups, before, after, add_groups);
	if (error == 0)
		error = make_list(rows, &rows->functions, before, after, add_functions);
	return error;
}

void diff_rows_free(struct diff_rows *rows)
{
	free(rows->groups.rows);
	free(rows->functions.rows);
	*rows = (struct diff_rows){ 0 };
}
