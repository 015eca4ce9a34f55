/* SPDX-License-Identifier: MIT */
/* pprof_tables.c - strings, mappings, functions and locations that samples need. Threads: one at a
 * time. */
#include "preload/export/pprof_tables.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pprof_tables_begin(struct pprof_tables *tables, const struct recording *recording,
		       bool has_extensions)
{
	*tables = (struct pprof_tables){ .recording = recording, .has_extensions = has_extensions };
	tables->mapping_ids = calloc(recording->mapping_count + 1, sizeof(uint64_t));
	tables->location_ids = calloc(recording->location_count + 1, sizeof(uint64_t));
	if (tables->mapping_ids == NULL || tables->location_ids == NULL ||
	    names_id(&tables->strings, "") != 0)
		tables->error = -ENOMEM;
	return tables->error;
}

void pprof_tables_free(struct pprof_tables *tables)
{
	names_free(&tables->strings);
	pairs_free(&tables->functions);
	free(tables->mapping_ids);
	free(tables->location_ids);
	pb_free(&tables->mappings);
	pb_free(&tables->locations);
	pb_free(&tables->function_rows);
	pb_free(&tables->message);
	pb_free(&tables->line);
}

/* Index of TEXT; 0 of "", and without memory. */
static uint64_t string_index(struct pprof_tables *tables, const char *text)
{
	uint32_t id = names_id(&tables->strings, text);

	if (id != NAMES_NONE)
		return id;
	tables->error = -ENOMEM;
	return 0;
}

void pprof_put_text(struct pprof_tables *tables, struct pb_writer *message, uint32_t field,
		    const char *text)
{
	pprof_put_number(message, field, string_index(tables, text));
}

void pprof_put_number(struct pb_writer *message, uint32_t field, uint64_t value)
{
	if (value != 0)
		pb_varint(message, field, value);
}

void pprof_put_label(struct pprof_tables *tables, struct pb_writer *message, const char *key,
		     const char *value)
{
	size_t mark;

	if (*value == '\0')
		return;
	mark = pb_begin(message, SAMPLE_LABEL);
	pprof_put_text(tables, message, LABEL_KEY, key);
	pprof_put_text(tables, message, LABEL_STRING, value);
	pb_end(message, mark);
}

