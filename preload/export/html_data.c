/* SPDX-License-Identifier: MIT */
/* html_data.c - writes heads, tables and rows as arrays of numbers. Threads: one at a time. */
#include "preload/export/html_data.h"

#include "preload/read/totals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_kinds(struct json *json)
{
	json_begin_array(json, "kinds");
	for (int i = FRAME_GUEST; i < FRAME_KINDS; i++)
		json_text(json, NULL, frames_kind_name((enum frame_kind)i));
	json_end_array(json);
	json_begin_array(json, "states");
	for (int i = 0; i < STATE_COUNT; i++)
		json_text(json, NULL, chunk_state_name((enum wasm_state)i));
	json_end_array(json);
}

/* ---- heads ------------------------------------------------------------------------------------
 */

static void write_losses(const struct totals *totals, struct json *json)
{
	json_integer(json, "lost", (int64_t)totals->lost);
	json_begin_array(json, "lost_by");
	for (uint32_t i = 0; i < totals->stat_count; i++) {
		if (strncmp(totals->stats[i].name, "lost_", 5) != 0 || totals->stats[i].value == 0)
			continue;
		json_begin_array(json, NULL);
		json_text(json, NULL, totals->stats[i].name + 5);
		json_integer(json, NULL, (int64_t)totals->stats[i].value);
		json_end_array(json);
	}
	json_end_array(json);
	json_integer(json, "unnamed", (int64_t)totals->unnamed);
	json_integer(json, "truncated", (int64_t)totals->truncated);
}

static void write_sums(const struct totals *totals, struct json *json)
{
	json_integer(json, "samples", (int64_t)totals->weight.samples);
	json_integer(json, "cpu_ns", (int64_t)totals->weight.cpu_ns);
	json_integer(json, "wall_ns", (int64_t)totals->weight.wall_ns);
	json_integer(json, "signals", (int64_t)totals->signals);
	json_integer(json, "process_cpu_ns", (int64_t)totals->process_cpu_ns);
	json_integer(json, "own_cpu_ns", (int64_t)totals->own_cpu_ns);
	write_losses(totals, json);
}

static void write_recording(const struct recording *recording, struct json *json)
{
	const char *slash = strrchr(recording->path, '/');

	json_text(json, "file", slash != NULL ? slash + 1 : recording->path);
	json_text(json, "filter", recording->filter);
	json_text(json, "program", recording->program);
	json_integer(json, "pid", (int64_t)recording->pid);
	json_integer(json, "processes", (int64_t)recording->process_count);
	/* Milliseconds: beyond 2^53 a browser would round. */
	json_integer(json, "time_ms", (int64_t)(recording->time_unix_ns / 1000000));
	json_integer(json, "duration_ns", (int64_t)recording->duration_ns);
	json_bool(json, "is_ours", recording->is_ours);
	json_bool(json, "is_torn", recording->is_torn);
	json_bool(json, "has_ended", recording->has_ended);
	json_text(json, "clock", recording->clock);
	json_text(json, "clock_why", recording->clock_why);
	json_text(json, "stacks", recording->stacks);
	json_integer(json, "requested_hz", (int64_t)recording->requested_hz);
	json_begin_array(json, "engines");
	for (size_t i = 0; i < recording->engine_count; i++)
		json_text(json, NULL, recording->engines[i]);
	json_end_array(json);
}

static int write_head(const struct recording *recording, struct json *json)
{
	struct totals *totals = totals_of(recording);

	if (totals == NULL)
		return -ENOMEM;
	json_begin_object(json, NULL);
	write_recording(recording, json);
	write_sums(totals, json);
	json_end_object(json);
	totals_free(totals);
	return 0;
}

