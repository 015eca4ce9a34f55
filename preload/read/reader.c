/* SPDX-License-Identifier: MIT */
/* reader.c - a profile file into a struct recording: the passes over its top-level fields. Threads:
 * any. */
#include "preload/read/reader.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/read/reading.h"
#include "preload/read/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows are larger than their bytes in the file; a recording of an hour takes a hundredth of this.
 */
#define MEMORY_MAX ((size_t)2 << 30)

enum { WIRE_BYTES = 2 };

int reading_fail(struct reading *reading, const char *format, ...)
{
	char text[160];
	va_list args;

	if (reading->why != NULL)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (asprintf(&reading->why, "%s: byte %llu: %s", reading->path,
		     (unsigned long long)reading->at, text) < 0)
		reading->why = NULL;
	return -EINVAL;
}

const char *reading_string(const struct reading *reading, uint64_t index)
{
	return index < reading->string_count ? reading->strings[index] : "";
}

static uint64_t row_id(const uint8_t *row)
{
	uint64_t id;

	memcpy(&id, row, sizeof(id));
	return id;
}

static int compare_rows(const void *a, const void *b)
{
	uint64_t left = row_id(*(uint8_t *const *)a), right = row_id(*(uint8_t *const *)b);

	return left < right ? -1 : left > right;
}

/* To be called when all rows are there. 0 or -ENOMEM. */
static int sort_ids(struct reading *reading, struct reading_ids *ids)
{
	size_t i = 0;

	while (i < ids->count && row_id(ids->rows + i * ids->row_size) == i + 1)
		i++;
	if (i == ids->count)
		return 0;
	ids->sorted = arena_alloc(&reading->arena, ids->count, sizeof(*ids->sorted));
	if (ids->sorted == NULL)
		return -ENOMEM;
	for (i = 0; i < ids->count; i++)
		ids->sorted[i] = ids->rows + i * ids->row_size;
	qsort(ids->sorted, ids->count, sizeof(*ids->sorted), compare_rows);
	return 0;
}

void *reading_row(const struct reading_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->count;

	if (ids->sorted == NULL)
		return id >= 1 && id <= ids->count ? ids->rows + (id - 1) * ids->row_size : NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row_id(ids->sorted[middle]) < id)
			low = middle + 1;
		else
			high = middle;
	}
	return id != 0 && low < ids->count && row_id(ids->sorted[low]) == id ? ids->sorted[low]
									     : NULL;
}

static int read_string(struct reading *reading, const struct pb_field *field)
{
	char *text = arena_text(&reading->arena, field->bytes, field->size);

	if (text == NULL)
		return -ENOMEM;
	if (strcmp(text, "wasm_module") == 0)
		reading->has_wasm_labels = true;
	reading->strings[reading->string_count++] = text;
	return 0;
}

static int keep_info(struct reading *reading, const struct pb_field *field)
{
	reading->info = *field;
	reading->out->is_ours = true;
	return 0;
}

static int keep_stats(struct reading *reading, const struct pb_field *field)
{
	reading->stats = *field;
	reading->out->is_ours = true;
	return 0;
}

static int read_number(struct reading *reading, const struct pb_field *field)
{
	struct recording *out = reading->out;

	if (field->number == PROFILE_TIME_NANOS)
		out->time_unix_ns = field->value;
	else if (field->number == PROFILE_DURATION_NANOS)
		out->duration_ns = field->value;
	else
		out->period_ns = field->value;
	return 0;
}

