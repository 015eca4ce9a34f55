/* SPDX-License-Identifier: MIT */
/* reader_tables.c - pprof's Mapping, Function, Location and Line into rows. Threads: any. */
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/names.h"
#include "preload/read/reading.h"

#include <errno.h>
#include <string.h>

/* A copy of PART's bytes. 0 or -ENOMEM. */
static int read_bytes(struct reading *reading, const struct pb_field *part, const uint8_t **bytes,
		      size_t *size)
{
	uint8_t *copy = arena_alloc(&reading->arena, part->size, 1);

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, part->bytes, part->size);
	*bytes = copy;
	*size = part->size;
	return 0;
}

/* What identifies the module, beside pprof's build id. */
static int read_identity(struct reading *reading, const struct pb_field *part,
			 struct recording_mapping *mapping)
{
	if (part->number == MAPPING_CODE)
		mapping->code = reading_string(reading, part->value);
	else if (part->number == MAPPING_IMAGE)
		mapping->image = reading_string(reading, part->value);
	else if (part->number == MAPPING_BUILD_ID_SECTION)
		mapping->build_id_section = reading_string(reading, part->value);
	else if (part->number == MAPPING_CODE_OFFSET)
		mapping->code_offset = part->value;
	else if (part->number == MAPPING_PATH)
		mapping->path = reading_string(reading, part->value);
	else if (part->number == MAPPING_LAYOUT && part->bytes != NULL)
		return read_bytes(reading, part, &mapping->layout, &mapping->layout_size);
	else if (part->number == MAPPING_DEBUG && part->bytes != NULL)
		return read_bytes(reading, part, &mapping->debug, &mapping->debug_size);
	else if (part->number == MAPPING_DEBUG_SIZE)
		mapping->debug_inflated_size = part->value;
	return 0;
}

int reading_mapping(struct reading *reading, const struct pb_field *field)
{
	struct recording_mapping *mapping = &reading->out->mappings[reading->mappings.count];
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	*mapping = (struct recording_mapping){ .name = "", .identity = "", .engine = "" };
	mapping->code = mapping->image = mapping->build_id_section = mapping->path = "";
	while (pb_next(&message, &part)) {
		if (part.number == MAPPING_ID)
			mapping->id = part.value;
		else if (part.number == MAPPING_MEMORY_START)
			mapping->start = part.value;
		else if (part.number == MAPPING_MEMORY_LIMIT)
			mapping->limit = part.value;
		else if (part.number == MAPPING_FILENAME)
			mapping->name = reading_string(reading, part.value);
		else if (part.number == MAPPING_BUILD_ID)
			mapping->identity = reading_string(reading, part.value);
		else if (part.number == MAPPING_LOADING)
			mapping->loading = (uint32_t)part.value;
		else if (part.number == MAPPING_ENGINE)
			mapping->engine = reading_string(reading, part.value);
		else if (part.number == MAPPING_NAME_ORIGIN)
			mapping->name_origin = (uint32_t)part.value;
		else if (part.number == MAPPING_IDENTITY_KIND)
			mapping->identity_is_wasm = part.value == 1;
		else if (part.number == MAPPING_FUNCTION_COUNT)
			mapping->function_count = (uint32_t)part.value;
		else if (read_identity(reading, &part, mapping) != 0)
			return -ENOMEM;
	}
	reading->out->mapping_count = ++reading->mappings.count;
	return message.error == 0 ? 0 : reading_fail(reading, "a damaged mapping");
}

int reading_function(struct reading *reading, const struct pb_field *field)
{
	struct recording_function *function = &reading->out->functions[reading->functions.count];
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	*function = (struct recording_function){
		.name = "",
		.system_name = "",
		.filename = "",
		.wasm_index = UINT32_MAX,
		.core = UINT32_MAX,
	};
	while (pb_next(&message, &part)) {
		if (part.number == FUNCTION_ID)
			function->id = part.value;
		else if (part.number == FUNCTION_NAME)
			function->name = reading_string(reading, part.value);
		else if (part.number == FUNCTION_SYSTEM_NAME)
			function->system_name = reading_string(reading, part.value);
		else if (part.number == FUNCTION_FILENAME)
			function->filename = reading_string(reading, part.value);
		else if (part.number == FUNCTION_START_LINE)
			function->start_line = (int64_t)part.value;
		else if (part.number == FUNCTION_WASM_INDEX)
			function->wasm_index = (uint32_t)part.value - 1;
		else if (part.number == FUNCTION_CORE)
			function->core = (uint32_t)part.value;
	}
	reading->out->function_count = ++reading->functions.count;
	return message.error == 0 ? 0 : reading_fail(reading, "a damaged function");
}

