/* SPDX-License-Identifier: MIT */
/* diff_json.c - the diff for programs: schema/diff.1.json says what is in it. Threads: any. */
#include "preload/cmd/report/diff.h"

#include "preload/cmd/schema.h"

#include <errno.h>

static void write_side(struct json *json, const char *key, const struct recording *recording,
		       const struct totals *totals, uint64_t samples_taken)
{
	json_begin_object(json, key);
	schema_text(json, "path", recording->path);
	schema_text(json, "program", recording->program);
	schema_known(json, "pid", recording->pid);
	schema_number(json, "processes", recording->process_count);
	schema_known(json, "time_unix_ns", recording->time_unix_ns);
	schema_known(json, "duration_ns", totals->duration_ns);
	schema_number(json, "samples", totals->weight.samples);
	schema_number(json, "samples_taken", samples_taken);
	schema_known(json, "cpu_ns", totals->weight.cpu_ns);
	json_end_object(json);
}

static void write_module(struct json *json, const struct diff_module *module)
{
	bool is_both = module->before != NULL && module->after != NULL;

	json_begin_object(json, NULL);
	schema_text(json, "before", module->before_name);
	schema_text(json, "after", module->after != NULL ? module->after->name : NULL);
	schema_text(json, "before_identity",
		    module->before != NULL ? module->before->identity : NULL);
	schema_text(json, "after_identity", module->after != NULL ? module->after->identity : NULL);
	schema_text(json, "matched_by", diff_how_name(module->how));
	if (is_both)
		schema_number(json, "functions_by_index", module->by_index);
	else
		json_null(json, "functions_by_index");
	json_end_object(json);
}

static void write_share(struct json *json, const char *key, const struct diff_side *side)
{
	json_begin_object(json, key);
	schema_number(json, "samples", side->weight.samples);
	schema_number(json, "cpu_ns", side->weight.cpu_ns);
	schema_number(json, "share_ppm", side->share_ppm);
	json_end_object(json);
}

static void write_row(struct json *json, const struct diff *diff, const struct diff_row *row)
{
	json_begin_object(json, NULL);
	schema_text(json, "module", row->module);
	if (row->name != NULL) {
		json_text(json, "name", row->name);
		json_text(json, "kind", frames_kind_name(row->kind));
		schema_text(json, "renamed_from",
			    diff_renamed_from(&diff->match, row->module, row->name));
	}
	write_share(json, "before", &row->before);
	write_share(json, "after", &row->after);
	json_integer(json, "change_ppm", row->change_ppm);
	json_integer(json, "change_low_ppm", row->low_ppm);
	json_integer(json, "change_high_ppm", row->high_ppm);
	json_integer(json, "z_thousandths", (int64_t)(row->z * 1000));
	json_text(json, "verdict", diff_verdict_text(row->verdict));
	json_end_object(json);
}

static void write_list(struct json *json, const struct diff *diff, const char *key,
		       const struct diff_list *list)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < list->count && i < diff->row_count; i++)
		write_row(json, diff, &list->rows[i]);
	json_end_array(json);
}

int diff_json(const struct diff *diff, struct output *output)
{
	struct json json = { .output = output };

	schema_begin(&json, "diff");
	write_side(&json, "before", diff->before, diff->before_totals, diff->rows.before_samples);
	write_side(&json, "after", diff->after, diff->after_totals, diff->rows.after_samples);
	json_begin_array(&json, "modules");
	for (size_t i = 0; i < diff->match.module_count; i++)
		write_module(&json, &diff->match.modules[i]);
	json_end_array(&json);
	schema_number(&json, "changed_groups", diff->rows.groups.changed);
	schema_number(&json, "changed_functions", diff->rows.functions.changed);
	write_list(&json, diff, "groups", &diff->rows.groups);
	write_list(&json, diff, "functions", &diff->rows.functions);
	json_end_object(&json);
	output_text(output, "\n");
	return json.failed ? -ENOMEM : 0;
}
