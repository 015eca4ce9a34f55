/* SPDX-License-Identifier: MIT */
/* filter_settle.c - groups, counters and what lies in time follow the samples that are left.
 * Threads: one at a time. */
#include "preload/read/filter_private.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct summing {
	struct names names;
	struct pairs groups, instances;
};

/* Groups by the name of their module, which is one group's alone. */
static int learn_groups(struct summing *summing, const struct recording *recording)
{
	for (size_t i = 0; i < recording->group_count; i++) {
		uint32_t name = names_id(&summing->names, recording->groups[i].module);

		if (name == NAMES_NONE || pairs_id(&summing->groups, name, 0) == PAIRS_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Counts SAMPLE's instance for SUM, if it was not there before. 0 or -ENOMEM. */
static int add_instance(struct summing *summing, const struct recording_sample *sample,
			uint32_t group, struct filter_sum *sum)
{
	uint32_t known = summing->instances.count, name, id;

	if (!totals_is_named(sample->instance))
		return 0;
	name = names_id(&summing->names, sample->instance);
	if (name == NAMES_NONE)
		return -ENOMEM;
	id = pairs_id(&summing->instances, (uint64_t)group << 32 | name, sample->process);
	sum->instances += id == known;
	return id == PAIRS_NONE ? -ENOMEM : 0;
}

static int add_sample(struct summing *summing, const struct recording *recording,
		      const struct recording_sample *sample, struct filter_sums *sums)
{
	uint32_t name = names_find(&summing->names, totals_module(recording, sample));
	uint32_t group = name == NAMES_NONE ? PAIRS_NONE : pairs_find(&summing->groups, name, 0);

	sums->samples += sample->count;
	if (sample->is_truncated)
		sums->truncated += sample->count;
	if (sample->location_count == 0 || sample->locations[0]->line_count == 0 ||
	    sample->locations[0]->kind == FRAME_JIT)
		sums->unnamed += sample->count;
	if (group == PAIRS_NONE)
		return 0;
	sums->list[group].samples += sample->count;
	sums->list[group].cpu_ns += sample->cpu_ns;
	sums->list[group].wall_ns += sample->wall_ns;
	sums->list[group].by_state[sample->state] += sample->count;
	return add_instance(summing, sample, group, &sums->list[group]);
}

int filter_sum(const struct recording *recording, struct filter_sums *sums)
{
	struct summing summing = { 0 };
	int error = learn_groups(&summing, recording);

	*sums = (struct filter_sums){ .list = calloc(recording->group_count + 1,
						     sizeof(*sums->list)) };
	if (sums->list == NULL)
		error = -ENOMEM;
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++)
		error = add_sample(&summing, recording, &recording->samples[i], sums);
	names_free(&summing.names);
	pairs_free(&summing.groups);
	pairs_free(&summing.instances);
	return error;
}

/* ---- following ------------------------------------------------------------------------------- */

static bool is_whole(const struct filter_sum *before, const struct filter_sum *now)
{
	return before->samples == now->samples && before->cpu_ns == now->cpu_ns &&
	       before->wall_ns == now->wall_ns;
}

/* Looks at waiting threads are counted for the group only: as many as of the waiting time. */
static uint64_t looks(const struct recording_group *group, const struct filter_sum *before,
		      const struct filter_sum *now)
{
	uint64_t count = group->samples_by_state[STATE_WAITING];

	if (before->wall_ns == 0)
		return 0;
	return (uint64_t)((double)count * ((double)now->wall_ns / (double)before->wall_ns) + 0.5);
}

static void settle_group(struct recording_group *group, const struct filter_sum *before,
			 const struct filter_sum *now)
{
	uint64_t waits = looks(group, before, now);

	group->samples = now->samples;
	group->cpu_ns = now->cpu_ns;
	group->wall_ns = now->wall_ns;
	memcpy(group->samples_by_state, now->by_state, sizeof(group->samples_by_state));
	group->samples_by_state[STATE_WAITING] = waits;
	/* How many there were in all is not known of a part. */
	group->instances_created = group->instances_sampled = now->instances;
}

/* Calls are counted for a group: of a part of one their number is not known. */
static void settle_hostcalls(struct recording *recording, const struct filter_sums *before,
			     const struct filter_sums *now)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->hostcall_count; i++) {
		const struct recording_hostcall *call = &recording->hostcalls[i];
		bool keeps = call->module[0] == '\0' && now->samples == before->samples;

		for (size_t g = 0; g < recording->group_count; g++) {
			if (strcmp(recording->groups[g].module, call->module) == 0)
				keeps = is_whole(&before->list[g], &now->list[g]);
		}
		if (keeps)
			recording->hostcalls[count++] = *call;
	}
	recording->hostcall_count = count;
}