/* What is read in which pass, and the wire type it must have. */
static const struct row {
	uint32_t number, wire;
	int pass;
	int (*read)(struct reading *reading, const struct pb_field *field);
} rows[] = {
	{ PROFILE_STRING_TABLE, WIRE_BYTES, 0, read_string },
	{ RECORDING_INFO, WIRE_BYTES, 0, keep_info },
	{ RECORDING_STATS, WIRE_BYTES, 0, keep_stats },
	{ PROFILE_SAMPLE_TYPE, WIRE_BYTES, 1, reading_sample_type },
	{ PROFILE_PERIOD_TYPE, WIRE_BYTES, 1, reading_period_type },
	{ PROFILE_TIME_NANOS, 0, 1, read_number },
	{ PROFILE_DURATION_NANOS, 0, 1, read_number },
	{ PROFILE_PERIOD, 0, 1, read_number },
	{ PROFILE_MAPPING, WIRE_BYTES, 1, reading_mapping },
	{ PROFILE_FUNCTION, WIRE_BYTES, 1, reading_function },
	{ PROFILE_LOCATION, WIRE_BYTES, 2, reading_location },
	{ RECORDING_PROCESS, WIRE_BYTES, 2, reading_process },
	{ PROFILE_SAMPLE, WIRE_BYTES, 3, reading_sample },
	{ RECORDING_GROUP, WIRE_BYTES, 3, reading_group },
	{ RECORDING_INTERVAL, WIRE_BYTES, 3, reading_interval },
	{ RECORDING_LIFE, WIRE_BYTES, 3, reading_life },
	{ RECORDING_HOSTCALL, WIRE_BYTES, 3, reading_hostcall },
};
enum { PASS_COUNT = 4 };

static int run_pass(struct reading *reading, int pass)
{
	struct pb_reader top = { .at = reading->bytes, .end = reading->bytes + reading->size };
	struct pb_field field;

	reading->at = 0;
	while (pb_next(&top, &field)) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			int error;

			if (rows[i].number != field.number || rows[i].pass != pass)
				continue;
			if (rows[i].wire != field.wire)
				return reading_fail(reading, "field %u has the wrong type",
						    field.number);
			error = rows[i].read(reading, &field);
			if (error != 0)
				return error;
		}
		reading->at = (uint64_t)(top.at - reading->bytes);
	}
	return 0;
}

struct counts {
	size_t fields, strings, types, samples, mappings, locations, functions, groups, intervals,
		lives, hostcalls, processes;
};

static void count_field(struct counts *counts, uint32_t number)
{
	counts->fields++;
	counts->strings += number == PROFILE_STRING_TABLE;
	counts->types += number == PROFILE_SAMPLE_TYPE;
	counts->samples += number == PROFILE_SAMPLE;
	counts->mappings += number == PROFILE_MAPPING;
	counts->locations += number == PROFILE_LOCATION;
	counts->functions += number == PROFILE_FUNCTION;
	counts->groups += number == RECORDING_GROUP;
	counts->intervals += number == RECORDING_INTERVAL;
	counts->lives += number == RECORDING_LIFE;
	counts->hostcalls += number == RECORDING_HOSTCALL;
	counts->processes += number == RECORDING_PROCESS;
}

/* Finds where the whole fields end, and how many rows there are. */
static struct counts count_rows(struct reading *reading)
{
	struct pb_reader top = { .at = reading->bytes, .end = reading->bytes + reading->size };
	struct counts counts = { 0 };
	struct pb_field field;

	while (pb_next(&top, &field))
		count_field(&counts, field.number);
	reading->at = (uint64_t)(top.at - reading->bytes);
	if (reading->at != reading->size) {
		reading->out->is_torn = true;
		reading->size = (size_t)reading->at;
	}
	reading->out->torn_at = reading->size;
	return counts;
}

static int make_tables(struct reading *reading, const struct counts *counts)
{
	struct recording *out = reading->out;
	struct arena *arena = &reading->arena;

	reading->strings = arena_alloc(arena, counts->strings, sizeof(*reading->strings));
	out->mappings = arena_alloc(arena, counts->mappings, sizeof(*out->mappings));
	out->functions = arena_alloc(arena, counts->functions, sizeof(*out->functions));
	out->locations = arena_alloc(arena, counts->locations, sizeof(*out->locations));
	out->samples = arena_alloc(arena, counts->samples, sizeof(*out->samples));
	out->intervals = arena_alloc(arena, counts->intervals, sizeof(*out->intervals));
	out->lives = arena_alloc(arena, counts->lives, sizeof(*out->lives));
	out->hostcalls = arena_alloc(arena, counts->hostcalls, sizeof(*out->hostcalls));
	out->processes = arena_alloc(arena, counts->processes + 1, sizeof(*out->processes));
	reading->mappings = (struct reading_ids){ .rows = (uint8_t *)out->mappings,
						  .row_size = sizeof(*out->mappings) };
	reading->functions = (struct reading_ids){ .rows = (uint8_t *)out->functions,
						   .row_size = sizeof(*out->functions) };
	reading->locations = (struct reading_ids){ .rows = (uint8_t *)out->locations,
						   .row_size = sizeof(*out->locations) };
	return arena->failed ? -ENOMEM : 0;
}

