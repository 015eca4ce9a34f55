/* SPDX-License-Identifier: MIT */
/* speedscope.c - frames are numbered once, stacks are paths in a tree, profiles are lists of them.
 * Threads: one at a time. */
#include "preload/export/speedscope.h"

#include "preload/encode/recording.h"
#include "preload/export/json.h"
#include "preload/read/frames.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/rows.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INDEX_SIZE = 6 }; /* bytes of a frame in a stack, about */

/* A row of shared.frames. */
struct shown_frame {
	uint32_t name, file; /* names; file: of no name, NAMES_NONE */
	int64_t line;	     /* 0: unknown */
};

struct shown_sample {
	uint64_t time_ns, weight;
	struct totals_place place;
	uint32_t row;	/* whose profile is being written: the group's or the instance's */
	uint32_t stack; /* node of the tree, PAIRS_NONE: no frames */
};

struct speedscope {
	struct totals *totals;
	struct names names;
	struct pairs place_ids; /* (location, line): what frame_of_place is of */
	struct pairs frame_ids; /* (name and module, file) */
	struct pairs tree;	/* (parent or PAIRS_NONE, frame) */
	uint32_t *frame_of_place;
	struct shown_frame *shown;
	struct shown_sample *samples; /* by row, then time */
	uint32_t *path;
	size_t place_room, shown_room, path_room, sample_count;
	uint64_t size; /* of all stacks in JSON, about */
	struct frames frames;
	bool by_wall, is_merged;
	bool has_processes; /* more than one */
};

/* ---- frames and stacks ----------------------------------------------------------------------- */

static uint32_t add_frame(struct speedscope *scope, const struct frame *frame)
{
	char scratch[FRAMES_NAME_SIZE];
	const struct recording_mapping *mapping = frame->location->mapping;
	const struct recording_function *function =
		frame->line != NULL ? frame->line->function : NULL;
	const char *file = function != NULL ? function->filename : "";
	uint32_t name = names_id(&scope->names, frames_name(frame, scratch));
	uint32_t module = names_id(&scope->names, mapping != NULL ? mapping->name : "");
	uint32_t file_name = names_id(&scope->names, file), known = scope->frame_ids.count, id;

	if (name == NAMES_NONE || module == NAMES_NONE || file_name == NAMES_NONE)
		return PAIRS_NONE;
	id = pairs_id(&scope->frame_ids, (uint64_t)name << 32 | module, file_name);
	if (id != known || id == PAIRS_NONE)
		return id;
	if (rows_reserve(&scope->shown, &scope->shown_room, id, sizeof(*scope->shown)) != 0)
		return PAIRS_NONE;
	scope->shown[id] = (struct shown_frame){
		.name = name,
		.file = file[0] != '\0' ? file_name : NAMES_NONE,
		.line = function != NULL ? function->start_line : 0,
	};
	return id;
}

static uint32_t frame_of(struct speedscope *scope, const struct frame *frame)
{
	uint32_t known = scope->place_ids.count;
	uint32_t id =
		pairs_id(&scope->place_ids, (uintptr_t)frame->location, (uintptr_t)frame->line);

	if (id == PAIRS_NONE)
		return PAIRS_NONE;
	if (id == known) {
		if (rows_reserve(&scope->frame_of_place, &scope->place_room, id,
				 sizeof(*scope->frame_of_place)) != 0)
			return PAIRS_NONE;
		scope->frame_of_place[id] = add_frame(scope, frame);
	}
	return scope->frame_of_place[id];
}

static int find_stack(struct speedscope *scope, const struct recording_sample *sample,
		      uint32_t *stack)
{
	int error = frames_list(&scope->frames, sample);

	*stack = PAIRS_NONE;
	for (size_t i = 0; error == 0 && i < scope->frames.count; i++) {
		uint32_t frame = frame_of(scope, &scope->frames.list[i]);

		*stack = frame == PAIRS_NONE ? PAIRS_NONE : pairs_id(&scope->tree, *stack, frame);
		if (*stack == PAIRS_NONE)
			error = -ENOMEM;
	}
	return error;
}