static void settle_groups(struct recording *recording, const struct filter_sums *before,
			  const struct filter_sums *now)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->group_count; i++) {
		const struct filter_sum *left = &now->list[i];

		if (left->samples == 0 && left->cpu_ns == 0 && left->wall_ns == 0)
			continue;
		if (!is_whole(&before->list[i], left))
			settle_group(&recording->groups[i], &before->list[i], left);
		recording->groups[count++] = recording->groups[i];
	}
	recording->group_count = count;
}

static void set_stat(struct recording *recording, const char *name, uint64_t value)
{
	for (size_t i = 0; i < recording->stat_count; i++) {
		if (strcmp(recording->stats[i].name, name) == 0 &&
		    recording->stats[i].value > value)
			recording->stats[i].value = value;
	}
}

static void settle_stats(struct recording *recording, const struct filter_sums *now)
{
	uint64_t waits = 0;

	for (size_t i = 0; i < recording->group_count; i++)
		waits += recording->groups[i].samples_by_state[STATE_WAITING];
	set_stat(recording, "samples", now->samples);
	set_stat(recording, "unnamed", now->unnamed);
	set_stat(recording, "truncated", now->truncated);
	set_stat(recording, "waits", waits);
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool overlaps(const struct filter *filter, uint64_t start, uint64_t end)
{
	return !filter->has_time || (start < filter->to_ns && end >= filter->from_ns);
}

/* A host call is a thread's, and of no module in particular. */
static void settle_intervals(const struct filter *filter, struct recording *recording)
{
	bool is_of_some = filter->module != NULL || filter->instance != NULL ||
			  filter->thread != NULL || filter->label_count != 0;
	size_t count = 0;

	for (size_t i = 0; i < recording->interval_count; i++) {
		const struct recording_interval *interval = &recording->intervals[i];

		if (!is_of_some && overlaps(filter, interval->start_ns,
					    interval->start_ns + interval->duration_ns))
			recording->intervals[count++] = *interval;
	}
	recording->interval_count = count;
}

/* Lives of instances that still have a sample. */
static int settle_lives(struct recording *recording)
{
	struct names names = { 0 };
	struct pairs seen = { 0 };
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; error == 0 && i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		uint32_t name = names_id(&names, sample->instance);

		if (name == NAMES_NONE || pairs_id(&seen, name, sample->process) == PAIRS_NONE)
			error = -ENOMEM;
	}
	for (size_t i = 0; error == 0 && i < recording->life_count; i++) {
		const struct recording_life *life = &recording->lives[i];
		uint32_t name = names_find(&names, life->instance);

		if (name != NAMES_NONE && pairs_find(&seen, name, life->process) != PAIRS_NONE)
			recording->lives[count++] = *life;
	}
	if (error == 0)
		recording->life_count = count;
	names_free(&names);
	pairs_free(&seen);
	return error;
}

/* CPU time per second is that of the time asked for. */
static void settle_time(const struct filter *filter, struct recording *recording)
{
	for (size_t i = 0; i < recording->process_count; i++) {
		struct recording_process *process = &recording->processes[i];
		uint64_t base = recording->time_unix_ns;
		uint64_t start = process->time_unix_ns > base ? process->time_unix_ns - base : 0;
		uint64_t end = start + process->duration_ns;

		if (start < filter->from_ns)
			start = filter->from_ns;
		if (end > filter->to_ns)
			end = filter->to_ns;
		process->time_unix_ns = base + start;
		process->duration_ns = end > start ? end - start : 0;
	}
}

int filter_settle(const struct filter *filter, struct recording *recording,
		  const struct filter_sums *before)
{
	struct filter_sums now;
	int error = filter_sum(recording, &now);

	if (error == 0) {
		bool is_less = now.samples != before->samples;

		settle_hostcalls(recording, before, &now);
		settle_groups(recording, before, &now);
		if (is_less)
			settle_stats(recording, &now);
		settle_intervals(filter, recording);
		if (filter->has_time)
			settle_time(filter, recording);
		error = settle_lives(recording);
	}
	free(now.list);
	return error;
}
