/* SPDX-License-Identifier: MIT */
/* merge.c - adds recordings to one: how much there is, when it began, samples. Threads: any. */
#include "preload/read/merge.h"

#include "preload/read/merge_private.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((size_t)2 << 30)

/* Ten years: a clock that is off by more tells no time. */
#define OFFSET_MAX_NS ((uint64_t)315360000 * 1000 * 1000 * 1000)

/* The most rows that there can be. */
struct room {
	size_t mappings, functions, locations, samples, groups, stats, processes, intervals, lives,
		hostcalls;
};

static void add_room(struct room *room, const struct recording *in)
{
	room->mappings += in->mapping_count;
	room->locations += in->location_count;
	for (size_t i = 0; i < in->location_count; i++)
		room->functions += in->locations[i].line_count;
	room->samples += in->sample_count;
	room->groups += in->group_count != 0 ? in->group_count : in->sample_count;
	room->stats += in->stat_count + 2; /* unnamed and truncated */
	room->processes += in->process_count;
	room->intervals += in->interval_count;
	room->lives += in->life_count;
	room->hostcalls += in->hostcall_count;
}

static int make_tables(struct merge *merge, struct recording *const *list, size_t count)
{
	struct arena *arena = &merge->arena;
	struct recording *out;
	struct room room = { 0 };

	for (size_t i = 0; i < count; i++)
		add_room(&room, list[i]);
	merge->out = out = arena_alloc(arena, 1, sizeof(*out));
	if (out == NULL)
		return -ENOMEM;
	out->mappings = arena_alloc(arena, room.mappings, sizeof(*out->mappings));
	out->functions = arena_alloc(arena, room.functions, sizeof(*out->functions));
	out->locations = arena_alloc(arena, room.locations, sizeof(*out->locations));
	out->samples = arena_alloc(arena, room.samples, sizeof(*out->samples));
	out->groups = arena_alloc(arena, room.groups, sizeof(*out->groups));
	out->stats = arena_alloc(arena, room.stats, sizeof(*out->stats));
	out->processes = arena_alloc(arena, room.processes, sizeof(*out->processes));
	out->intervals = arena_alloc(arena, room.intervals, sizeof(*out->intervals));
	out->lives = arena_alloc(arena, room.lives, sizeof(*out->lives));
	out->hostcalls = arena_alloc(arena, room.hostcalls, sizeof(*out->hostcalls));
	return arena->failed ? -ENOMEM : 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The group of a sample without a label, if it has one, is the mapping's. */
static int set_texts(struct merge *merge, struct recording_sample *sample)
{
	const char *module = totals_module(merge->in, sample);
	const struct merge_named *group = merge_group(merge, module);
	const char *instance = merge_instance(merge, module, sample->instance);

	if (group == NULL || instance == NULL)
		return -ENOMEM;
	sample->module = group->shown;
	sample->instance = instance;
	sample->thread_name = merge_text(merge, sample->thread_name);
	if (sample->thread_name == NULL)
		return -ENOMEM;
	return merge->is_ours && merge->in->group_count == 0 ? merge_uncounted(merge, group, sample)
							     : 0;
}

static int add_sample(struct merge *merge, const struct recording_sample *from)
{
	struct recording_sample *to = &merge->out->samples[merge->out->sample_count++];

	*to = *from;
	to->locations = arena_alloc(&merge->arena, from->location_count, sizeof(*to->locations));
	to->labels = merge_labels(merge, from->labels, from->label_count);
	if (to->locations == NULL || to->labels == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < from->location_count; i++)
		to->locations[i] = merge->locations_of[from->locations[i] - merge->in->locations];
	to->process = merge->process_of[from->process];
	to->time_ns += merge->offset_ns;
	return set_texts(merge, to);
}

static int compare_samples(const void *a, const void *b)
{
	const struct recording_sample *left = a, *right = b;

	return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static int add_input(struct merge *merge)
{
	const struct recording *in = merge->in;
	int error = -ENOMEM;

	merge->process_of = calloc(in->process_count + 1, sizeof(*merge->process_of));
	merge->mapping_of = calloc(in->mapping_count + 1, sizeof(struct recording_mapping *));
	merge->locations_of = calloc(in->location_count + 1, sizeof(struct recording_location *));
	if (merge->process_of != NULL && merge->mapping_of != NULL && merge->locations_of != NULL)
		error = merge_processes(merge);
	if (error == 0)
		error = merge_modules(merge);
	if (error == 0)
		error = merge_tables(merge);
	for (size_t i = 0; error == 0 && i < in->sample_count; i++)
		error = add_sample(merge, &in->samples[i]);
	if (error == 0)
		error = merge_groups(merge);
	if (error == 0)
		error = merge_stats(merge);
	if (error == 0)
		error = merge_marks(merge);
	free(merge->process_of);
	free(merge->mapping_of);
	free(merge->locations_of);
	return error;
}

/* The earliest start that is known. */
static uint64_t first_start(struct recording *const *list, size_t count)
{
	uint64_t first = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i]->time_unix_ns != 0 && (first == 0 || list[i]->time_unix_ns < first))
			first = list[i]->time_unix_ns;
	}
	return first;
}