/* ---- samples --------------------------------------------------------------------------------- */

static uint64_t weight_of(const struct speedscope *scope, const struct recording_sample *sample)
{
	struct totals_weight weight = { sample->count, sample->cpu_ns, 0 };

	return scope->by_wall ? sample->wall_ns : totals_measure(scope->totals, &weight);
}

static int compare_samples(const void *a, const void *b)
{
	const struct shown_sample *left = a, *right = b;

	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static int add_sample(struct speedscope *scope, const struct recording *recording,
		      const struct recording_sample *sample)
{
	struct shown_sample shown = { .time_ns = sample->time_ns,
				      .weight = weight_of(scope, sample) };
	int error = totals_place(scope->totals, recording, sample, &shown.place);

	if (error != 0 || shown.weight == 0)
		return error;
	error = find_stack(scope, sample, &shown.stack);
	scope->size += scope->frames.count * INDEX_SIZE;
	scope->samples[scope->sample_count++] = shown;
	return error;
}

static int add_samples(struct speedscope *scope, const struct recording *recording)
{
	int error = 0;

	scope->samples = calloc(recording->sample_count + 1, sizeof(*scope->samples));
	if (scope->samples == NULL)
		return -ENOMEM;
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = add_sample(scope, recording, &recording->samples[i]);
	return error;
}

static void sort_samples(struct speedscope *scope, bool by_instance)
{
	for (size_t i = 0; i < scope->sample_count; i++)
		scope->samples[i].row = by_instance ? scope->samples[i].place.instance
						    : scope->samples[i].place.group;
	if (scope->sample_count != 0)
		qsort(scope->samples, scope->sample_count, sizeof(*scope->samples),
		      compare_samples);
}

/* Equal stacks of one place become one sample, at the time of the first. */
static int merge(struct speedscope *scope)
{
	struct pairs keys = { 0 };
	size_t count = 0;

	sort_samples(scope, false);
	for (size_t i = 0; i < scope->sample_count; i++) {
		const struct shown_sample *sample = &scope->samples[i];
		uint64_t place = (uint64_t)sample->place.group << 32 | sample->place.instance;
		uint32_t id = pairs_id(&keys, place, sample->stack);

		if (id == PAIRS_NONE) {
			pairs_free(&keys);
			return -ENOMEM;
		}
		if (id == count)
			scope->samples[count++] = *sample;
		else
			scope->samples[id].weight += sample->weight;
	}
	pairs_free(&keys);
	scope->sample_count = count;
	scope->is_merged = true;
	return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_frames(const struct speedscope *scope, struct json *json)
{
	json_begin_object(json, "shared");
	json_begin_array(json, "frames");
	for (uint32_t i = 0; i < scope->frame_ids.count; i++) {
		const struct shown_frame *frame = &scope->shown[i];

		json_begin_object(json, NULL);
		json_text(json, "name", scope->names.texts[frame->name]);
		if (frame->file != NAMES_NONE)
			json_text(json, "file", scope->names.texts[frame->file]);
		if (frame->line > 0)
			json_integer(json, "line", frame->line);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/* Root first. */
static int write_stack(struct speedscope *scope, uint32_t stack, struct json *json)
{
	size_t depth = 0;

	for (uint32_t at = stack; at != PAIRS_NONE; at = (uint32_t)scope->tree.list[at].first) {
		if (rows_reserve(&scope->path, &scope->path_room, depth, sizeof(*scope->path)) != 0)
			return -ENOMEM;
		scope->path[depth++] = (uint32_t)scope->tree.list[at].second;
	}
	json_begin_array(json, NULL);
	while (depth-- > 0)
		json_integer(json, NULL, scope->path[depth]);
	json_end_array(json);
	return 0;
}

/* The samples of ROW: from *FIRST to before *END. */
static void find_row(const struct speedscope *scope, uint32_t row, size_t *first, size_t *end)
{
	size_t low = 0, high = scope->sample_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (scope->samples[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	*first = *end = low;
	while (*end < scope->sample_count && scope->samples[*end].row == row)
		++*end;
}

static int write_profile(struct speedscope *scope, uint32_t row, const char *name,
			 struct json *json)
{
	bool is_time = scope->by_wall || scope->totals->weight.cpu_ns != 0;
	uint64_t sum = 0;
	size_t first, end;
	int error = 0;

	find_row(scope, row, &first, &end);
	if (first == end)
		return 0;
	json_begin_object(json, NULL);
	json_text(json, "type", "sampled");
	json_text(json, "name", name);
	json_text(json, "unit", is_time ? "nanoseconds" : "none");
	json_begin_array(json, "samples");
	for (size_t i = first; error == 0 && i < end; i++)
		error = write_stack(scope, scope->samples[i].stack, json);
	json_end_array(json);
	json_begin_array(json, "weights");
	for (size_t i = first; i < end; i++) {
		json_integer(json, NULL, (int64_t)scope->samples[i].weight);
		sum += scope->samples[i].weight;
	}
	json_end_array(json);
	json_integer(json, "startValue", 0);
	json_integer(json, "endValue", (int64_t)sum);
	json_end_object(json);
	return error;
}

/* Of several processes, an instance's is told apart as the report does. */
static int write_instance(struct speedscope *scope, uint32_t instance, struct json *json)
{
	const struct totals_row *row = &scope->totals->instances[instance];
	char name[512];

	if (!scope->has_processes)
		return write_profile(scope, instance, row->instance, json);
	snprintf(name, sizeof(name), "%.480s (%" PRIu64 ")", row->instance, row->pid);
	return write_profile(scope, instance, name, json);
}

static int write_profiles(struct speedscope *scope, bool by_instance, struct json *json)
{
	const struct totals *totals = scope->totals;
	int error = 0;

	json_begin_array(json, "profiles");
	sort_samples(scope, false);
	for (uint32_t i = 0; error == 0 && i < totals->group_count; i++) {
		uint32_t group = totals->group_order[i];

		error = write_profile(scope, group, totals->groups[group].module, json);
	}
	if (by_instance)
		sort_samples(scope, true);
	for (uint32_t i = 0; by_instance && error == 0 && i < totals->instance_count; i++) {
		uint32_t instance = totals->instance_order[i];

		error = write_instance(scope, instance, json);
	}
	json_end_array(json);
	return error;
}

static int write_all(struct speedscope *scope, const struct recording *recording, bool by_instance,
		     struct json *json)
{
	int error;

	json_begin_object(json, NULL);
	json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(json, "exporter", "guestprof@" RECORDING_LIBRARY_VERSION);
	json_text(json, "name", recording->program[0] != '\0' ? recording->program : "profile");
	json_integer(json, "activeProfileIndex", 0);
	write_frames(scope, json);
	error = write_profiles(scope, by_instance, json);
	json_end_object(json);
	output_text(json->output, "\n");
	return error == 0 && json->failed ? -ENOMEM : error;
}

static int prepare(struct speedscope *scope, const struct recording *recording,
		   const struct speedscope_options *options)
{
	int error;

	scope->by_wall = options->by_wall;
	scope->has_processes = recording->process_count > 1;
	scope->totals = totals_of(recording);
	if (scope->totals == NULL)
		return -ENOMEM;
	error = add_samples(scope, recording);
	if (error == 0 && scope->size << options->by_instance > options->size_max)
		error = merge(scope);
	return error;
}

int speedscope_write(const struct recording *recording, const struct speedscope_options *options,
		     struct output *output, bool *is_merged)
{
	struct speedscope scope = { 0 };
	struct json json = { .output = output };
	int error = prepare(&scope, recording, options);

	if (error == 0)
		error = write_all(&scope, recording, options->by_instance, &json);
	*is_merged = scope.is_merged;
	totals_free(scope.totals);
	names_free(&scope.names);
	pairs_free(&scope.place_ids);
	pairs_free(&scope.frame_ids);
	pairs_free(&scope.tree);
	free(scope.frame_of_place);
	free(scope.shown);
	free(scope.samples);
	free(scope.path);
	frames_free(&scope.frames);
	return error;
}
