/* SPDX-License-Identifier: MIT */
/* shared_modules.c - finds the modules that taken samples are of. Threads: one at a time. */
#include "preload/share/shared_modules.h"

#include "preload/read/called.h"
#include "preload/share/sharedname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ----------------------------------------------------------------------------------- */

/* The same module under both names, whose bytes have IDENTITY? */
static bool is_called(const char *left, const char *right, const char *identity)
{
	size_t length = sharedname_base(left, identity);

	return length == sharedname_base(right, identity) && memcmp(left, right, length) == 0;
}

static bool is_of_sample(const struct recording_mapping *mapping,
			 const struct recording_sample *sample)
{
	return mapping != NULL && is_called(mapping->name, sample->module, mapping->identity);
}

/* The mapping of the module that SAMPLE is counted for, of the innermost such frame; NULL: none. */
static const struct recording_mapping *mapping_in_stack(const struct recording_sample *sample)
{
	for (size_t i = 0; i < sample->location_count; i++) {
		const struct recording_location *location = sample->locations[i];

		if (location->kind != FRAME_HOST && is_of_sample(location->mapping, sample))
			return location->mapping;
	}
	return NULL;
}

/*
 * A host that is about to call the tenant's guest, on behalf of another guest, works for the
 * tenant; but such a sample is there only because of the other.
 */
static bool is_told(const struct recording_sample *sample)
{
	return mapping_in_stack(sample) != NULL || sample->state == STATE_WAITING;
}

/*
 * The mapping of the module that SAMPLE is counted for: by its stack, or where no frame of it is in
 * there, as in calls that are parked, by its name. NULL: there is none.
 */
static const struct recording_mapping *mapping_of(const struct recording *recording,
						  const struct recording_sample *sample)
{
	const struct recording_mapping *mapping = mapping_in_stack(sample);

	for (size_t i = 0; mapping == NULL && i < recording->mapping_count; i++) {
		if (is_of_sample(&recording->mappings[i], sample))
			mapping = &recording->mappings[i];
	}
	return mapping;
}

static uint32_t find_module(const struct shared *shared, const char *name, const char *identity)
{
	for (size_t i = 0; i < shared->module_count; i++) {
		if (strcmp(shared->modules[i].name, name) == 0 &&
		    strcmp(shared->modules[i].identity, identity) == 0)
			return (uint32_t)i;
	}
	return SHARED_NONE;
}

static int add_module(struct sharing *sharing, const struct recording_sample *sample,
		      const struct recording_mapping *mapping)
{
	struct shared *shared = sharing->shared;
	const char *identity = mapping != NULL ? mapping->identity : "";
	const char *name = sharedname_module(&shared->arena, sample->module, identity);

	if (name == NULL)
		return -ENOMEM;
	if (find_module(shared, name, identity) != SHARED_NONE)
		return 0;
	shared->modules[shared->module_count++] = (struct shared_module){
		.name = name,
		.shown = sample->module,
		.identity = identity,
		.mapping = mapping,
	};
	return 0;
}

static int compare_modules(const void *a, const void *b)
{
	const struct shared_module *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	return order != 0 ? order : strcmp(left->identity, right->identity);
}

/* There are no more modules than that. */
static size_t count_room(const struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	size_t count = 0;

	for (size_t i = 0; i < recording->sample_count; i++)
		count += sharing->is_taken[i];
	return count < recording->mapping_count + recording->group_count + 1
		       ? count
		       : recording->mapping_count + recording->group_count + 1;
}

