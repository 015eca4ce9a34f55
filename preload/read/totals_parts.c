/* SPDX-License-Identifier: MIT */
/* totals_parts.c - sums by module, label or thread. Threads: one at a time. */
#include "preload/read/called.h"
#include "preload/read/rows.h"
#include "preload/read/totals_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 640 };

#define HAS_IDENTITY ((uint64_t)1 << 32)

/* Where one lies that no name tells apart from others of its name. */
struct part_key {
	const char *name, *identity;
	uint64_t number;
};

/* The module's own name: a group's may tell the labels of one from those of another. */
static const char *name_of_module(const struct recording *recording, const struct totals_row *group)
{
	for (size_t i = 0; group->identity[0] != '\0' && i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];

		if (strcmp(mapping->identity, group->identity) == 0 && mapping->name[0] != '\0')
			return mapping->name;
	}
	return group->module;
}

/* Index of the part with KEY, made if need be; TOTALS_NONE without memory. */
static uint32_t find_part(struct totals *totals, const struct part_key *key)
{
	struct totals_private *own = totals->own;
	bool has_identity = key->identity[0] != '\0';
	uint32_t name = names_id(&own->names, key->name);
	uint32_t identity = names_id(&own->names, key->identity), id;

	if (name == NAMES_NONE || identity == NAMES_NONE)
		return TOTALS_NONE;
	id = pairs_id(&own->parts, has_identity ? HAS_IDENTITY | identity : name, key->number);
	if (id == PAIRS_NONE || id < totals->part_count)
		return id;
	if (rows_reserve(&totals->parts, &own->part_room, id, sizeof(*totals->parts)) != 0)
		return TOTALS_NONE;
	totals->parts[id] = (struct totals_row){
		.module = own->names.texts[name],
		.identity = own->names.texts[identity],
		.group = TOTALS_NONE,
		.hottest = TOTALS_NONE,
	};
	totals->part_count = id + 1;
	return id;
}

/* `worker (4243)`: names of threads are not unique. */
static uint32_t thread_part(struct totals *totals, const struct recording *recording,
			    const struct recording_sample *sample)
{
	const struct recording_process *process = recording_process(recording, sample);
	char name[NAME_SIZE] = "(no thread)";
	size_t used;
	const char *space = sample->thread_name[0] != '\0' ? " " : "";

	if (sample->thread_id != 0)
		snprintf(name, sizeof(name), "%.500s%s(%" PRIu64 ")", sample->thread_name, space,
			 sample->thread_id);
	else if (sample->thread_name[0] != '\0')
		snprintf(name, sizeof(name), "%.500s", sample->thread_name);
	used = strlen(name);
	if (recording->process_count > 1)
		snprintf(name + used, sizeof(name) - used, " of %.60s[%" PRIu64 "]",
			 process->program, process->pid);
	return find_part(totals, &(struct part_key){ name, "", sample->process });
}

static uint32_t label_part(struct totals *totals, const struct recording_label *labels,
			   size_t count)
{
	const char *value = called_label(labels, count, totals->label_key);
	char none[NAME_SIZE];

	snprintf(none, sizeof(none), "(no %.200s)", totals->label_key);
	return find_part(totals, &(struct part_key){ value != NULL ? value : none, "", 0 });
}

static uint32_t module_part(struct totals *totals, const struct recording *recording,
			    uint32_t group)
{
	const struct totals_row *row = &totals->groups[group];

	return find_part(totals,
			 &(struct part_key){ name_of_module(recording, row), row->identity, 0 });
}

static uint32_t part_of(struct totals *totals, const struct recording *recording,
			const struct recording_sample *sample, uint32_t group)
{
	switch (totals->by) {
	case TOTALS_BY_MODULE:
		return module_part(totals, recording, group);
	case TOTALS_BY_LABEL:
		return label_part(totals, sample->labels, sample->label_count);
	case TOTALS_BY_THREAD:
		return thread_part(totals, recording, sample);
	default:
		return TOTALS_NONE;
	}
}

int totals_count_part(struct totals *totals, const struct recording *recording,
		      const struct recording_sample *sample, const struct totals_place *place,
		      uint32_t *part)
{
	struct totals_private *own = totals->own;
	uint32_t known = own->part_instances.count;

	*part = part_of(totals, recording, sample, place->group);
	if (*part == TOTALS_NONE)
		return totals->by == TOTALS_BY_NOTHING ? 0 : -ENOMEM;
	totals_see(&totals->parts[*part], sample);
	if (place->instance == TOTALS_NONE)
		return 0;
	if (pairs_id(&own->part_instances, *part, place->instance) == PAIRS_NONE)
		return -ENOMEM;
	totals->parts[*part].instances_sampled += own->part_instances.count - known;
	return 0;
}

int totals_count_part_group(struct totals *totals, const struct recording *recording,
			    const struct recording_group *group, uint32_t id)
{
	uint32_t part;

	if (totals->by != TOTALS_BY_MODULE && totals->by != TOTALS_BY_LABEL)
		return 0;
	part = totals->by == TOTALS_BY_MODULE
		       ? module_part(totals, recording, id)
		       : label_part(totals, group->labels, group->label_count);
	if (part == TOTALS_NONE)
		return -ENOMEM;
	totals->parts[part].instances_created += group->instances_created;
	return 0;
}