/* A text file can begin like a field or two; a profile has a string 0 that is empty, and types. */
static int check_is_profile(struct reading *reading, const struct counts *counts)
{
	if (reading->size == 0 && !reading->out->is_torn)
		return reading_fail(reading, "the file is empty");
	if (counts->types == 0 || counts->strings == 0) {
		reading->at = 0;
		return reading_fail(reading, "not a pprof profile");
	}
	return 0;
}

static int read_tables(struct reading *reading)
{
	struct counts counts = count_rows(reading);
	int error = check_is_profile(reading, &counts);

	if (error == 0)
		error = make_tables(reading, &counts);
	for (int pass = 0; error == 0 && pass < PASS_COUNT; pass++) {
		error = run_pass(reading, pass);
		if (error == 0 && pass == 0)
			error = reading_info(reading);
		if (error == 0 && pass == 1)
			error = sort_ids(reading, &reading->mappings);
		if (error == 0 && pass == 1)
			error = sort_ids(reading, &reading->functions);
		if (error == 0 && pass == 2)
			error = sort_ids(reading, &reading->locations);
	}
	if (error == 0)
		error = reading_stats(reading);
	if (error == 0)
		error = reading_forget_files(reading);
	reading->out->sample_count = error == 0 ? counts.samples : 0;
	if (error == 0)
		error = reading_settle_merged(reading);
	if (error == 0)
		reading_settle_processes(reading);
	return reading->arena.failed ? -ENOMEM : error;
}

static int read_path(struct reading *reading)
{
	struct source source;
	int error = source_read(reading->path, &source, &reading->why);

	if (error != 0)
		return error;
	reading->bytes = source.bytes;
	reading->size = source.size;
	reading->out->is_torn = source.is_cut;
	error = read_tables(reading);
	source_free(&source);
	return error;
}

/* Of READING, whose bytes are there, or else are those of its path. */
static struct recording *read_recording(struct reading *reading, char **why)
{
	const char *path = reading->path;
	struct arena *arena = calloc(1, sizeof(*arena));
	int error = -ENOMEM;

	reading->out = arena_alloc(&reading->arena, 1, sizeof(*reading->out));
	if (reading->out != NULL)
		reading->out->path =
			arena_text(&reading->arena, (const uint8_t *)path, strlen(path));
	if (arena != NULL && reading->out != NULL && reading->out->path != NULL)
		error = reading->bytes != NULL ? read_tables(reading) : read_path(reading);
	pairs_free(&reading->groups);
	pairs_free(&reading->lives);
	pairs_free(&reading->hostcalls);
	free(reading->ids.values);
	free(reading->numbers.values);
	if (error != 0) {
		if (reading->why == NULL &&
		    asprintf(&reading->why, "%s: %s", path, strerror(-error)) < 0)
			reading->why = NULL;
		*why = reading->why;
		arena_free(&reading->arena);
		free(arena);
		return NULL;
	}
	*arena = reading->arena;
	reading->out->memory = arena;
	return reading->out;
}

struct recording *recording_read(const char *path, char **why)
{
	struct reading reading = { .path = path, .arena = { .limit = MEMORY_MAX } };

	return read_recording(&reading, why);
}

struct recording *recording_parse(const char *name, const void *bytes, size_t size, char **why)
{
	struct reading reading = {
		.path = name,
		.arena = { .limit = MEMORY_MAX },
		.bytes = size != 0 ? bytes : (const void *)"",
		.size = size,
	};

	return read_recording(&reading, why);
}

void recording_free(struct recording *recording)
{
	struct arena *arena;

	if (recording == NULL)
		return;
	arena = recording->memory;
	arena_free(arena);
	free(arena);
}

uint64_t recording_stat(const struct recording *recording, const char *name)
{
	for (size_t i = 0; i < recording->stat_count; i++) {
		if (strcmp(recording->stats[i].name, name) == 0)
			return recording->stats[i].value;
	}
	return 0;
}
