/* SPDX-License-Identifier: MIT */
/* shared.c - builds the rows of a shared file, and puts them in order. Threads: one at a time. */
#include "preload/share/shared.h"

#include "preload/read/called.h"
#include "preload/read/totals.h"
#include "preload/share/shared_frames.h"
#include "preload/share/shared_modules.h"
#include "preload/share/sharedname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As many bytes as rows of a large recording take; more is damage. */
#define MEMORY_MAX ((size_t)2 << 30)

/* ---- labels ---------------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b)
{
	const struct recording_label *left = a, *right = b;
	int order = strcmp(left->key, right->key);

	return order != 0 ? order : strcmp(left->value, right->value);
}

static int compare_label_lists(const struct recording_label *left, size_t left_count,
			       const struct recording_label *right, size_t right_count)
{
	for (size_t i = 0; i < left_count && i < right_count; i++) {
		int order = compare_labels(&left[i], &right[i]);

		if (order != 0)
			return order;
	}
	return left_count < right_count ? -1 : left_count > right_count;
}

/* Those that may be told, ascending, each key once. */
static int set_labels(const struct sharing *sharing, const struct recording_sample *from,
		      struct shared_sample *sample)
{
	struct recording_label *labels =
		arena_alloc(&sharing->shared->arena, from->label_count + 1, sizeof(*labels));
	size_t count = 0;

	if (labels == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < from->label_count; i++) {
		if (selection_keeps(sharing->selection, from->labels[i].key) &&
		    called_label(labels, count, from->labels[i].key) == NULL)
			labels[count++] = from->labels[i];
	}
	if (count > 1)
		qsort(labels, count, sizeof(*labels), compare_labels);
	sample->labels = labels;
	sample->label_count = count;
	return 0;
}

/* What all samples of a module have in common. */
static int intersect_labels(struct shared *shared, struct shared_module *module,
			    const struct shared_sample *sample)
{
	struct recording_label *labels;
	size_t count = 0;

	if (module->labels == NULL) {
		module->labels = sample->labels;
		module->label_count = sample->label_count;
		return 0;
	}
	if (compare_label_lists(module->labels, module->label_count, sample->labels,
				sample->label_count) == 0)
		return 0;
	labels = arena_alloc(&shared->arena, module->label_count + 1, sizeof(*labels));
	if (labels == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < module->label_count; i++) {
		const char *value =
			called_label(sample->labels, sample->label_count, module->labels[i].key);

		if (value != NULL && strcmp(value, module->labels[i].value) == 0)
			labels[count++] = module->labels[i];
	}
	module->labels = labels;
	module->label_count = count;
	return 0;
}

/* ---- instances ------------------------------------------------------------------------------- */

struct member {
	uint32_t module, process;
	uint64_t loading, number;
	size_t sample;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->loading != right->loading)
		return left->loading < right->loading ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return 0;
}

static void number_members(struct shared *shared, const struct member *members, size_t count)
{
	uint32_t number = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || members[i].module != members[i - 1].module)
			number = 1;
		else if (compare_members(&members[i], &members[i - 1]) != 0)
			number++;
		shared->samples_list[members[i].sample].instance = number;
		shared->modules[members[i].module].instance_count = number;
	}
}

/* FROM: the sample of the recording that each of the shared ones was made of. */
static int number_instances(struct shared *shared, const struct recording_sample *const *from)
{
	struct member *members = calloc(shared->sample_count + 1, sizeof(*members));
	size_t count = 0;

	if (members == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < shared->sample_count; i++) {
		struct shared_sample *sample = &shared->samples_list[i];
		struct member member = { sample->module, from[i]->process, 0, 0, i };

		sample->certainty = (uint8_t)totals_certainty(from[i]->instance);
		if (from[i]->instance[0] == '\0')
			continue;
		if (sharedname_instance(from[i]->instance, &member.loading, &member.number))
			members[count++] = member;
		else
			sample->instance = SHARED_UNNAMED;
	}
	if (count != 0)
		qsort(members, count, sizeof(*members), compare_members);
	number_members(shared, members, count);
	free(members);
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static int compare_samples(const void *a, const void *b)
{
	const struct shared_sample *left = a, *right = b;

	if (left->tick != right->tick)
		return left->tick < right->tick ? -1 : 1;
	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	if (left->instance != right->instance)
		return left->instance < right->instance ? -1 : 1;
	if (left->state != right->state)
		return left->state < right->state ? -1 : 1;
	if (left->certainty != right->certainty)
		return left->certainty < right->certainty ? -1 : 1;
	if (left->is_truncated != right->is_truncated)
		return left->is_truncated ? 1 : -1;
	if (left->location_count != right->location_count)
		return left->location_count < right->location_count ? -1 : 1;
	for (size_t i = 0; i < left->location_count; i++) {
		if (left->locations[i] != right->locations[i])
			return left->locations[i] < right->locations[i] ? -1 : 1;
	}
	return compare_label_lists(left->labels, left->label_count, right->labels,
				   right->label_count);
}

static uint64_t first_time(const struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < recording->sample_count; i++) {
		if (sharing->is_taken[i] && recording->samples[i].time_ns < first)
			first = recording->samples[i].time_ns;
	}
	return first;
}

