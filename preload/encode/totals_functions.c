/* SPDX-License-Identifier: MIT */
/* totals_functions.c - self and total weight of functions, and the hottest of each row. Threads:
 * one at a time. */
#include "preload/encode/rows.h"
#include "preload/encode/totals_private.h"

#include <errno.h>
#include <stdlib.h>

/* Rows of both kinds in one table of pairs: instances have this bit. */
#define INSTANCE_BIT ((uint64_t)1 << 32)

static int new_function(struct totals *totals, uint32_t id, const struct frame *frame,
			const char *module, const char *name)
{
	int error = rows_reserve(&totals->functions, &totals->own->function_room, id,
				 sizeof(*totals->functions));

	if (error != 0)
		return error;
	totals->functions[id] = (struct totals_function){
		.module = module,
		.name = name,
		.kind = frame->location->kind,
	};
	totals->function_count = id + 1;
	return 0;
}

/* The function of FRAME by its texts; TOTALS_NONE without memory. */
static uint32_t find_function(struct totals *totals, const struct frame *frame)
{
	struct totals_private *own = totals->own;
	const struct recording_mapping *mapping = frame->location->mapping;
	char scratch[FRAMES_NAME_SIZE];
	uint32_t module = names_id(&own->names, mapping != NULL ? mapping->name : "");
	uint32_t name = names_id(&own->names, frames_name(frame, scratch));
	uint32_t id;

	if (module == NAMES_NONE || name == NAMES_NONE)
		return TOTALS_NONE;
	id = pairs_id(&own->functions, (uint64_t)module << 8 | frame->location->kind, name);
	if (id == PAIRS_NONE)
		return TOTALS_NONE;
	if (id == totals->function_count &&
	    new_function(totals, id, frame, own->names.texts[module], own->names.texts[name]) != 0)
		return TOTALS_NONE;
	return id;
}

/* As find_function(), without looking at texts for a frame that was seen before in this recording.
 */
static uint32_t function_of(struct totals *totals, const struct frame *frame)
{
	struct totals_private *own = totals->own;
	uint32_t known = own->frame_ids.count;
	uint32_t id = pairs_id(&own->frame_ids, (uintptr_t)frame->location, (uintptr_t)frame->line);

	if (id == PAIRS_NONE)
		return TOTALS_NONE;
	if (id == known) {
		if (rows_reserve(&own->function_of_frame, &own->frame_room, id,
				 sizeof(*own->function_of_frame)) != 0)
			return TOTALS_NONE;
		own->function_of_frame[id] = find_function(totals, frame);
	}
	return own->function_of_frame[id];
}

static int count_self(struct totals *totals, uint64_t row, uint32_t function,
		      const struct totals_weight *weight)
{
	struct totals_private *own = totals->own;
	uint32_t id = pairs_id(&own->self_ids, row, function);

	if (id == PAIRS_NONE ||
	    rows_reserve(&own->self, &own->self_room, id, sizeof(*own->self)) != 0)
		return -ENOMEM;
	own->self[id].row = row;
	own->self[id].function = function;
	totals_add_weight(&own->self[id].weight, weight);
	return 0;
}

int totals_count_functions(struct totals *totals, const struct recording_sample *sample,
			   const struct totals_place *place)
{
	struct totals_private *own = totals->own;
	struct totals_weight weight = { sample->count, sample->cpu_ns };
	uint32_t id = TOTALS_NONE;
	int error = frames_list(&own->frames, sample);

	own->sample_number++;
	for (size_t i = 0; error == 0 && i < own->frames.count; i++) {
		id = function_of(totals, &own->frames.list[i]);
		if (id == TOTALS_NONE)
			return -ENOMEM;
		if (totals->functions[id].last_sample != own->sample_number)
			totals_add_weight(&totals->functions[id].total, &weight);
		totals->functions[id].last_sample = own->sample_number;
	}
	if (error != 0 || id == TOTALS_NONE)
		return error;
	totals_add_weight(&totals->functions[id].self, &weight);
	error = count_self(totals, place->group, id, &weight);
	if (error == 0 && place->instance != TOTALS_NONE)
		error = count_self(totals, INSTANCE_BIT | place->instance, id, &weight);
	return error;
}

void totals_find_hottest(struct totals *totals)
{
	const struct totals_private *own = totals->own;

	for (uint32_t i = 0; i < own->self_ids.count; i++) {
		const struct totals_self *self = &own->self[i];
		struct totals_row *row = (self->row & INSTANCE_BIT) != 0
						 ? &totals->instances[self->row & ~INSTANCE_BIT]
						 : &totals->groups[self->row];

		if (row->hottest != TOTALS_NONE &&
		    totals_measure(totals, &self->weight) <=
			    totals_measure(totals, &row->hottest_self))
			continue;
		row->hottest = self->function;
		row->hottest_self = self->weight;
	}
}