static int write_heads(const struct html_data *data, struct json *json)
{
	int error = 0;

	json_begin_array(json, "heads");
	for (size_t i = 0; i < 2 && error == 0; i++) {
		if (data->recordings[i] != NULL)
			error = write_head(data->recordings[i], json);
	}
	json_end_array(json);
	return error;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static void write_texts(const struct html_tree *tree, struct json *json)
{
	json_begin_array(json, "texts");
	for (uint32_t i = 0; i < tree->texts.count; i++)
		json_text(json, NULL, tree->texts.texts[i]);
	json_end_array(json);
}

/* A column of a table: one number of each of COUNT rows. */
#define WRITE_COLUMN(json, key, count, expression)                       \
	do {                                                             \
		json_begin_array(json, key);                             \
		for (uint32_t i = 0; i < (count); i++)                   \
			json_integer(json, NULL, (int64_t)(expression)); \
		json_end_array(json);                                    \
	} while (0)

static void write_functions(const struct html_tree *tree, struct json *json)
{
	json_begin_object(json, "functions");
	WRITE_COLUMN(json, "name", tree->function_count, tree->functions[i].name);
	WRITE_COLUMN(json, "module", tree->function_count, tree->functions[i].module);
	WRITE_COLUMN(json, "kind", tree->function_count, tree->functions[i].kind);
	WRITE_COLUMN(json, "file", tree->function_count, tree->functions[i].file);
	WRITE_COLUMN(json, "line", tree->function_count, tree->functions[i].line);
	json_end_object(json);
	json_begin_object(json, "frames");
	WRITE_COLUMN(json, "function", tree->frame_count, tree->frames[i].function);
	WRITE_COLUMN(json, "line", tree->frame_count, tree->frames[i].line);
	WRITE_COLUMN(json, "inlined", tree->frame_count, tree->frames[i].is_inlined);
	json_end_object(json);
}

/* A root's parent is -1. */
static void write_nodes(const struct html_tree *tree, struct json *json)
{
	json_begin_object(json, "nodes");
	WRITE_COLUMN(json, "parent", tree->nodes.count, (int32_t)tree->nodes.list[i].first);
	WRITE_COLUMN(json, "frame", tree->nodes.count, tree->nodes.list[i].second);
	json_end_object(json);
}

static void write_rows(const struct html_tree *tree, struct json *json)
{
	json_begin_object(json, "scopes");
	WRITE_COLUMN(json, "group", tree->scope_count, tree->scopes[i].group);
	WRITE_COLUMN(json, "instance", tree->scope_count, tree->scopes[i].instance);
	WRITE_COLUMN(json, "state", tree->scope_count, tree->scopes[i].state);
	WRITE_COLUMN(json, "side", tree->scope_count, tree->scopes[i].side);
	json_end_object(json);
	json_begin_object(json, "rows");
	WRITE_COLUMN(json, "node", tree->row_count, tree->rows[i].node);
	WRITE_COLUMN(json, "scope", tree->row_count, tree->rows[i].scope);
	WRITE_COLUMN(json, "samples", tree->row_count, tree->rows[i].samples);
	WRITE_COLUMN(json, "cpu_ns", tree->row_count, tree->rows[i].cpu_ns);
	WRITE_COLUMN(json, "wall_ns", tree->row_count, tree->rows[i].wall_ns);
	json_end_object(json);
}

/* ---- labels of groups -------------------------------------------------------------------------
 */

static void write_group_labels(const struct recording_group *group, const char *name,
			       struct json *json)
{
	char text[512] = "";

	for (size_t i = 0; i < group->label_count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%.100s=%.200s", i != 0 ? " " : "",
			 group->labels[i].key, group->labels[i].value);
	}
	json_begin_array(json, NULL);
	json_text(json, NULL, name);
	json_text(json, NULL, text);
	json_end_array(json);
}

static void write_labels(const struct html_data *data, struct json *json)
{
	json_begin_array(json, "labels");
	for (unsigned side = 0; side < 2 && data->recordings[side] != NULL; side++) {
		const struct recording *recording = data->recordings[side];

		for (size_t i = 0; i < recording->group_count; i++) {
			const struct recording_group *group = &recording->groups[i];

			if (group->label_count != 0)
				write_group_labels(
					group, html_tree_module(&data->names, group->module, side),
					json);
		}
	}
	json_end_array(json);
}

int html_data_write(const struct html_data *data, struct json *json)
{
	int error;

	json_begin_object(json, NULL);
	json_integer(json, "version", 1);
	write_kinds(json);
	error = write_heads(data, json);
	write_texts(&data->tree, json);
	write_functions(&data->tree, json);
	write_nodes(&data->tree, json);
	write_rows(&data->tree, json);
	write_labels(data, json);
	html_sources_write(&data->sources, json);
	json_end_object(json);
	return error != 0 ? error : json->failed ? -ENOMEM : 0;
}
