/* SPDX-License-Identifier: MIT */
/* relined.c - copies a profile field by field. Threads: one at a time. */
#include "preload/cmd/symbolize/relined.h"

#include "preload/encode/pb.h"
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/source.h"

#include <errno.h>
#include <stdlib.h>

enum { WIRE_BYTES = 2 };

struct relining {
	const struct lined *lined;
	struct output *output;
	struct pb_writer message, field;		     /* scratch */
	struct names strings;				     /* new ones */
	uint64_t string_count, location_count, sample_count; /* so far, of the file */
};

/* MESSAGE as field NUMBER; it is empty afterwards. */
static int put_message(struct relining *relining, uint32_t number)
{
	struct pb_writer *field = &relining->field;

	field->size = 0;
	pb_bytes(field, number, relining->message.bytes, relining->message.size);
	if (relining->message.error != 0 || field->error != 0)
		return -ENOMEM;
	output_bytes(relining->output, field->bytes, field->size);
	relining->message.size = 0;
	return 0;
}

static void add_line(struct pb_writer *message, const struct recording_line *line)
{
	size_t mark = pb_begin(message, LOCATION_LINE);

	pb_varint(message, LINE_FUNCTION_ID, line->function->id);
	if (line->line != 0)
		pb_varint(message, LINE_LINE, (uint64_t)line->line);
	if (line->column != 0)
		pb_varint(message, LINE_COLUMN, (uint64_t)line->column);
	pb_end(message, mark);
}

/* Its parts as they are, but for lines: these are the recording's. */
static int put_location(struct relining *relining, const struct pb_field *field)
{
	const struct recording *recording = relining->lined->recording;
	struct pb_reader parts = { .at = field->bytes, .end = field->bytes + field->size };
	const struct recording_location *location;
	struct pb_field part;

	if (relining->location_count == recording->location_count)
		return -ESTALE;
	location = &recording->locations[relining->location_count++];
	while (pb_next(&parts, &part)) {
		if (part.number == LOCATION_ID && part.value != location->id)
			return -ESTALE;
		if (part.wire == 0)
			pb_varint(&relining->message, part.number, part.value);
		else if (part.wire == WIRE_BYTES && part.number != LOCATION_LINE)
			pb_bytes(&relining->message, part.number, part.bytes, part.size);
	}
	for (size_t i = 0; i < location->line_count; i++)
		add_line(&relining->message, &location->lines[i]);
	return put_message(relining, PROFILE_LOCATION);
}

/* Its parts as they are, but for its locations: these are the recording's. */
static int put_sample(struct relining *relining, const struct pb_field *field)
{
	const struct recording *recording = relining->lined->recording;
	struct pb_reader parts = { .at = field->bytes, .end = field->bytes + field->size };
	const struct recording_sample *sample;
	struct pb_field part;

	if (relining->sample_count == recording->sample_count)
		return -ESTALE;
	sample = &recording->samples[relining->sample_count++];
	for (size_t i = 0; i < sample->location_count; i++)
		pb_varint(&relining->message, SAMPLE_LOCATION_ID, sample->locations[i]->id);
	while (pb_next(&parts, &part)) {
		if (part.number == SAMPLE_LOCATION_ID)
			continue;
		if (part.wire == 0)
			pb_varint(&relining->message, part.number, part.value);
		else if (part.wire == WIRE_BYTES)
			pb_bytes(&relining->message, part.number, part.bytes, part.size);
	}
	return put_message(relining, PROFILE_SAMPLE);
}

static int put_field(struct relining *relining, const struct pb_field *field, const uint8_t *bytes,
		     size_t size)
{
	if (field->number == RECORDING_PAD)
		return 0;
	if (field->number == PROFILE_LOCATION && field->wire == WIRE_BYTES)
		return put_location(relining, field);
	if (field->number == PROFILE_SAMPLE && field->wire == WIRE_BYTES &&
	    relining->lined->call_ids.count != 0)
		return put_sample(relining, field);
	relining->string_count += field->number == PROFILE_STRING_TABLE;
	output_bytes(relining->output, bytes, size);
	return 0;
}

static int put_fields(struct relining *relining, const struct source *source)
{
	size_t size = (size_t)relining->lined->recording->torn_at;
	struct pb_reader top = { .at = source->bytes };
	const uint8_t *before = source->bytes;
	struct pb_field field;
	int error = 0;

	if (size > source->size)
		return -ESTALE;
	top.end = source->bytes + size;
	while (error == 0 && pb_next(&top, &field)) {
		error = put_field(relining, &field, before, (size_t)(top.at - before));
		before = top.at;
	}
	if (error == 0 && relining->location_count != relining->lined->recording->location_count)
		error = -ESTALE;
	return error;
}

static void add_text(struct relining *relining, uint32_t field, const char *text)
{
	uint32_t id;

	if (text[0] == '\0')
		return;
	id = names_id(&relining->strings, text);
	if (id == NAMES_NONE)
		relining->message.error = -ENOMEM;
	pb_varint(&relining->message, field, relining->string_count + id);
}

static int put_function(struct relining *relining, const struct recording_function *function)
{
	struct pb_writer *message = &relining->message;

	pb_varint(message, FUNCTION_ID, function->id);
	add_text(relining, FUNCTION_NAME, function->name);
	add_text(relining, FUNCTION_SYSTEM_NAME, function->system_name);
	add_text(relining, FUNCTION_FILENAME, function->filename);
	if (function->start_line != 0)
		pb_varint(message, FUNCTION_START_LINE, (uint64_t)function->start_line);
	if (function->wasm_index != UINT32_MAX)
		pb_varint(message, FUNCTION_WASM_INDEX, (uint64_t)function->wasm_index + 1);
	if (function->core != UINT32_MAX)
		pb_varint(message, FUNCTION_CORE, function->core);
	return put_message(relining, PROFILE_FUNCTION);
}

static int put_call(struct relining *relining, const struct recording_location *call)
{
	struct pb_writer *message = &relining->message;

	pb_varint(message, LOCATION_ID, call->id);
	if (call->mapping != NULL)
		pb_varint(message, LOCATION_MAPPING_ID, call->mapping->id);
	add_line(message, &call->lines[0]);
	pb_varint(message, LOCATION_KIND, call->kind);
	pb_varint(message, LOCATION_IMPORTER, call->importer->id);
	return put_message(relining, PROFILE_LOCATION);
}

static int put_new(struct relining *relining)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < relining->lined->call_ids.count; i++)
		error = put_call(relining, relining->lined->calls[i]);
	for (size_t i = 0; error == 0 && i < lined_count(relining->lined); i++)
		error = put_function(relining, relining->lined->functions[i]);
	for (uint32_t i = 0; error == 0 && i < relining->strings.count; i++) {
		relining->field.size = 0;
		pb_string(&relining->field, PROFILE_STRING_TABLE, relining->strings.texts[i]);
		error = relining->field.error;
		if (error == 0)
			output_bytes(relining->output, relining->field.bytes, relining->field.size);
	}
	return error;
}

int relined_write(const struct lined *lined, struct output *output)
{
	struct relining relining = { .lined = lined, .output = output };
	struct source source = { 0 };
	char *why = NULL;
	int error = source_read(lined->recording->path, &source, &why);

	free(why);
	if (error == 0)
		error = put_fields(&relining, &source);
	if (error == 0)
		error = put_new(&relining);
	source_free(&source);
	pb_free(&relining.message);
	pb_free(&relining.field);
	names_free(&relining.strings);
	return error;
}
