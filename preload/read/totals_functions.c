/* SPDX-License-Identifier: MIT */
/* totals_functions.c - self and total weight of functions, the call tree, the hottest of each row.
 * Threads: one at a time. */
#include "preload/read/rows.h"
#include "preload/read/totals_private.h"

#include <errno.h>
#include <stdlib.h>

/* Rows of all kinds in one table of pairs: instances and parts have these bits. */
#define INSTANCE_BIT ((uint64_t)1 << 32)
#define PART_BIT ((uint64_t)1 << 33)

static int new_function(struct totals *totals, uint32_t id, const struct frame *frame,
			const char *module, const char *name, const char *file, int64_t line)
{
	int error = rows_reserve(&totals->functions, &totals->own->function_room, id,
				 sizeof(*totals->functions));

	if (error != 0)
		return error;
	totals->functions[id] = (struct totals_function){
		.module = module,
		.name = name,
		.file = file,
		.line = line,
		.kind = frame->location->kind,
	};
	totals->function_count = id + 1;
	return 0;
}

/* What tells one function from another, beside its name and module. */
static uint64_t place_of(struct totals *totals, const struct frame *frame, uint32_t *file,
			 int64_t *line)
{
	*file = names_id(&totals->own->names,
			 frame->line != NULL ? frame->line->function->filename : "");
	*line = 0;
	if (frame->line == NULL)
		return 0;
	*line = totals->by_line ? frame->line->line : frame->line->function->start_line;
	return totals->by_line ? (uint64_t)*file << 32 | (uint32_t)*line : 0;
}

/* The function of FRAME by its texts; TOTALS_NONE without memory. */
static uint32_t find_function(struct totals *totals, const struct frame *frame)
{
	struct totals_private *own = totals->own;
	const struct recording_mapping *mapping = frame->location->mapping;
	char scratch[FRAMES_NAME_SIZE];
	uint32_t module = names_id(&own->names, mapping != NULL ? mapping->name : "");
	uint32_t name = names_id(&own->names, frames_name(frame, scratch)), file, id;
	int64_t line;
	uint64_t place = place_of(totals, frame, &file, &line);

	if (module == NAMES_NONE || name == NAMES_NONE || file == NAMES_NONE)
		return TOTALS_NONE;
	id = pairs_id(&own->function_places, (uint64_t)module << 8 | frame->location->kind, place);
	if (id != PAIRS_NONE)
		id = pairs_id(&own->functions, id, name);
	if (id == PAIRS_NONE)
		return TOTALS_NONE;
	if (id == totals->function_count &&
	    new_function(totals, id, frame, own->names.texts[module], own->names.texts[name],
			 own->names.texts[file], line) != 0)
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

/* CALL: the leaf; FUNCTION: the innermost one of a guest. */
static int count_wait(struct totals *totals, uint32_t group, uint32_t function, uint32_t call,
		      uint64_t wall_ns)
{
	struct totals_private *own = totals->own;
	uint32_t id = pairs_id(&own->waits, (uint64_t)group << 32 | function, call);

	if (id == PAIRS_NONE ||
	    rows_reserve(&totals->waits, &own->wait_room, id, sizeof(*totals->waits)) != 0)
		return -ENOMEM;
	totals->waits[id].group = group;
	totals->waits[id].function = function;
	totals->waits[id].call = call;
	totals->waits[id].wall_ns += wall_ns;
	totals->wait_count = own->waits.count;
	return 0;
}

/* The child of PARENT in FUNCTION, with WEIGHT more in all; TOTALS_NONE without memory. */
static uint32_t count_node(struct totals *totals, uint32_t parent, uint32_t function,
			   const struct totals_weight *weight)
{
	struct totals_private *own = totals->own;
	uint32_t id = pairs_id(&own->nodes, parent, function);

	if (id == PAIRS_NONE ||
	    rows_reserve(&totals->nodes, &own->node_room, id, sizeof(*totals->nodes)) != 0)
		return TOTALS_NONE;
	totals->nodes[id].parent = parent;
	totals->nodes[id].function = function;
	totals_add_weight(&totals->nodes[id].total, weight);
	totals->node_count = own->nodes.count;
	return id;
}

static int count_selves(struct totals *totals, const struct totals_place *place, uint32_t part,
			uint32_t function, const struct totals_weight *weight)
{
	int error = count_self(totals, place->group, function, weight);

	totals_add_weight(&totals->functions[function].self, weight);
	if (error == 0 && place->instance != TOTALS_NONE)
		error = count_self(totals, INSTANCE_BIT | place->instance, function, weight);
	if (error == 0 && part != TOTALS_NONE)
		error = count_self(totals, PART_BIT | part, function, weight);
	return error;
}

int totals_count_functions(struct totals *totals, const struct recording_sample *sample,
			   const struct totals_place *place, uint32_t part)
{
	struct totals_private *own = totals->own;
	struct totals_weight weight = { sample->count, sample->cpu_ns, sample->wall_ns };
	uint32_t id = TOTALS_NONE, guest = TOTALS_NONE;
	uint32_t node = count_node(totals, TOTALS_NONE, place->group, &weight);
	int error = frames_list(&own->frames, sample);

	own->sample_number++;
	for (size_t i = 0; error == 0 && i < own->frames.count; i++) {
		id = function_of(totals, &own->frames.list[i]);
		if (id != TOTALS_NONE && node != TOTALS_NONE)
			node = count_node(totals, node, id, &weight);
		if (id == TOTALS_NONE || node == TOTALS_NONE)
			return -ENOMEM;
		if (own->frames.list[i].location->is_guess)
			totals_add_weight(&totals->nodes[node].guessed, &weight);
		if (totals->functions[id].last_sample != own->sample_number)
			totals_add_weight(&totals->functions[id].total, &weight);
		if (totals->functions[id].kind == FRAME_GUEST)
			guest = id;
		totals->functions[id].last_sample = own->sample_number;
	}
	if (error != 0 || id == TOTALS_NONE)
		return error;
	totals_add_weight(&totals->nodes[node].self, &weight);
	error = count_selves(totals, place, part, id, &weight);
	if (error == 0 && sample->wall_ns != 0)
		error = count_wait(totals, place->group, guest, id, sample->wall_ns);
	return error;
}

static struct totals_row *row_of(struct totals *totals, uint64_t row)
{
	if ((row & INSTANCE_BIT) != 0)
		return &totals->instances[row & ~INSTANCE_BIT];
	if ((row & PART_BIT) != 0)
		return &totals->parts[row & ~PART_BIT];
	return &totals->groups[row];
}

void totals_find_hottest(struct totals *totals)
{
	const struct totals_private *own = totals->own;

	for (uint32_t i = 0; i < own->self_ids.count; i++) {
		const struct totals_self *self = &own->self[i];
		struct totals_row *row = row_of(totals, self->row);

		if (totals_measure(totals, &self->weight) == 0)
			continue;
		if (row->hottest != TOTALS_NONE &&
		    totals_measure(totals, &self->weight) <=
			    totals_measure(totals, &row->hottest_self))
			continue;
		row->hottest = self->function;
		row->hottest_self = self->weight;
	}
}
