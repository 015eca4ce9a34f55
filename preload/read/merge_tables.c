/* SPDX-License-Identifier: MIT */
/* merge_tables.c - functions and locations of several recordings as one table. Threads: one at a
 * time. */
#include "preload/read/merge_private.h"

#include <errno.h>
#include <string.h>

static int copy_function(struct merge *merge, struct recording_function *to,
			 const struct recording_function *from)
{
	*to = *from;
	to->id = merge->out->function_count;
	to->name = merge_text(merge, from->name);
	to->system_name = merge_text(merge, from->system_name);
	to->filename = merge_text(merge, from->filename);
	return to->name == NULL || to->system_name == NULL || to->filename == NULL ? -ENOMEM : 0;
}

/* FROM's row in the result, as a function of MAPPING (0: none); NULL without memory. */
static struct recording_function *find_function(struct merge *merge, uint64_t mapping,
						const struct recording_function *from)
{
	struct recording *out = merge->out;
	uint32_t name = names_id(&merge->texts, from->name);
	uint32_t system_name = names_id(&merge->texts, from->system_name);
	uint32_t file = names_id(&merge->texts, from->filename), names, place, id;

	if (name == NAMES_NONE || system_name == NAMES_NONE || file == NAMES_NONE)
		return NULL;
	names = pairs_id(&merge->function_names, (uint64_t)name << 32 | system_name, file);
	place = pairs_id(&merge->function_places, (uint64_t)from->wasm_index << 32 | from->core,
			 (uint64_t)from->start_line);
	if (names == PAIRS_NONE || place == PAIRS_NONE)
		return NULL;
	id = pairs_id(&merge->functions, (uint64_t)names << 32 | place, mapping);
	if (id == PAIRS_NONE)
		return NULL;
	if (id == out->function_count) {
		out->function_count++;
		if (copy_function(merge, &out->functions[id], from) != 0)
			return NULL;
	}
	return &out->functions[id];
}

/* The number of LOCATION's lines, as one list of those in the result. */
static uint32_t find_lines(struct merge *merge, uint64_t mapping,
			   const struct recording_location *location)
{
	uint32_t chain = 0;

	for (size_t i = 0; i < location->line_count; i++) {
		const struct recording_line *line = &location->lines[i];
		const struct recording_function *function =
			find_function(merge, mapping, line->function);
		uint32_t id;

		if (function == NULL)
			return PAIRS_NONE;
		id = pairs_id(&merge->lines, function->id << 32 | (uint32_t)line->column,
			      (uint64_t)line->line);
		if (id == PAIRS_NONE)
			return PAIRS_NONE;
		chain = pairs_id(&merge->chains, chain, id);
		if (chain == PAIRS_NONE)
			return PAIRS_NONE;
		chain++; /* 0: no line yet */
	}
	return chain;
}

static struct recording_mapping *mapping_in_result(const struct merge *merge,
						   const struct recording_mapping *mapping)
{
	return mapping == NULL ? NULL : merge->mapping_of[mapping - merge->in->mappings];
}

static int copy_location(struct merge *merge, struct recording_location *to,
			 const struct recording_location *from, uint64_t mapping)
{
	struct recording_line *lines = arena_alloc(&merge->arena, from->line_count, sizeof(*lines));

	if (lines == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < from->line_count; i++) {
		lines[i] = from->lines[i];
		lines[i].function = find_function(merge, mapping, from->lines[i].function);
		if (lines[i].function == NULL)
			return -ENOMEM;
	}
	*to = *from;
	to->id = merge->out->location_count;
	to->mapping = mapping_in_result(merge, from->mapping);
	to->importer = mapping_in_result(merge, from->importer);
	to->lines = lines;
	return 0;
}

static struct recording_location *find_location(struct merge *merge,
						const struct recording_location *from)
{
	const struct recording_mapping *row = mapping_in_result(merge, from->mapping);
	const struct recording_mapping *importer = mapping_in_result(merge, from->importer);
	uint64_t mapping = row != NULL ? row->id : 0, from_import = importer ? importer->id : 0;
	struct recording *out = merge->out;
	uint32_t lines = find_lines(merge, mapping, from), place, id;

	if (lines == PAIRS_NONE)
		return NULL;
	place = pairs_id(&merge->addresses,
			 mapping << 32 | (uint64_t)from->kind << 2 | (uint64_t)from->is_guess << 1 |
				 from->address_is_wasm,
			 from->address);
	if (place == PAIRS_NONE)
		return NULL;
	id = pairs_id(&merge->locations, (uint64_t)place << 32 | lines, from_import);
	if (id == PAIRS_NONE)
		return NULL;
	if (id == out->location_count) {
		out->location_count++;
		if (copy_location(merge, &out->locations[id], from, mapping) != 0)
			return NULL;
	}
	return &out->locations[id];
}

int merge_tables(struct merge *merge)
{
	for (size_t i = 0; i < merge->in->location_count; i++) {
		merge->locations_of[i] = find_location(merge, &merge->in->locations[i]);
		if (merge->locations_of[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

const struct recording_label *merge_labels(struct merge *merge,
					   const struct recording_label *labels, size_t count)
{
	struct recording_label *copies = arena_alloc(&merge->arena, count, sizeof(*copies));

	for (size_t i = 0; copies != NULL && i < count; i++) {
		copies[i].key = merge_text(merge, labels[i].key);
		copies[i].value = merge_text(merge, labels[i].value);
		if (copies[i].key == NULL || copies[i].value == NULL)
			return NULL;
	}
	return copies;
}
