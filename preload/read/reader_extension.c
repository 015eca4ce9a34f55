/* SPDX-License-Identifier: MIT */
/* reader_extension.c - what pprof has no place for: Stats and Group. Threads: any. */
#include "preload/encode/recording.h"
#include "preload/read/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *reading_text(struct reading *reading, const struct pb_field *part)
{
	const char *text =
		part->bytes != NULL ? arena_text(&reading->arena, part->bytes, part->size) : NULL;

	return text != NULL ? text : "";
}

static size_t count_parts(const struct pb_field *field, uint32_t number)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	size_t count = 0;

	while (pb_next(&message, &part))
		count += part.number == number;
	return count;
}

static int read_entry(struct reading *reading, const struct pb_field *field,
		      struct recording_stat *stat)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	stat->name = "";
	while (pb_next(&message, &part)) {
		if (part.number == STATS_ENTRY_NAME)
			stat->name = reading_text(reading, &part);
		else if (part.number == STATS_ENTRY_VALUE)
			stat->value = part.value;
	}
	return message.error;
}

int reading_stats(struct reading *reading)
{
	struct recording *out = reading->out;
	struct pb_reader message = reading_inside(&reading->stats);
	struct pb_field part;
	int error = 0;

	out->stats = arena_alloc(&reading->arena, count_parts(&reading->stats, STATS_ENTRY),
				 sizeof(*out->stats));
	if (out->stats == NULL)
		return -ENOMEM;
	while (error == 0 && pb_next(&message, &part)) {
		if (part.number == STATS_ENTRY)
			error = read_entry(reading, &part, &out->stats[out->stat_count++]);
	}
	if (error == 0)
		error = message.error;
	reading->at = error == 0 ? 0 : (uint64_t)(reading->stats.bytes - reading->bytes);
	return error == 0 ? 0 : reading_fail(reading, "damaged counters");
}

/* The row for (MODULE, IDENTITY), new or one that a later chunk replaces; NULL without memory. */
static struct recording_group *group_row(struct reading *reading, uint64_t module,
					 uint64_t identity)
{
	struct recording *out = reading->out;
	uint32_t id = pairs_id(&reading->groups, module, identity);

	if (id == PAIRS_NONE)
		return NULL;
	if (id == reading->group_room) {
		size_t room = id == 0 ? 64 : (size_t)id * 2;
		struct recording_group *bigger =
			arena_alloc(&reading->arena, room, sizeof(*bigger));

		if (bigger == NULL)
			return NULL;
		if (id != 0)
			memcpy(bigger, out->groups, id * sizeof(*bigger));
		out->groups = bigger;
		reading->group_room = room;
	}
	out->group_count = reading->groups.count;
	return &out->groups[id];
}

static void read_states(struct reading *reading, struct recording_group *group)
{
	size_t count = reading->numbers.count < STATE_COUNT ? reading->numbers.count : STATE_COUNT;

	for (size_t i = 0; i < count; i++)
		group->samples_by_state[i] = reading->numbers.values[i];
}

static int read_group_label(struct reading *reading, const struct pb_field *field)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t key = 0, value = 0;

	while (pb_next(&message, &part)) {
		if (part.number == GROUP_LABEL_KEY)
			key = part.value;
		else if (part.number == GROUP_LABEL_VALUE)
			value = part.value;
	}
	if (message.error == 0)
		reading_add_label(reading, reading_string(reading, key),
				  reading_string(reading, value));
	return message.error;
}

int reading_group(struct reading *reading, const struct pb_field *field)
{
	struct recording_group group = { 0 }, *row;
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t module = 0, identity = 0, into = 0;

	reading->numbers.count = reading->label_count = 0;
	while (pb_next(&message, &part)) {
		if (part.number == GROUP_MODULE)
			module = part.value;
		else if (part.number == GROUP_IDENTITY)
			identity = part.value;
		else if (part.number == GROUP_INSTANCES_CREATED)
			group.instances_created = part.value;
		else if (part.number == GROUP_INSTANCES_SAMPLED)
			group.instances_sampled = part.value;
		else if (part.number == GROUP_SAMPLES)
			group.samples = part.value;
		else if (part.number == GROUP_CPU_NS)
			group.cpu_ns = part.value;
		else if (part.number == GROUP_WALL_NS)
			group.wall_ns = part.value;
		else if (part.number == GROUP_INTO)
			into = part.value;
		else if (part.number == GROUP_MERGED)
			group.merged = part.value;
		else if (part.number == GROUP_SAMPLES_BY_STATE &&
			 reading_add_numbers(&reading->numbers, &part) != 0)
			return reading_fail(reading, "a damaged group");
		else if (part.number == GROUP_LABEL && read_group_label(reading, &part) != 0)
			return reading_fail(reading, "a damaged group");
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged group");
	read_states(reading, &group);
	group.module = reading_string(reading, module);
	group.identity = reading_string(reading, identity);
	group.into = into != 0 ? reading_string(reading, into) : NULL;
	group.labels = reading_take_labels(reading, &group.label_count);
	if (group.labels == NULL)
		return -ENOMEM;
	row = group_row(reading, module, identity);
	if (row == NULL)
		return -ENOMEM;
	*row = group;
	return 0;
}
