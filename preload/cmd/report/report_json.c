/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - the report for programs: schema/report.1.json says what is in it. Threads: any.
 */
#include "preload/cmd/report/report_json.h"

#include "preload/cmd/schema.h"

#include <errno.h>

static void write_rates(struct json *json, const struct recording_process *process)
{
	json_begin_array(json, "rates");
	for (size_t i = 0; i < process->rate_count; i++) {
		const struct recording_rate *rate = &process->rates[i];

		json_begin_object(json, NULL);
		schema_number(json, "time_ns", rate->time_unix_ns - process->time_unix_ns);
		schema_number(json, "from_divisor", rate->from);
		schema_number(json, "to_divisor", rate->to);
		schema_number(json, "cost_ppm", rate->cost_ppm);
		schema_number(json, "budget_ppm", rate->budget_ppm);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_process(struct json *json, const struct recording_process *process)
{
	json_begin_object(json, NULL);
	schema_text(json, "path", process->path);
	schema_text(json, "program", process->program);
	schema_known(json, "pid", process->pid);
	schema_known(json, "time_unix_ns", process->time_unix_ns);
	schema_known(json, "duration_ns", process->duration_ns);
	json_begin_array(json, "engines");
	for (size_t i = 0; i < process->engine_count; i++)
		json_text(json, NULL, process->engines[i]);
	json_end_array(json);
	schema_text(json, "clock", process->clock);
	schema_text(json, "clock_why", process->clock_why);
	schema_known(json, "requested_hz", process->requested_hz);
	write_rates(json, process);
	schema_known(json, "delivery_ns", process->delivery_ns);
	schema_text(json, "stacks", process->stacks);
	schema_text(json, "recorded_by", process->guestprof_version);
	json_bool(json, "is_torn", process->is_torn);
	if (process->is_ours)
		json_bool(json, "has_ended", process->has_ended);
	else
		json_null(json, "has_ended");
	json_end_object(json);
}

static void write_processes(struct json *json, const struct recording *recording)
{
	json_begin_array(json, "processes");
	for (size_t i = 0; i < recording->process_count; i++)
		write_process(json, &recording->processes[i]);
	json_end_array(json);
}

/* What only our own recordings tell. */
static void write_counters(struct json *json, const struct report *report)
{
	const struct totals *totals = report->totals;
	void (*write)(struct json *, const char *, uint64_t) =
		report->recording->is_ours ? schema_number : schema_known;

	write(json, "lost", totals->lost);
	schema_number(json, "unnamed", totals->unnamed);
	write(json, "truncated", totals->truncated);
	write(json, "signals", totals->signals);
	schema_known(json, "own_cpu_ns", totals->own_cpu_ns);
	schema_known(json, "process_cpu_ns", totals->process_cpu_ns);
	json_begin_object(json, "counters");
	for (uint32_t i = 0; i < totals->stat_count; i++)
		schema_number(json, totals->stats[i].name, totals->stats[i].value);
	json_end_object(json);
}

static void write_wait(struct json *json, const struct totals *totals,
		       const struct totals_wait *wait)
{
	bool has_guest = wait->function != TOTALS_NONE;

	json_begin_object(json, NULL);
	json_text(json, "module", totals->groups[wait->group].module);
	schema_text(json, "function", has_guest ? totals->functions[wait->function].name : "");
	json_text(json, "call", totals->functions[wait->call].name);
	schema_number(json, "wall_ns", wait->wall_ns);
	schema_number(json, "share_ppm", proportion_ppm(wait->wall_ns, totals->weight.wall_ns));
	json_end_object(json);
}

static void write_waits(struct json *json, const struct report *report)
{
	const struct totals *totals = report->totals;

	schema_known(json, "wall_ns", totals->weight.wall_ns);
	json_begin_array(json, "waits");
	for (uint32_t i = 0; i < totals->wait_count && i < report->function_rows; i++)
		write_wait(json, totals, &totals->waits[totals->wait_order[i]]);
	json_end_array(json);
}

static void write_hostcalls(struct json *json, const struct report *report)
{
	const struct recording *recording = report->recording;

	json_begin_array(json, "host_calls");
	for (size_t i = 0; i < recording->hostcall_count; i++) {
		const struct recording_hostcall *call = &recording->hostcalls[i];

		json_begin_object(json, NULL);
		json_text(json, "module", call->module);
		json_text(json, "name", call->name);
		schema_number(json, "count", call->count);
		schema_number(json, "total_ns", call->total_ns);
		schema_number(json, "longest_ns", call->longest_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_warnings(struct json *json, const struct report *report)
{
	struct report_warning list[REPORT_WARNINGS_MAX];
	size_t count = report_warnings(report, list);

	json_begin_array(json, "warnings");
	for (size_t i = 0; i < count; i++) {
		json_begin_object(json, NULL);
		json_text(json, "id", list[i].id);
		json_text(json, "text", list[i].text);
		json_text(json, "cure", list[i].cure);
		json_end_object(json);
	}
	json_end_array(json);
}

int report_json(const struct report *report, struct output *output)
{
	const struct totals *totals = report->totals;
	struct json json = { .output = output };

	schema_begin(&json, "report");
	write_processes(&json, report->recording);
	schema_text(&json, "filter", report->recording->filter);
	schema_number(&json, "samples", totals->weight.samples);
	schema_known(&json, "cpu_ns", totals->weight.cpu_ns);
	schema_known(&json, "duration_ns", totals->duration_ns);
	write_counters(&json, report);
	write_waits(&json, report);
	write_hostcalls(&json, report);
	report_json_groups(&json, report);
	report_json_functions(&json, report);
	report_json_stacks(&json, report);
	write_warnings(&json, report);
	json_end_object(&json);
	output_text(output, "\n");
	return json.failed ? -ENOMEM : 0;
}