/* Adds the scratch message as one field, and empties it. */
static void put_row(struct pprof_tables *tables, struct pb_writer *to, uint32_t field)
{
	pb_bytes(to, field, tables->message.bytes, tables->message.size);
	tables->message.size = 0;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void put_mapping_extensions(struct pprof_tables *tables, struct pb_writer *message,
				   const struct recording_mapping *mapping)
{
	pprof_put_number(message, MAPPING_LOADING, mapping->loading);
	pprof_put_text(tables, message, MAPPING_ENGINE, mapping->engine);
	pprof_put_number(message, MAPPING_NAME_ORIGIN, mapping->name_origin);
	pprof_put_number(message, MAPPING_IDENTITY_KIND, mapping->identity_is_wasm);
	pprof_put_number(message, MAPPING_FUNCTION_COUNT, mapping->function_count);
	pprof_put_text(tables, message, MAPPING_CODE, mapping->code);
	pprof_put_text(tables, message, MAPPING_IMAGE, mapping->image);
	pprof_put_text(tables, message, MAPPING_BUILD_ID_SECTION, mapping->build_id_section);
	pprof_put_number(message, MAPPING_CODE_OFFSET, mapping->code_offset);
	pprof_put_text(tables, message, MAPPING_PATH, mapping->path);
	if (mapping->layout != NULL)
		pb_bytes(message, MAPPING_LAYOUT, mapping->layout, mapping->layout_size);
	if (mapping->debug != NULL) {
		pb_varint(message, MAPPING_DEBUG_SIZE, mapping->debug_inflated_size);
		pb_bytes(message, MAPPING_DEBUG, mapping->debug, mapping->debug_size);
	}
}

/* Id of MAPPING, which may be NULL: 0. */
static uint64_t mapping_id(struct pprof_tables *tables, const struct recording_mapping *mapping)
{
	struct pb_writer *message = &tables->message;
	uint64_t *id;

	if (mapping == NULL)
		return 0;
	id = &tables->mapping_ids[mapping - tables->recording->mappings];
	if (*id != 0)
		return *id;
	*id = ++tables->mapping_count;
	pb_varint(message, MAPPING_ID, *id);
	pprof_put_number(message, MAPPING_MEMORY_START, mapping->start);
	pprof_put_number(message, MAPPING_MEMORY_LIMIT, mapping->limit);
	pprof_put_text(tables, message, MAPPING_FILENAME, mapping->name);
	pprof_put_text(tables, message, MAPPING_BUILD_ID, mapping->identity);
	/* Else servers ask for symbols that nobody has. */
	pb_varint(message, MAPPING_HAS_FUNCTIONS, 1);
	if (tables->has_extensions)
		put_mapping_extensions(tables, message, mapping);
	put_row(tables, &tables->mappings, PROFILE_MAPPING);
	return *id;
}

/* ---- functions and locations ----------------------------------------------------------------- */

static uint64_t function_id(struct pprof_tables *tables, const struct recording_function *function)
{
	struct pb_writer *message = &tables->message;
	uint32_t known = tables->functions.count;
	uint32_t id = pairs_id(&tables->functions, (uintptr_t)function, 0);

	if (id == PAIRS_NONE) {
		tables->error = -ENOMEM;
		return 0;
	}
	if (id < known)
		return (uint64_t)id + 1;
	pb_varint(message, FUNCTION_ID, (uint64_t)id + 1);
	pprof_put_text(tables, message, FUNCTION_NAME, function->name);
	pprof_put_text(tables, message, FUNCTION_SYSTEM_NAME, function->system_name);
	pprof_put_text(tables, message, FUNCTION_FILENAME, function->filename);
	pprof_put_number(message, FUNCTION_START_LINE, (uint64_t)function->start_line);
	if (tables->has_extensions && function->wasm_index != UINT32_MAX)
		pb_varint(message, FUNCTION_WASM_INDEX, (uint64_t)function->wasm_index + 1);
	if (tables->has_extensions && function->core != UINT32_MAX)
		pprof_put_number(message, FUNCTION_CORE, function->core);
	put_row(tables, &tables->function_rows, PROFILE_FUNCTION);
	return (uint64_t)id + 1;
}

/* LINE as a whole field in the scratch for lines: its function's row may have to be written. */
static void add_line(struct pprof_tables *tables, const struct recording_line *line)
{
	uint64_t function = function_id(tables, line->function);
	size_t mark = pb_begin(&tables->line, LOCATION_LINE);

	pb_varint(&tables->line, LINE_FUNCTION_ID, function);
	pprof_put_number(&tables->line, LINE_LINE, (uint64_t)line->line);
	pprof_put_number(&tables->line, LINE_COLUMN, (uint64_t)line->column);
	pb_end(&tables->line, mark);
}

static void put_location_extensions(struct pprof_tables *tables,
				    const struct recording_location *location, uint64_t importer)
{
	pprof_put_number(&tables->message, LOCATION_KIND, location->kind);
	pprof_put_number(&tables->message, LOCATION_ADDRESS_IS_WASM, location->address_is_wasm);
	pprof_put_number(&tables->message, LOCATION_IMPORTER, importer);
	pprof_put_number(&tables->message, LOCATION_IS_GUESS, location->is_guess);
}

uint64_t pprof_location(struct pprof_tables *tables, const struct recording_location *location)
{
	uint64_t *id = &tables->location_ids[location - tables->recording->locations];
	struct pb_writer *message = &tables->message;
	uint64_t mapping, importer;

	if (*id != 0)
		return *id;
	*id = ++tables->location_count;
	/* Rows of other tables first: they need the scratch message too. */
	mapping = mapping_id(tables, location->mapping);
	importer = tables->has_extensions ? mapping_id(tables, location->importer) : 0;
	tables->line.size = 0;
	for (size_t i = 0; i < location->line_count; i++)
		add_line(tables, &location->lines[i]);
	pb_varint(message, LOCATION_ID, *id);
	pprof_put_number(message, LOCATION_MAPPING_ID, mapping);
	pprof_put_number(message, LOCATION_ADDRESS, location->address);
	pb_append(message, tables->line.bytes, tables->line.size);
	if (tables->has_extensions)
		put_location_extensions(tables, location, importer);
	put_row(tables, &tables->locations, PROFILE_LOCATION);
	return *id;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_type(struct pprof_tables *tables, struct pb_writer *head, uint32_t field,
		     const char *type, const char *unit)
{
	size_t mark = pb_begin(head, field);

	pprof_put_text(tables, head, VALUE_TYPE_TYPE, type);
	pprof_put_text(tables, head, VALUE_TYPE_UNIT, unit);
	pb_end(head, mark);
}

void pprof_put_head(struct pprof_tables *tables, struct pb_writer *head, bool has_wall)
{
	const struct recording *recording = tables->recording;

	put_type(tables, head, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_type(tables, head, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	if (has_wall)
		put_type(tables, head, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
	put_type(tables, head, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	pprof_put_number(head, PROFILE_PERIOD, recording->period_ns);
	pprof_put_text(tables, head, PROFILE_DEFAULT_SAMPLE_TYPE, "cpu");
	pprof_put_number(head, PROFILE_TIME_NANOS, recording->time_unix_ns);
	pprof_put_number(head, PROFILE_DURATION_NANOS, recording->duration_ns);
}

static int write_strings(struct pprof_tables *tables, struct output *output)
{
	for (uint32_t i = 0; i < tables->strings.count; i++) {
		tables->message.size = 0;
		pb_string(&tables->message, PROFILE_STRING_TABLE, tables->strings.texts[i]);
		if (tables->message.error != 0)
			return tables->message.error;
		output_bytes(output, tables->message.bytes, tables->message.size);
	}
	return 0;
}

int pprof_tables_write(struct pprof_tables *tables, const struct pb_writer *head,
		       const struct pb_writer *body, struct output *output)
{
	const struct pb_writer *parts[] = {
		&tables->mappings,
		&tables->function_rows,
		&tables->locations,
		body,
	};

	if (tables->message.error != 0 || tables->line.error != 0 || head->error != 0)
		tables->error = -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i]->error != 0)
			tables->error = -ENOMEM;
	}
	if (tables->error != 0)
		return tables->error;
	if (write_strings(tables, output) != 0)
		return -ENOMEM;
	output_bytes(output, head->bytes, head->size);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		output_bytes(output, parts[i]->bytes, parts[i]->size);
	return 0;
}