static int find_all(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	const struct recording_mapping *mapping = NULL;
	struct shared *shared = sharing->shared;
	size_t room = count_room(sharing);
	const char *shown = NULL;
	int error = 0;

	shared->modules = arena_alloc(&shared->arena, room + 1, sizeof(*shared->modules));
	if (shared->modules == NULL)
		return -ENOMEM;
	for (size_t i = 0; error == 0 && i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		const struct recording_mapping *its =
			sharing->is_taken[i] ? mapping_of(recording, sample) : NULL;

		/* The samples of one module come in runs. */
		if (!sharing->is_taken[i] || (shown == sample->module && its == mapping))
			continue;
		shown = sample->module;
		mapping = its;
		if (shared->module_count < room)
			error = add_module(sharing, sample, mapping);
	}
	if (shared->module_count != 0)
		qsort(shared->modules, shared->module_count, sizeof(*shared->modules),
		      compare_modules);
	return error;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void place_mappings(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;

	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];

		sharing->mapping_modules[i] = SHARED_NONE;
		for (size_t j = 0; j < shared->module_count; j++) {
			struct shared_module *module = &shared->modules[j];

			if (strcmp(mapping->identity, module->identity) != 0)
				continue;
			if (mapping->layout != NULL && module->layout == NULL)
				module->layout = mapping;
			if (mapping->debug != NULL && module->debug == NULL)
				module->debug = mapping;
			if (is_called(mapping->name, module->shown, mapping->identity))
				sharing->mapping_modules[i] = (uint32_t)j;
		}
	}
}

static int place_samples(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;
	uint32_t last = SHARED_NONE;

	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		const struct recording_mapping *mapping;
		const char *name;

		if (!sharing->is_taken[i])
			continue;
		mapping = mapping_of(recording, sample);
		last = shared_modules_of(sharing, mapping);
		if (mapping == NULL) {
			name = sharedname_module(&shared->arena, sample->module, "");
			if (name == NULL)
				return -ENOMEM;
			last = find_module(shared, name, "");
		}
		/* Beyond the room there are none; nor is such a sample told. */
		sharing->is_taken[i] = last != SHARED_NONE;
		sharing->sample_modules[i] = last;
	}
	return 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Is GROUP, and so are all its counters, the tenant's? */
static bool takes_group(const struct sharing *sharing, const struct recording_group *group)
{
	const struct selection *selection = sharing->selection;
	const char *value;

	if (selection->by == SELECTION_ALL)
		return true;
	if (selection->by == SELECTION_MODULE)
		return strcmp(group->module, selection->value) == 0;
	if (selection->by != SELECTION_LABEL)
		return false;
	value = called_label(group->labels, group->label_count, selection->key);
	if (value == NULL || strcmp(value, selection->value) != 0)
		return false;
	for (size_t i = 0; i < sharing->recording->sample_count; i++) {
		const struct recording_sample *sample = &sharing->recording->samples[i];

		if (strcmp(sample->module, group->module) == 0 &&
		    !selection_takes(selection, sample))
			return false;
	}
	return true;
}

static void add_counters(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;
	uint64_t counted = 0;

	for (size_t i = 0; i < recording->group_count; i++) {
		const struct recording_group *group = &recording->groups[i];

		for (size_t j = 0; j < shared->module_count; j++) {
			struct shared_module *module = &shared->modules[j];

			if (strcmp(group->identity, module->identity) != 0 ||
			    !is_called(group->module, module->shown, module->identity) ||
			    !takes_group(sharing, group))
				continue;
			module->instances_created += group->instances_created;
			module->instances_sampled += group->instances_sampled;
			counted += group->samples;
		}
	}
	shared->lost = counted;
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		uint64_t count = selection_takes(sharing->selection, sample) ? sample->count : 0;

		shared->lost -= count < shared->lost ? count : shared->lost;
	}
}

int shared_modules_list(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct arena *arena = &sharing->shared->arena;
	int error;

	sharing->is_taken =
		arena_alloc(arena, recording->sample_count + 1, sizeof(*sharing->is_taken));
	sharing->sample_modules =
		arena_alloc(arena, recording->sample_count + 1, sizeof(*sharing->sample_modules));
	sharing->mapping_modules =
		arena_alloc(arena, recording->mapping_count + 1, sizeof(*sharing->mapping_modules));
	if (arena->failed)
		return -ENOMEM;
	for (size_t i = 0; i < recording->sample_count; i++)
		sharing->is_taken[i] =
			selection_takes(sharing->selection, &recording->samples[i]) &&
			is_told(&recording->samples[i]);
	error = find_all(sharing);
	if (error != 0)
		return error;
	place_mappings(sharing);
	error = place_samples(sharing);
	if (error == 0)
		add_counters(sharing);
	return error;
}
