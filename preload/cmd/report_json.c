/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - the report for programs. Threads: any.
 *
 * Keys never change their meaning; new ones may be added. Times are nanoseconds, shares millionths
 * of all CPU time (of all samples, where a profile has no CPU time), everything a whole number.
 * Texts are escaped as in encode/escape.h. Rows are sorted, the heaviest first.
 *
 *   { "version": 1,
 *     "recordings": [ { "path", "program", "pid", "time_unix_ns", "duration_ns", "engines": [text],
 *                       "clock", "clock_why", "requested_hz", "stacks", "guestprof_version",
 *                       "is_torn", "has_ended" } ],
 *     "samples", "cpu_ns", "duration_ns", "lost", "unnamed", "truncated",
 *     "signals", "own_cpu_ns", "process_cpu_ns",
 *     "counters": { NAME: number },
 *     "wall_ns", "waits": [ { "module", "function" (text or null), "call", "wall_ns", "share_ppm" }
 * ], "groups": [ ROW + { "identity", "instances_created", "instances_sampled", "labels": { KEY:
 * text } (if there are any), "instances": [ ROW + { "instance", "pid" } ] } ], "functions": [ {
 * "module", "name", "kind", "self_samples", "self_cpu_ns", "self_share_ppm", "total_samples",
 * "total_cpu_ns", "total_share_ppm", "too_few_samples" } ] } ROW: { "module", "samples", "cpu_ns",
 * "cores_ppm", "share_ppm", "share_low_ppm", "share_high_ppm", "too_few_samples", "states": {
 * "guest", "builtin", "host", "waiting"
 * }, "hottest": text or null }
 *   With waits recorded (GUESTPROF_WALL=1): "wall_ns" and "waits" as above, "wall_ns" in every ROW,
 *   "self_wall_ns" and "total_wall_ns" in every function. Wall time is time spent waiting; shares
 * of CPU time do not count it. "waiting" in "states" is the number of looks. With source lines:
 * "file" and "line" in every function that has them: where it begins, with --lines the line that
 * ran.
 */
#include "preload/cmd/report.h"

