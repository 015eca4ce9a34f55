/* SPDX-License-Identifier: MIT */
/*
 * chunks.h - chunks to encode, and a check of what was encoded that shares no code with chunk.c:
 * field numbers are written here again, from google/pprof's profile.proto.
 */
#ifndef TESTS_UNIT_ENCODE_CHUNKS_H
#define TESTS_UNIT_ENCODE_CHUNKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/encode/pb.h"
#include "preload/encode/writer.h"
#include "preload/profile/chunk.h"

enum { ROWS_MAX = 4096, DEPTH = 40 };

/* A chunk of COUNT functions with a location, a string and a sample each. */
struct made_chunk {
	struct chunk chunk;
	char texts[ROWS_MAX][64];
	const char *strings[ROWS_MAX + STRING_FIXED_COUNT + 8];
	struct chunk_mapping mapping;
	struct chunk_function functions[ROWS_MAX];
	struct chunk_location locations[ROWS_MAX];
	struct chunk_sample samples[ROWS_MAX];
	struct chunk_group group;
	uint64_t stacks[ROWS_MAX][DEPTH];
};

static const char *const fixed_strings[] = {
#define ROW(id, text) text,
	CHUNK_STRINGS(ROW)
#undef ROW
};

/* The rows behind FIRST of those that a recording has, COUNT of them. FIRST 0: with the fixed ones.
 */
static inline struct made_chunk *make_chunk(size_t first, size_t count)
{
	struct made_chunk *made = calloc(1, sizeof(*made));
	size_t fixed = first == 0 ? STRING_FIXED_COUNT : 0;

	for (size_t i = 0; i < fixed; i++)
		made->strings[i] = fixed_strings[i];
	for (size_t i = 0; i < count; i++) {
		uint64_t id = first + i + 1, string = STRING_FIXED_COUNT + first + i;
		size_t depth = 1 + i % DEPTH;

		snprintf(made->texts[i], sizeof(made->texts[i]), "module.wasm!function_%zu",
			 first + i);
		made->strings[fixed + i] = made->texts[i];
		made->functions[i] = (struct chunk_function){
			.id = id, .name = string, .system_name = string, .wasm_index = (uint32_t)i
		};
		made->locations[i] =
			(struct chunk_location){ .id = id,
						 .mapping = 1,
						 .address = 0x100 + i,
						 .function = id,
						 .kind = i % 5 == 0 ? FRAME_HOST : FRAME_GUEST,
						 .address_is_wasm = true,
						 .is_guess = (first + i) % 3 == 0 };
		for (size_t k = 0; k < depth; k++)
			made->stacks[i][k] = 1 + (first + i) * (k + 1) % (first + i + 1);
		made->samples[i] =
			(struct chunk_sample){ .locations = made->stacks[i],
					       .location_count = depth,
					       .count = 1 + i,
					       .cpu_ns = (1 + i) * 10000000,
					       .module = string,
					       .instance = string,
					       .thread_name = string,
					       .state = chunk_state_string(i % STATE_COUNT),
					       .thread_id = 4242,
					       .time_ns = i,
					       .is_truncated = i % 7 == 0 };
	}
	made->mapping = (struct chunk_mapping){ .id = 1,
						.start = 0x7f0000001000,
						.limit = 0x7f0000009000,
						.filename = STRING_FIXED_COUNT,
						.build_id = STRING_FIXED_COUNT,
						.loading = 3,
						.function_count = 12,
						.name_origin = 1,
						.identity_is_wasm = true };
	made->group = (struct chunk_group){ .module = STRING_FIXED_COUNT,
					    .identity = STRING_FIXED_COUNT,
					    .samples = first + count,
					    .samples_by_state = { 1, 0, 2, 0 } };
	made->chunk = (struct chunk){ .strings = made->strings,
				      .string_count = fixed + count,
				      .first_string = first == 0 ? 0 : STRING_FIXED_COUNT + first,
				      .mappings = &made->mapping,
				      .mapping_count = first == 0,
				      .functions = made->functions,
				      .function_count = count,
				      .locations = made->locations,
				      .location_count = count,
				      .samples = made->samples,
				      .sample_count = count,
				      .groups = &made->group,
				      .group_count = 1,
				      .duration_ns = 1000000000 * (first + 1) };
	return made;
}

/* ---- the check ------------------------------------------------------------------------------- */

struct checked {
	size_t strings, sample_types, mappings, functions, locations, samples, groups, infos, stats;
	uint64_t count, cpu_ns, period, time_ns, duration_ns;
	bool has_ended, is_torn;
	const char *problem; /* NULL: every row is in order and refers to rows before it */
};

#define CHECK(condition)                                      \
	do {                                                  \
		if (!(condition) && checked->problem == NULL) \
			checked->problem = #condition;        \
	} while (0)

/* The value of varint field NUMBER in MESSAGE, the last one; 0 when absent. */
static inline uint64_t number_in(const struct pb_field *message, uint32_t number)
{
	struct pb_reader reader = { .at = message->bytes, .end = message->bytes + message->size };
	struct pb_field field;
	uint64_t value = 0;

	while (pb_next(&reader, &field))
		if (field.number == number && field.wire == 0)
			value = field.value;
	return value;
}

