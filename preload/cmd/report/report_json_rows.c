/* SPDX-License-Identifier: MIT */
/* report_json_rows.c - groups, instances, parts and functions for programs. Threads: any. */
#include "preload/cmd/report/report_json.h"

#include "preload/cmd/schema.h"

#include <stdio.h>
#include <string.h>

static void write_share(struct json *json, const struct totals *totals,
			const struct totals_weight *weight)
{
	uint64_t share = proportion_ppm(totals_measure(totals, weight),
					totals_measure(totals, &totals->weight));
	uint64_t low, high;

	proportion_interval(share, totals->weight.samples, &low, &high);
	schema_number(json, "share_ppm", share);
	schema_number(json, "share_low_ppm", low);
	schema_number(json, "share_high_ppm", high);
	json_bool(json, "too_few_samples", weight->samples < REPORT_FEW_SAMPLES);
}

/* Samples by what their thread did; of waiting, the looks at it. */
static void write_states(struct json *json, const struct totals_row *row)
{
	json_begin_object(json, "states");
	for (int i = 0; i < STATE_COUNT; i++)
		schema_number(json, chunk_state_name((enum wasm_state)i), row->samples_by_state[i]);
	json_end_object(json);
}

static void write_row(struct json *json, const struct totals *totals, const struct totals_row *row)
{
	schema_number(json, "samples", row->weight.samples);
	schema_number(json, "cpu_ns", row->weight.cpu_ns);
	schema_number(json, "wall_ns", row->weight.wall_ns);
	if (totals->duration_ns != 0)
		schema_number(json, "cores_ppm",
			      proportion_ppm(row->weight.cpu_ns, totals->duration_ns));
	else
		json_null(json, "cores_ppm");
	write_share(json, totals, &row->weight);
	write_states(json, row);
	schema_text(json, "hottest",
		    row->hottest != TOTALS_NONE ? totals->functions[row->hottest].name : "");
}

/* How many samples it is of which it is known how surely, whose they are. */
static void write_certainty(struct json *json, const struct totals_row *row)
{
	json_begin_object(json, "samples_by_certainty");
	schema_number(json, "exact", row->samples_by_certainty[TOTALS_EXACT]);
	schema_number(json, "likely", row->samples_by_certainty[TOTALS_LIKELY]);
	schema_number(json, "module_only", row->samples_by_certainty[TOTALS_MODULE_ONLY]);
	json_end_object(json);
}

static void write_instances(struct json *json, const struct totals *totals, uint32_t group)
{
	static const char *const names[TOTALS_CERTAINTIES] = { "exact", "likely", "module only" };

	json_begin_array(json, "instances");
	for (uint32_t i = 0; i < totals->instance_count; i++) {
		const struct totals_row *row = &totals->instances[totals->instance_order[i]];

		if (row->group != group)
			continue;
		json_begin_object(json, NULL);
		json_text(json, "instance", row->instance);
		json_text(json, "certainty", names[totals_certainty(row->instance)]);
		schema_known(json, "pid", row->pid);
		write_row(json, totals, row);
		json_end_object(json);
	}
	json_end_array(json);
}

/* LABELS: as in struct totals_row. */
static void write_labels(struct json *json, const char *labels)
{
	char key[256], value[1024];

	json_begin_object(json, "labels");
	for (const char *end; labels != NULL && (end = strchr(labels, TOTALS_LABEL_END)) != NULL;
	     labels = end + 1) {
		const char *equals = memchr(labels, '=', (size_t)(end - labels));

		if (equals == NULL)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(equals - labels), labels);
		snprintf(value, sizeof(value), "%.*s", (int)(end - equals - 1), equals + 1);
		json_text(json, key, value);
	}
	json_end_object(json);
}

static void write_group(struct json *json, const struct totals *totals, uint32_t group)
{
	const struct totals_row *row = &totals->groups[group];

	json_begin_object(json, NULL);
	json_text(json, "module", row->module);
	schema_text(json, "identity", row->identity);
	schema_known(json, "instances_created", row->instances_created);
	schema_known(json, "instances_sampled", row->instances_sampled);
	write_labels(json, row->labels);
	write_row(json, totals, row);
	write_certainty(json, row);
	write_instances(json, totals, group);
	json_end_object(json);
}

static void write_part(struct json *json, const struct totals *totals, const struct totals_row *row)
{
	json_begin_object(json, NULL);
	json_text(json, "name", row->module);
	schema_text(json, "identity", row->identity);
	schema_known(json, "instances_created", row->instances_created);
	schema_known(json, "instances_sampled", row->instances_sampled);
	write_row(json, totals, row);
	json_end_object(json);
}

void report_json_groups(struct json *json, const struct report *report)
{
	const struct totals *totals = report->totals;

	json_begin_array(json, "groups");
	for (uint32_t i = 0; i < totals->group_count && i < report->group_rows; i++)
		write_group(json, totals, totals->group_order[i]);
	json_end_array(json);
	if (report->by != REPORT_BY_PART) {
		json_null(json, "by");
		return;
	}
	json_begin_object(json, "by");
	json_text(json, "key", report->by_name);
	json_begin_array(json, "rows");
	for (uint32_t i = 0; i < totals->part_count && i < report->group_rows; i++)
		write_part(json, totals, &totals->parts[totals->part_order[i]]);
	json_end_array(json);
	json_end_object(json);
}

void report_json_place(struct json *json, const struct totals_function *function)
{
	bool has_line = function->line > 0 && function->file[0] != '\0';

	schema_text(json, "module", function->module);
	json_text(json, "name", function->name);
	json_text(json, "kind", frames_kind_name(function->kind));
	schema_text(json, "file", function->file);
	if (has_line)
		json_integer(json, "line", function->line);
	else
		json_null(json, "line");
}

static void write_weight(struct json *json, const struct totals *totals, const char *name,
			 const struct totals_weight *weight)
{
	uint64_t whole = totals_measure(totals, &totals->weight);
	char key[48];

	snprintf(key, sizeof(key), "%s_samples", name);
	schema_number(json, key, weight->samples);
	snprintf(key, sizeof(key), "%s_cpu_ns", name);
	schema_number(json, key, weight->cpu_ns);
	snprintf(key, sizeof(key), "%s_wall_ns", name);
	schema_number(json, key, weight->wall_ns);
	snprintf(key, sizeof(key), "%s_share_ppm", name);
	schema_number(json, key, proportion_ppm(totals_measure(totals, weight), whole));
}

void report_json_functions(struct json *json, const struct report *report)
{
	const struct totals *totals = report->totals;

	json_begin_array(json, "functions");
	for (uint32_t i = 0; i < totals->function_count && i < report->function_rows; i++) {
		const struct totals_function *function =
			&totals->functions[totals->function_order[i]];

		json_begin_object(json, NULL);
		report_json_place(json, function);
		write_weight(json, totals, "self", &function->self);
		write_weight(json, totals, "total", &function->total);
		json_bool(json, "too_few_samples", function->total.samples < REPORT_FEW_SAMPLES);
		json_end_object(json);
	}
	json_end_array(json);
}