#include "preload/encode/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void number(struct json *json, const char *key, uint64_t value)
{
	json_integer(json, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void write_recording(struct json *json, const struct recording *recording)
{
	json_begin_object(json, NULL);
	json_text(json, "path", recording->path);
	json_text(json, "program", recording->program);
	number(json, "pid", recording->pid);
	number(json, "time_unix_ns", recording->time_unix_ns);
	number(json, "duration_ns", recording->duration_ns);
	json_begin_array(json, "engines");
	for (size_t i = 0; i < recording->engine_count; i++)
		json_text(json, NULL, recording->engines[i]);
	json_end_array(json);
	json_text(json, "clock", recording->clock);
	json_text(json, "clock_why", recording->clock_why);
	number(json, "requested_hz", recording->requested_hz);
	json_text(json, "stacks", recording->stacks);
	json_text(json, "guestprof_version", recording->guestprof_version);
	json_bool(json, "is_torn", recording->is_torn);
	json_bool(json, "has_ended", recording->has_ended);
	json_end_object(json);
}

static bool has_waits(const struct totals *totals)
{
	return totals->weight.wall_ns != 0;
}

static void write_waits(struct json *json, const struct totals *totals, size_t rows)
{
	if (!has_waits(totals))
		return;
	number(json, "wall_ns", totals->weight.wall_ns);
	json_begin_array(json, "waits");
	for (uint32_t i = 0; i < totals->wait_count && i < rows; i++) {
		const struct totals_wait *wait = &totals->waits[totals->wait_order[i]];
		bool has_guest = wait->function != TOTALS_NONE;

		json_begin_object(json, NULL);
		json_text(json, "module", totals->groups[wait->group].module);
		if (has_guest)
			json_text(json, "function", totals->functions[wait->function].name);
		else
			json_null(json, "function");
		json_text(json, "call", totals->functions[wait->call].name);
		number(json, "wall_ns", wait->wall_ns);
		number(json, "share_ppm", report_ppm(wait->wall_ns, totals->weight.wall_ns));
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_sums(struct json *json, const struct totals *totals)
{
	number(json, "samples", totals->weight.samples);
	number(json, "cpu_ns", totals->weight.cpu_ns);
	number(json, "duration_ns", totals->duration_ns);
	number(json, "lost", totals->lost);
	number(json, "unnamed", totals->unnamed);
	number(json, "truncated", totals->truncated);
	number(json, "signals", totals->signals);
	number(json, "own_cpu_ns", totals->own_cpu_ns);
	number(json, "process_cpu_ns", totals->process_cpu_ns);
	json_begin_object(json, "counters");
	for (uint32_t i = 0; i < totals->stat_count; i++)
		number(json, totals->stats[i].name, totals->stats[i].value);
	json_end_object(json);
}

static void write_row(struct json *json, const struct totals *totals, const struct totals_row *row)
{
	static const char *const states[STATE_COUNT] = { "guest", "builtin", "host", "waiting" };
	uint64_t share = report_ppm(totals_measure(totals, &row->weight),
				    totals_measure(totals, &totals->weight));
	uint64_t low, high;

	report_interval(share, totals->weight.samples, &low, &high);
	json_text(json, "module", row->module);
	number(json, "samples", row->weight.samples);
	number(json, "cpu_ns", row->weight.cpu_ns);
	if (has_waits(totals))
		number(json, "wall_ns", row->weight.wall_ns);
	number(json, "cores_ppm", report_ppm(row->weight.cpu_ns, totals->duration_ns));
	number(json, "share_ppm", share);
	number(json, "share_low_ppm", low);
	number(json, "share_high_ppm", high);
	json_bool(json, "too_few_samples", row->weight.samples < REPORT_FEW_SAMPLES);
	json_begin_object(json, "states");
	for (int i = 0; i < STATE_COUNT; i++)
		number(json, states[i], row->samples_by_state[i]);
	json_end_object(json);
	if (row->hottest != TOTALS_NONE)
		json_text(json, "hottest", totals->functions[row->hottest].name);
	else
		json_null(json, "hottest");
}

static void write_instances(struct json *json, const struct totals *totals, uint32_t group)
{
	json_begin_array(json, "instances");
	for (uint32_t i = 0; i < totals->instance_count; i++) {
		const struct totals_row *row = &totals->instances[totals->instance_order[i]];

		if (row->group != group)
			continue;
		json_begin_object(json, NULL);
		write_row(json, totals, row);
		json_text(json, "instance", row->instance);
		number(json, "pid", row->pid);
		json_end_object(json);
	}
	json_end_array(json);
}

/* LABELS: as in struct totals_row. */
static void write_labels(struct json *json, const char *labels)
{
	char key[256], value[1024];

	if (labels == NULL || *labels == '\0')
		return;
	json_begin_object(json, "labels");
	for (const char *end; (end = strchr(labels, TOTALS_LABEL_END)) != NULL; labels = end + 1) {
		const char *equals = memchr(labels, '=', (size_t)(end - labels));

		if (equals == NULL)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(equals - labels), labels);
		snprintf(value, sizeof(value), "%.*s", (int)(end - equals - 1), equals + 1);
		json_text(json, key, value);
	}
	json_end_object(json);
}

static void write_groups(struct json *json, const struct totals *totals)
{
	json_begin_array(json, "groups");
	for (uint32_t i = 0; i < totals->group_count; i++) {
		const struct totals_row *row = &totals->groups[totals->group_order[i]];

		json_begin_object(json, NULL);
		write_row(json, totals, row);
		json_text(json, "identity", row->identity);
		number(json, "instances_created", row->instances_created);
		number(json, "instances_sampled", row->instances_sampled);
		write_labels(json, row->labels);
		write_instances(json, totals, totals->group_order[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_function(struct json *json, const struct totals *totals,
			   const struct totals_function *function)
{
	uint64_t whole = totals_measure(totals, &totals->weight);

	json_begin_object(json, NULL);
	json_text(json, "module", function->module);
	json_text(json, "name", function->name);
	json_text(json, "kind", frames_kind_name(function->kind));
	if (function->line != 0) {
		json_text(json, "file", function->file);
		json_integer(json, "line", function->line);
	}
	number(json, "self_samples", function->self.samples);
	number(json, "self_cpu_ns", function->self.cpu_ns);
	number(json, "self_share_ppm", report_ppm(totals_measure(totals, &function->self), whole));
	number(json, "total_samples", function->total.samples);
	number(json, "total_cpu_ns", function->total.cpu_ns);
	number(json, "total_share_ppm",
	       report_ppm(totals_measure(totals, &function->total), whole));
	json_bool(json, "too_few_samples", function->total.samples < REPORT_FEW_SAMPLES);
	if (has_waits(totals)) {
		number(json, "self_wall_ns", function->self.wall_ns);
		number(json, "total_wall_ns", function->total.wall_ns);
	}
	json_end_object(json);
}

int report_json(const struct report *report, struct output *output)
{
	const struct totals *totals = report->totals;
	struct json json = { .output = output };

	json_begin_object(&json, NULL);
	json_integer(&json, "version", 1);
	json_begin_array(&json, "recordings");
	for (size_t i = 0; i < report->recording_count; i++)
		write_recording(&json, report->recordings[i]);
	json_end_array(&json);
	write_sums(&json, totals);
	write_waits(&json, totals, report->function_rows);
	write_groups(&json, totals);
	json_begin_array(&json, "functions");
	for (uint32_t i = 0; i < totals->function_count && i < report->function_rows; i++)
		write_function(&json, totals, &totals->functions[totals->function_order[i]]);
	json_end_array(&json);
	json_end_object(&json);
	output_text(output, "\n");
	return json.failed ? -ENOMEM : 0;
}