/* The first submessage or bytes field NUMBER in MESSAGE. */
static inline bool field_in(const struct pb_field *message, uint32_t number, struct pb_field *field)
{
	struct pb_reader reader = { .at = message->bytes, .end = message->bytes + message->size };

	while (pb_next(&reader, field))
		if (field->number == number)
			return true;
	return false;
}

struct value_list {
	uint64_t values[2048];
	size_t count;
};

static inline void add_value(void *context, uint64_t value)
{
	struct value_list *list = context;

	if (list->count < ARRAY_SIZE(list->values))
		list->values[list->count++] = value;
}

static inline void check_label(struct checked *checked, const struct pb_field *label)
{
	CHECK(number_in(label, 1) > 0 && number_in(label, 1) < checked->strings);
	CHECK(number_in(label, 2) < checked->strings);
	CHECK(number_in(label, 4) < checked->strings);
}

static inline void check_sample(struct checked *checked, const struct pb_field *message)
{
	struct pb_reader reader = { .at = message->bytes, .end = message->bytes + message->size };
	struct value_list locations = { .count = 0 }, values = { .count = 0 };
	struct pb_field field;

	while (pb_next(&reader, &field)) {
		if (field.number == 1)
			pb_each_varint(&field, add_value, &locations);
		if (field.number == 2)
			pb_each_varint(&field, add_value, &values);
		if (field.number == 3)
			check_label(checked, &field);
	}
	CHECK(reader.error == 0);
	CHECK(locations.count > 0);
	for (size_t i = 0; i < locations.count; i++)
		CHECK(locations.values[i] > 0 && locations.values[i] <= checked->locations);
	CHECK(values.count == checked->sample_types);
	checked->count += values.values[0];
	checked->cpu_ns += values.values[1];
	checked->samples++;
}

static inline void check_location(struct checked *checked, const struct pb_field *message)
{
	struct pb_field line;

	checked->locations++;
	CHECK(number_in(message, 1) == checked->locations);
	CHECK(number_in(message, 2) <= checked->mappings);
	CHECK(field_in(message, 4, &line));
	CHECK(number_in(&line, 1) > 0 && number_in(&line, 1) <= checked->functions);
}

static inline void check_function(struct checked *checked, const struct pb_field *message)
{
	checked->functions++;
	CHECK(number_in(message, 1) == checked->functions);
	CHECK(number_in(message, 2) > 0 && number_in(message, 2) < checked->strings);
	CHECK(number_in(message, 3) < checked->strings);
	CHECK(number_in(message, 4) < checked->strings);
}

static inline void check_mapping(struct checked *checked, const struct pb_field *message)
{
	checked->mappings++;
	CHECK(number_in(message, 1) == checked->mappings);
	CHECK(number_in(message, 5) < checked->strings);
	CHECK(number_in(message, 6) < checked->strings);
	CHECK(number_in(message, 1001) < checked->strings);
}

static inline void check_field(struct checked *checked, const struct pb_field *field)
{
	switch (field->number) {
	case 1:
	case 11:
		checked->sample_types += field->number == 1;
		CHECK(number_in(field, 1) < checked->strings &&
		      number_in(field, 2) < checked->strings);
		break;
	case 2:
		check_sample(checked, field);
		break;
	case 3:
		check_mapping(checked, field);
		break;
	case 4:
		check_location(checked, field);
		break;
	case 5:
		check_function(checked, field);
		break;
	case 6:
		CHECK(checked->strings != 0 || field->size == 0);
		CHECK(memchr(field->bytes, '\0', field->size) == NULL);
		checked->strings++;
		break;
	case 9:
		checked->time_ns = field->value;
		break;
	case 10:
		checked->duration_ns = field->value;
		break;
	case 12:
		checked->period = field->value;
		break;
	case 14:
		CHECK(field->value < checked->strings);
		break;
	case 1000:
		break;
	case 1001:
		checked->infos++;
		checked->has_ended = number_in(field, 8) == 1;
		CHECK(number_in(field, 1) == 1);
		break;
	case 1002:
		checked->stats++;
		break;
	case 1003:
		checked->groups++;
		CHECK(number_in(field, 1) < checked->strings &&
		      number_in(field, 2) < checked->strings);
		break;
	default:
		CHECK(!"a field nobody knows");
	}
}

/* Reads a recording as any reader of pprof would, in the order of the file. */
static inline struct checked check_recording(const uint8_t *bytes, size_t size)
{
	struct checked result = { 0 }, *checked = &result;
	struct pb_reader reader = { .at = bytes, .end = bytes + size };
	struct pb_field field;

	while (pb_next(&reader, &field))
		check_field(checked, &field);
	checked->is_torn = reader.error != 0;
	return result;
}

#endif /* TESTS_UNIT_ENCODE_CHUNKS_H */