/* FROM as a row of the shared file, without instance. */
static int make_sample(const struct sharing *sharing, const struct recording_sample *from,
		       uint64_t first_ns, struct shared_sample *sample)
{
	struct shared *shared = sharing->shared;
	int error = set_labels(sharing, from, sample);

	if (error != 0)
		return error;
	sample->module = sharing->sample_modules[from - sharing->recording->samples];
	sample->state = from->state;
	sample->is_truncated = from->is_truncated;
	sample->count = from->count;
	sample->cpu_ns = from->cpu_ns;
	sample->wall_ns = from->wall_ns;
	shared->has_wall |= from->wall_ns != 0;
	if (shared->has_time)
		sample->tick = (from->time_ns - first_ns) / SHARED_TICK_NS;
	return shared_frames_stack(sharing, from, sample);
}

static void add_up(struct shared *shared, const struct shared_sample *sample)
{
	struct shared_module *module = &shared->modules[sample->module];

	module->samples += sample->count;
	module->cpu_ns += sample->cpu_ns;
	module->wall_ns += sample->wall_ns;
	module->samples_by_state[sample->state] += sample->count;
	shared->samples += sample->count;
	if (sample->is_truncated)
		shared->truncated += sample->count;
	if (shared_frames_is_unnamed(shared, sample))
		shared->unnamed += sample->count;
}

/* Equal ones become one. */
static void merge_samples(struct shared *shared)
{
	struct shared_sample *list = shared->samples_list;
	size_t count = 0;

	if (shared->sample_count != 0)
		qsort(list, shared->sample_count, sizeof(*list), compare_samples);
	for (size_t i = 0; i < shared->sample_count; i++) {
		if (count == 0 || compare_samples(&list[count - 1], &list[i]) != 0) {
			list[count++] = list[i];
			continue;
		}
		list[count - 1].count += list[i].count;
		list[count - 1].cpu_ns += list[i].cpu_ns;
		list[count - 1].wall_ns += list[i].wall_ns;
	}
	shared->sample_count = count;
}

static int make_samples(struct sharing *sharing, const struct recording_sample **from)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;
	uint64_t first_ns = first_time(sharing);
	int error = 0;

	for (size_t i = 0; error == 0 && i < recording->sample_count; i++) {
		if (!sharing->is_taken[i])
			continue;
		from[shared->sample_count] = &recording->samples[i];
		error = make_sample(sharing, &recording->samples[i], first_ns,
				    &shared->samples_list[shared->sample_count++]);
	}
	if (error == 0)
		error = number_instances(shared, from);
	return error;
}

static int sum_up(struct shared *shared)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < shared->sample_count; i++) {
		const struct shared_sample *sample = &shared->samples_list[i];
		struct shared_module *module = &shared->modules[sample->module];

		error = intersect_labels(shared, module, sample);
		add_up(shared, sample);
	}
	return error;
}

/* The last row stands for up to a second, and nothing is told of the time after it. */
static void set_duration(struct shared *shared, const struct recording *recording,
			 uint64_t first_ns)
{
	uint64_t last = 0, ticks = 0;

	if (!shared->has_time || shared->sample_count == 0)
		return;
	last = shared->samples_list[shared->sample_count - 1].tick;
	if (recording->duration_ns > first_ns)
		ticks = (recording->duration_ns - first_ns + SHARED_TICK_NS - 1) / SHARED_TICK_NS;
	if (ticks <= last)
		ticks = last + 1;
	if (ticks > last + 10)
		ticks = last + 10;
	shared->duration_ns = ticks * SHARED_TICK_NS;
}

static int build(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;
	const struct recording_sample **from;
	int error = shared_modules_list(sharing);

	if (error == 0)
		error = shared_frames_list(sharing);
	if (error != 0)
		return error;
	from = arena_alloc(&shared->arena, recording->sample_count + 1, sizeof(*from));
	shared->samples_list = arena_alloc(&shared->arena, recording->sample_count + 1,
					   sizeof(*shared->samples_list));
	if (shared->arena.failed)
		return -ENOMEM;
	error = make_samples(sharing, from);
	if (error != 0)
		return error;
	merge_samples(shared);
	set_duration(shared, recording, first_time(sharing));
	return sum_up(shared);
}

int shared_build(struct shared *shared, const struct recording *recording,
		 const struct selection *selection, const struct shared_options *options)
{
	struct sharing sharing = {
		.shared = shared,
		.recording = recording,
		.selection = selection,
	};
	int error;

	*shared = (struct shared){
		.arena = { .limit = MEMORY_MAX },
		.has_time = options->has_time,
		.has_debug = options->has_debug,
		.period_ns = recording->period_ns,
		.requested_hz = recording->requested_hz,
	};
	/* Host frames are one here, so `full` says no more than the default. */
	shared->stacks = strcmp(recording->stacks, "guest") == 0 ? "guest" : "hostcalls";
	error = build(&sharing);
	return shared->arena.failed ? -ENOMEM : error;
}

void shared_free(struct shared *shared)
{
	arena_free(&shared->arena);
}