static int read_line(struct reading *reading, const struct pb_field *field,
		     struct recording_line *line)
{
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	uint64_t id = 0;

	while (pb_next(&message, &part)) {
		if (part.number == LINE_FUNCTION_ID)
			id = part.value;
		else if (part.number == LINE_LINE)
			line->line = (int64_t)part.value;
		else if (part.number == LINE_COLUMN)
			line->column = (int64_t)part.value;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged line");
	line->function = reading_row(&reading->functions, id);
	if (line->function == NULL)
		return reading_fail(reading,
				    "a location of function %llu, which is not in the file",
				    (unsigned long long)id);
	return 0;
}

static int read_lines(struct reading *reading, const struct pb_field *field,
		      struct recording_location *location, size_t line_count)
{
	struct recording_line *lines = arena_alloc(&reading->arena, line_count, sizeof(*lines));
	struct pb_reader message = reading_inside(field);
	struct pb_field part;

	if (lines == NULL)
		return -ENOMEM;
	location->lines = lines;
	while (pb_next(&message, &part)) {
		int error;

		if (part.number != LOCATION_LINE)
			continue;
		error = read_line(reading, &part, &lines[location->line_count++]);
		if (error != 0)
			return error;
	}
	return 0;
}

static enum frame_kind kind_of(uint64_t value)
{
	return value < FRAME_KINDS ? (enum frame_kind)value : FRAME_JIT;
}

int reading_location(struct reading *reading, const struct pb_field *field)
{
	struct recording_location *location = &reading->out->locations[reading->locations.count];
	struct pb_reader message = reading_inside(field);
	struct pb_field part;
	size_t line_count = 0;

	/* In a profile that is not about wasm at all every frame is the host's. */
	location->kind =
		reading->out->is_ours || reading->has_wasm_labels ? FRAME_GUEST : FRAME_HOST;
	while (pb_next(&message, &part)) {
		if (part.number == LOCATION_ID)
			location->id = part.value;
		else if (part.number == LOCATION_MAPPING_ID)
			location->mapping = reading_row(&reading->mappings, part.value);
		else if (part.number == LOCATION_ADDRESS)
			location->address = part.value;
		else if (part.number == LOCATION_LINE)
			line_count++;
		else if (part.number == LOCATION_KIND)
			location->kind = kind_of(part.value);
		else if (part.number == LOCATION_ADDRESS_IS_WASM)
			location->address_is_wasm = part.value != 0;
		else if (part.number == LOCATION_IMPORTER)
			location->importer = reading_row(&reading->mappings, part.value);
		else if (part.number == LOCATION_IS_GUESS)
			location->is_guess = part.value != 0;
	}
	if (message.error != 0)
		return reading_fail(reading, "a damaged location");
	reading->out->location_count = ++reading->locations.count;
	return line_count == 0 ? 0 : read_lines(reading, field, location, line_count);
}

int reading_forget_files(struct reading *reading)
{
	struct recording *out = reading->out;
	struct names modules = { 0 };
	bool has_memory = true;

	/* Foreign profiles may mean it: a library that is its own only file. */
	for (size_t i = 0; out->is_ours && i < out->mapping_count; i++)
		has_memory &= names_id(&modules, out->mappings[i].name) != NAMES_NONE;
	for (size_t i = 0; modules.count != 0 && i < out->function_count; i++) {
		struct recording_function *function = &out->functions[i];

		if (function->start_line == 0 &&
		    names_find(&modules, function->filename) != NAMES_NONE)
			function->filename = "";
	}
	names_free(&modules);
	return has_memory ? 0 : -ENOMEM;
}
