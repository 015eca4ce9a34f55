/* SPDX-License-Identifier: MIT */
/* merge_counts.c - exact counters of several recordings, and what lies in time. Threads: one at a
 * time. */
#include "preload/read/merge_private.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <string.h>

/*
 * Instances that were not made yet when another recording of the same process counted: each counts
 * from the process's start. (A recording that is merged already does not say whose they are.)
 */
static int count_made(struct merge *merge, struct recording_group *to,
		      const struct recording_group *from)
{
	uint64_t before = 0;

	if (merge->in->process_count == 1) {
		uint32_t id = pairs_id(&merge->makers, (uint64_t)(to - merge->out->groups),
				       merge->process_of[0]);

		if (id == PAIRS_NONE ||
		    rows_reserve(&merge->made, &merge->made_room, id, sizeof(*merge->made)) != 0)
			return -ENOMEM;
		before = merge->made[id];
		if (from->instances_created > before)
			merge->made[id] = from->instances_created;
	}
	if (from->instances_created > before)
		to->instances_created += from->instances_created - before;
	/* Of those that live long each recording has samples. */
	to->instances_sampled += from->instances_sampled;
	if (to->instances_created != 0 && to->instances_sampled > to->instances_created)
		to->instances_sampled = to->instances_created;
	return 0;
}

static void add_group(struct recording_group *to, const struct recording_group *from)
{
	to->merged += from->merged;
	to->samples += from->samples;
	to->cpu_ns += from->cpu_ns;
	to->wall_ns += from->wall_ns;
	for (int state = 0; state < STATE_COUNT; state++)
		to->samples_by_state[state] += from->samples_by_state[state];
}

/* The row of GROUP, whose labels are those of FROM (NULL: none). */
static struct recording_group *group_row(struct merge *merge, const struct merge_named *group,
					 const struct recording_group *from)
{
	struct recording *out = merge->out;
	uint32_t id = pairs_id(&merge->group_rows, (uintptr_t)group->shown, 0);

	if (id == PAIRS_NONE)
		return NULL;
	if (id == out->group_count)
		out->groups[out->group_count++] = (struct recording_group){
			.module = group->shown,
			.identity = group->identity,
			.labels = from != NULL
					  ? merge_labels(merge, from->labels, from->label_count)
					  : NULL,
			.label_count = from != NULL ? from->label_count : 0,
		};
	return merge->arena.failed ? NULL : &out->groups[id];
}

int merge_groups(struct merge *merge)
{
	for (size_t i = 0; i < merge->in->group_count; i++) {
		const struct recording_group *from = &merge->in->groups[i];
		const struct merge_named *group = merge_group(merge, from->module);
		struct recording_group *row = group != NULL ? group_row(merge, group, from) : NULL;

		if (row == NULL)
			return -ENOMEM;
		if (count_made(merge, row, from) != 0)
			return -ENOMEM;
		add_group(row, from);
	}
	return 0;
}

int merge_uncounted(struct merge *merge, const struct merge_named *group,
		    const struct recording_sample *sample)
{
	struct recording_group *row = group_row(merge, group, NULL);

	if (row == NULL)
		return -ENOMEM;
	row->samples += sample->count;
	row->cpu_ns += sample->cpu_ns;
	row->wall_ns += sample->wall_ns;
	row->samples_by_state[sample->state] += sample->count;
	return 0;
}

static int add_stat(struct merge *merge, const char *name, uint64_t value)
{
	struct recording *out = merge->out;
	const char *kept = merge_text(merge, name);
	uint32_t id = kept == NULL ? PAIRS_NONE : pairs_id(&merge->stats, (uintptr_t)kept, 0);

	if (id == PAIRS_NONE)
		return -ENOMEM;
	if (id == out->stat_count)
		out->stats[out->stat_count++].name = kept;
	out->stats[id].value += value;
	return 0;
}

