/* SPDX-License-Identifier: MIT */
/* extract_tables.c - marks, numbers and copies rows of the tables. Threads: ours. */
#include "preload/profile/extract_tables.h"

#include <errno.h>
#include <stdlib.h>

static void mark_mapping(struct extract_memory *memory, const struct chunk_mapping *mapping)
{
	const uint64_t texts[] = { mapping->filename, mapping->build_id, mapping->engine,
				   mapping->code,     mapping->image,	 mapping->build_id_section,
				   mapping->path };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		memory->texts[texts[i]] = EXTRACT_NEEDED;
}

void extract_mark_tables(const struct tables *tables, struct extract_memory *memory)
{
	for (size_t i = 0; i < tables->location_count; i++) {
		const struct chunk_location *location = &tables->locations[i];

		if (memory->locations[location->id] == 0)
			continue;
		memory->functions[location->function] = EXTRACT_NEEDED;
		memory->mappings[location->mapping] = EXTRACT_NEEDED;
		memory->mappings[location->importer] = EXTRACT_NEEDED;
	}
	for (size_t i = 0; i < tables->function_count; i++) {
		const struct chunk_function *function = &tables->functions[i];

		if (memory->functions[function->id] == 0)
			continue;
		memory->texts[function->name] = EXTRACT_NEEDED;
		memory->texts[function->system_name] = EXTRACT_NEEDED;
		memory->texts[function->filename] = EXTRACT_NEEDED;
	}
	for (size_t i = 0; i < tables->mapping_count; i++) {
		if (memory->mappings[tables->mappings[i].id] != 0)
			mark_mapping(memory, &tables->mappings[i]);
	}
}

uint32_t extract_number(uint32_t *map, size_t count)
{
	uint32_t next = 1;

	map[0] = 0;
	for (size_t i = 1; i < count; i++) {
		if (map[i] != 0)
			map[i] = next++;
	}
	return next;
}

static void copy_strings(const struct texts *texts, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;

	for (size_t i = 0; i < texts->count; i++) {
		if (i == 0 || memory->texts[i] != 0)
			memory->strings[memory->texts[i]] = texts->rows[i];
	}
	extract->chunk.strings = memory->strings;
}

/* Layout and debug information are with one mapping of each identity: here with the first copied.
 */
static void borrow_layout(const struct tables *tables, struct chunk_mapping *copy,
			  uint64_t identity, bool *was_given)
{
	for (size_t i = 0; i < tables->mapping_count; i++) {
		const struct chunk_mapping *mapping = &tables->mappings[i];

		if (mapping->build_id != identity || was_given[i] ||
		    (mapping->layout == NULL && mapping->debug == NULL))
			continue;
		was_given[i] = true;
		if (mapping->layout != NULL) {
			copy->layout = mapping->layout;
			copy->layout_size = mapping->layout_size;
		}
		if (mapping->debug != NULL) {
			copy->debug = mapping->debug;
			copy->debug_size = mapping->debug_size;
			copy->debug_inflated_size = mapping->debug_inflated_size;
		}
	}
}

static int copy_mappings(const struct tables *tables, bool is_lean, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;
	bool *was_given = calloc(tables->mapping_count + 1, sizeof(*was_given));
	size_t count = 0;

	if (was_given == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < tables->mapping_count; i++) {
		struct chunk_mapping copy = tables->mappings[i];
		uint64_t identity = copy.build_id;

		if (memory->mappings[copy.id] == 0)
			continue;
		copy.id = memory->mappings[copy.id];
		copy.filename = memory->texts[copy.filename];
		copy.build_id = memory->texts[copy.build_id];
		copy.engine = memory->texts[copy.engine];
		copy.code = memory->texts[copy.code];
		copy.image = memory->texts[copy.image];
		copy.build_id_section = memory->texts[copy.build_id_section];
		copy.path = memory->texts[copy.path];
		copy.layout = copy.debug = NULL;
		if (!is_lean)
			borrow_layout(tables, &copy, identity, was_given);
		memory->mapping_rows[count++] = copy;
	}
	free(was_given);
	extract->chunk.mappings = memory->mapping_rows;
	extract->chunk.mapping_count = count;
	return 0;
}

static void copy_functions(const struct tables *tables, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;
	size_t count = 0;

	for (size_t i = 0; i < tables->function_count; i++) {
		struct chunk_function copy = tables->functions[i];

		if (memory->functions[copy.id] == 0)
			continue;
		copy.id = memory->functions[copy.id];
		copy.name = memory->texts[copy.name];
		copy.system_name = memory->texts[copy.system_name];
		copy.filename = memory->texts[copy.filename];
		memory->function_rows[count++] = copy;
	}
	extract->chunk.functions = memory->function_rows;
	extract->chunk.function_count = count;
}

static void copy_locations(const struct tables *tables, struct extract *extract)
{
	struct extract_memory *memory = extract->memory;
	size_t count = 0;

	for (size_t i = 0; i < tables->location_count; i++) {
		struct chunk_location copy = tables->locations[i];

		if (memory->locations[copy.id] == 0)
			continue;
		copy.id = memory->locations[copy.id];
		copy.function = memory->functions[copy.function];
		copy.mapping = memory->mappings[copy.mapping];
		copy.importer = memory->mappings[copy.importer];
		memory->location_rows[count++] = copy;
	}
	extract->chunk.locations = memory->location_rows;
	extract->chunk.location_count = count;
}

int extract_copy_tables(const struct tables *tables, bool is_lean, struct extract *extract)
{
	copy_strings(&tables->texts, extract);
	copy_functions(tables, extract);
	copy_locations(tables, extract);
	return copy_mappings(tables, is_lean, extract);
}