/* What is of the file rather than of processes. */
static void add_scalars(struct merge *merge)
{
	const struct recording *in = merge->in;
	struct recording *out = merge->out;

	out->is_ours |= in->is_ours;
	out->is_torn |= in->is_torn;
	out->has_ended &= in->has_ended;
	out->own_cpu_ns += in->own_cpu_ns;
	out->process_cpu_ns += in->process_cpu_ns;
	if (merge->offset_ns + in->duration_ns > out->duration_ns)
		out->duration_ns = merge->offset_ns + in->duration_ns;
}

static int add_all(struct merge *merge, struct recording *const *list, size_t count)
{
	struct recording *out = merge->out;
	int error = 0;

	out->has_ended = true;
	out->time_unix_ns = first_start(list, count);
	out->filter = merge_text(merge, list[0]->filter);
	for (size_t i = 0; i < count; i++)
		merge->is_ours |= list[i]->is_ours;
	for (size_t i = 0; error == 0 && i < count; i++) {
		uint64_t start = list[i]->time_unix_ns;

		merge->in = list[i];
		merge->offset_ns = start != 0 ? start - out->time_unix_ns : 0;
		if (merge->offset_ns > OFFSET_MAX_NS)
			merge->offset_ns = 0;
		add_scalars(merge);
		error = add_input(merge);
	}
	if (error == 0)
		error = merge_summary(merge);
	if (error == 0 && out->sample_count != 0)
		qsort(out->samples, out->sample_count, sizeof(*out->samples), compare_samples);
	return error;
}

static int set_path(struct merge *merge, struct recording *const *list, size_t count)
{
	char *path = NULL;

	if (count == 1)
		path = strdup(list[0]->path);
	else if (asprintf(&path, "%s and %zu more", list[0]->path, count - 1) < 0)
		path = NULL;
	merge->out->path = path != NULL ? merge_text(merge, path) : NULL;
	free(path);
	return merge->out->path != NULL && merge->out->filter != NULL && !merge->arena.failed
		       ? 0
		       : -ENOMEM;
}

static void free_scratch(struct merge *merge)
{
	struct pairs *tables[] = {
		&merge->identities, &merge->function_names, &merge->function_places,
		&merge->functions,  &merge->lines,	    &merge->chains,
		&merge->addresses,  &merge->locations,	    &merge->group_rows,
		&merge->stats,	    &merge->processes,	    &merge->lives,
		&merge->names,	    &merge->hostcalls,	    &merge->makers,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		pairs_free(tables[i]);
	merge_naming_free(&merge->modules);
	merge_naming_free(&merge->groups);
	names_free(&merge->texts);
	free(merge->kept);
	free(merge->canonical);
	free(merge->group_of);
	free(merge->pieces);
	free(merge->made);
}

struct recording *recording_merge(struct recording *const *list, size_t count)
{
	struct merge merge = { .arena = { .limit = MEMORY_MAX } };
	struct arena *arena = calloc(1, sizeof(*arena));
	int error = arena != NULL ? make_tables(&merge, list, count) : -ENOMEM;

	if (error == 0)
		error = add_all(&merge, list, count);
	if (error == 0)
		error = set_path(&merge, list, count);
	free_scratch(&merge);
	if (error != 0) {
		arena_free(&merge.arena);
		free(arena);
		errno = -error;
		return NULL;
	}
	*arena = merge.arena;
	merge.out->memory = arena;
	return merge.out;
}