/* What our recordings count, of one that counts nothing. */
static int count_samples(struct merge *merge)
{
	uint64_t unnamed = 0, truncated = 0;
	int error;

	for (size_t i = 0; i < merge->in->sample_count; i++) {
		const struct recording_sample *sample = &merge->in->samples[i];

		if (sample->location_count == 0 || sample->locations[0]->line_count == 0)
			unnamed += sample->count;
		truncated += sample->is_truncated ? sample->count : 0;
	}
	error = add_stat(merge, "unnamed", unnamed);
	return error != 0 ? error : add_stat(merge, "truncated", truncated);
}

int merge_stats(struct merge *merge)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < merge->in->stat_count; i++)
		error = add_stat(merge, merge->in->stats[i].name, merge->in->stats[i].value);
	if (error == 0 && merge->is_ours && !merge->in->is_ours)
		error = count_samples(merge);
	return error;
}

/* Another recording of the same process saw the life TO before, or after. */
static void join_life(struct recording_life *to, const struct recording_life *from,
		      uint64_t offset_ns)
{
	if (from->start_ns + offset_ns < to->start_ns)
		to->start_ns = from->start_ns + offset_ns;
	if (from->has_ended && from->end_ns + offset_ns > to->end_ns)
		to->end_ns = from->end_ns + offset_ns;
	to->has_ended |= from->has_ended;
}

static int add_life(struct merge *merge, const struct recording_life *from)
{
	struct recording *out = merge->out;
	const struct merge_named *group = merge_group(merge, from->module);
	const char *instance = merge_instance(merge, from->module, from->instance);
	uint32_t process = merge->process_of[from->process], name, id;

	if (group == NULL || instance == NULL)
		return -ENOMEM;
	name = names_id(&merge->texts, group->shown);
	if (name == NAMES_NONE)
		return -ENOMEM;
	id = pairs_id(&merge->lives, (uintptr_t)instance, (uint64_t)process << 32 | name);
	if (id == PAIRS_NONE)
		return -ENOMEM;
	if (id < out->life_count) {
		join_life(&out->lives[id], from, merge->offset_ns);
		return 0;
	}
	out->lives[out->life_count] = *from;
	out->lives[out->life_count].module = group->shown;
	out->lives[out->life_count].instance = instance;
	out->lives[out->life_count].process = process;
	out->lives[out->life_count].start_ns += merge->offset_ns;
	if (from->has_ended)
		out->lives[out->life_count].end_ns += merge->offset_ns;
	out->life_count++;
	return 0;
}

static int add_hostcall(struct merge *merge, const struct recording_hostcall *from)
{
	struct recording *out = merge->out;
	const char *module = "", *identity = "", *name = merge_text(merge, from->name);
	const struct merge_named *group;
	struct recording_hostcall *to;
	uint32_t id;

	if (from->module[0] != '\0') {
		group = merge_group(merge, from->module);
		if (group == NULL)
			return -ENOMEM;
		module = group->shown;
		identity = group->identity;
	}
	id = name == NULL ? PAIRS_NONE
			  : pairs_id(&merge->hostcalls, (uintptr_t)name, (uintptr_t)module);
	if (id == PAIRS_NONE)
		return -ENOMEM;
	to = &out->hostcalls[id];
	if (id == out->hostcall_count) {
		out->hostcall_count++;
		*to = (struct recording_hostcall){ .name = name,
						   .module = module,
						   .identity = identity };
	}
	to->count += from->count;
	to->total_ns += from->total_ns;
	if (from->longest_ns > to->longest_ns)
		to->longest_ns = from->longest_ns;
	return 0;
}

int merge_marks(struct merge *merge)
{
	struct recording *out = merge->out;
	int error = 0;

	for (size_t i = 0; i < merge->in->interval_count; i++) {
		struct recording_interval *to = &out->intervals[out->interval_count++];

		*to = merge->in->intervals[i];
		to->name = merge_text(merge, to->name);
		to->start_ns += merge->offset_ns;
		to->process = merge->process_of[to->process];
		if (to->name == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; error == 0 && i < merge->in->life_count; i++)
		error = add_life(merge, &merge->in->lives[i]);
	for (size_t i = 0; error == 0 && i < merge->in->hostcall_count; i++)
		error = add_hostcall(merge, &merge->in->hostcalls[i]);
	out->intervals_dropped += merge->in->intervals_dropped;
	return error;
}
