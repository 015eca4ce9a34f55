/* SPDX-License-Identifier: MIT */
/*
 * audit_pprof.c - every field of a profile (google/pprof, proto/profile.proto, and recording.h)
 * against the list of those that a shared file has. Threads: one at a time.
 */
#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/share/audit_shapes.h"
#include "preload/share/audit_texts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Rows take more memory than their bytes in the file. */
#define MEMORY_MAX ((size_t)2 << 30)

enum { WHERE_SIZE = 160 };

/* ---- fields ---------------------------------------------------------------------------------- */

/* A string's first use must follow that of the one before: else its number tells of others. */
static void use_string(struct profile *profile, const char *where, uint64_t index)
{
	if (index >= profile->string_count) {
		audit_found(profile->audit, where, "string %llu, which is not in the file",
			    (unsigned long long)index);
		return;
	}
	if (index > profile->next_string && !profile->is_disordered && !profile->is_export) {
		/* One tells it: all that follow are out of order too. */
		profile->is_disordered = true;
		audit_found(profile->audit, where,
			    "string %llu, before string %llu was used: not in order of use",
			    (unsigned long long)index, (unsigned long long)profile->next_string);
	}
	profile->is_string_used[index] = 1;
	while (profile->next_string < profile->string_count &&
	       profile->is_string_used[profile->next_string])
		profile->next_string++;
}

struct references {
	struct profile *profile;
	const char *where;
	enum profile_table table;
};

static void use_row(void *context, uint64_t id)
{
	const struct references *references = context;
	struct profile_rows *rows = &references->profile->tables[references->table];

	if (id == 0 || id > rows->count)
		audit_found(references->profile->audit, references->where,
			    "row %llu, which is not in the file", (unsigned long long)id);
	else
		rows->is_used[id - 1] = 1;
}

static void check_number(void *context, uint64_t number)
{
	const struct references *references = context;

	audit_number(references->profile->audit, references->where, number);
}

static void check_in_place(struct profile *profile, const char *where, const struct pb_field *field)
{
	const char *text = arena_text(&profile->arena, field->bytes, field->size);

	if (text != NULL)
		audit_text(profile->audit, where, text);
}

static void walk_message(struct profile *profile, const char *where, const struct shape *shape,
			 const struct pb_field *message, uint64_t row);

/* Numbers and references are varints, but for lists; the others are bytes. */
static bool has_right_wire(const struct shape_rule *rule, const struct pb_field *field)
{
	switch (rule->role) {
	case ROLE_TEXT:
	case ROLE_BYTES:
	case ROLE_MESSAGE:
	case ROLE_NUMBERS:
	case ROLE_REFERENCES:
		return field->bytes != NULL;
	case ROLE_DEBUG:
		return (field->bytes != NULL) == (rule->number == MAPPING_DEBUG);
	default:
		return field->wire == 0;
	}
}

static void walk_field(struct profile *profile, const char *where, const struct shape_rule *rule,
		       const struct pb_field *field, uint64_t row)
{
	struct references references = { profile, where, rule->table };

	switch (rule->role) {
	case ROLE_STRING:
		use_string(profile, where, field->value);
		break;
	case ROLE_TEXT:
		check_in_place(profile, where, field);
		break;
	case ROLE_NUMBER:
		check_number(&references, field->value);
		break;
	case ROLE_NUMBERS:
		if (pb_each_varint(field, check_number, &references) != 0)
			audit_found(profile->audit, where, "a damaged list of numbers");
		break;
	case ROLE_ID:
		if (field->value != row)
			audit_found(profile->audit, where, "id %llu in row %llu: not in sequence",
				    (unsigned long long)field->value, (unsigned long long)row);
		break;
	case ROLE_REFERENCE:
		use_row(&references, field->value);
		break;
	case ROLE_REFERENCES:
		if (pb_each_varint(field, use_row, &references) != 0)
			audit_found(profile->audit, where, "a damaged list of ids");
		break;
	case ROLE_DEBUG:
		if (!profile->audit->has_debug)
			audit_found(profile->audit, where, "debug sections");
		break;
	case ROLE_MESSAGE:
		walk_message(profile, where, rule->message, field, row);
		break;
	case ROLE_BYTES:
		break;
	}
}

static void walk_message(struct profile *profile, const char *where, const struct shape *shape,
			 const struct pb_field *message, uint64_t row)
{
	struct pb_reader parts = profile_parts(message);
	uint32_t seen = 0;
	struct pb_field part;
	char place[WHERE_SIZE];

	while (pb_next(&parts, &part)) {
		const struct shape_rule *rule = audit_shapes_find(shape, part.number);

		snprintf(place, sizeof(place), "%s: field %u", where, part.number);
		if (rule == NULL || (profile->is_export && part.number >= RECORDING_PAD)) {
			audit_found(profile->audit, place, "not on the list for %s", shape->name);
			continue;
		}
		if (!rule->repeats && (seen & 1u << (rule - shape->rules)) != 0)
			audit_found(profile->audit, place, "there twice");
		seen |= 1u << (rule - shape->rules);
		if (!has_right_wire(rule, &part))
			audit_found(profile->audit, place, "of the wrong type");
		else
			walk_field(profile, place, rule, &part, row);
	}
	if (parts.error != 0)
		audit_found(profile->audit, where, "damaged after its byte %zu",
			    (size_t)(parts.at - message->bytes));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static enum profile_table table_of(uint32_t number)
{
	switch (number) {
	case PROFILE_MAPPING:
		return TABLE_MAPPING;
	case PROFILE_LOCATION:
		return TABLE_LOCATION;
	case PROFILE_FUNCTION:
		return TABLE_FUNCTION;
	default:
		return TABLE_NONE;
	}
}

static int make_tables(struct profile *profile, const uint8_t *bytes, size_t size)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	struct arena *arena = &profile->arena;
	size_t counts[TABLE_COUNT] = { 0 }, strings = 0, samples = 0, groups = 0;
	struct pb_field field;

	while (pb_next(&top, &field)) {
		counts[table_of(field.number)]++;
		strings += field.number == PROFILE_STRING_TABLE;
		samples += field.number == PROFILE_SAMPLE;
		groups += field.number == RECORDING_GROUP;
	}
	profile->strings = arena_alloc(arena, strings + 1, sizeof(*profile->strings));
	profile->is_string_used = arena_alloc(arena, strings + 1, 1);
	profile->samples = arena_alloc(arena, samples + 1, sizeof(*profile->samples));
	profile->groups = arena_alloc(arena, groups + 1, sizeof(*profile->groups));
	for (int i = TABLE_MAPPING; i < TABLE_COUNT; i++) {
		profile->tables[i].list = arena_alloc(arena, counts[i] + 1, sizeof(field));
		profile->tables[i].is_used = arena_alloc(arena, counts[i] + 1, 1);
	}
	return arena->failed ? -ENOMEM : 0;
}

/* Rows of the wrong type are no rows; the walk tells of them. */
static void fill_tables(struct profile *profile, const uint8_t *bytes, size_t size)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	struct pb_field field;

	while (pb_next(&top, &field)) {
		struct profile_rows *rows = &profile->tables[table_of(field.number)];

		if (field.number == PROFILE_DURATION_NANOS)
			profile->duration_ns = field.value;
		if (field.bytes == NULL)
			continue;
		if (rows != profile->tables)
			rows->list[rows->count++] = field;
		else if (field.number == PROFILE_STRING_TABLE)
			profile->strings[profile->string_count++] =
				arena_text(&profile->arena, field.bytes, field.size);
		else if (field.number == PROFILE_SAMPLE)
			profile->samples[profile->sample_count++] = field;
		else if (field.number == RECORDING_GROUP)
			profile->groups[profile->group_count++] = field;
		else if (field.number == RECORDING_INFO)
			profile->info = field;
		else if (field.number == RECORDING_STATS)
			profile->stats = field;
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* WHERE of the top-level FIELD: `mapping 3`, or its number. */
static void name_field(char *where, const struct shape_rule *rule, const struct pb_field *field,
		       size_t row)
{
	if (rule != NULL && rule->role == ROLE_MESSAGE && rule->repeats)
		snprintf(where, WHERE_SIZE, "%s %zu", rule->message->name, row);
	else if (rule != NULL && rule->role == ROLE_MESSAGE)
		snprintf(where, WHERE_SIZE, "%s", rule->message->name);
	else
		snprintf(where, WHERE_SIZE, "field %u", field->number);
}

static void walk_top(struct profile *profile, const uint8_t *bytes, size_t size)
{
	struct pb_reader top = { .at = bytes, .end = bytes + size };
	const struct shape *whole = &audit_shapes_profile;
	size_t rows[SHAPE_RULES_MAX] = { 0 };
	struct pb_field field;
	char where[WHERE_SIZE];

	/* The first string is "", which absent fields refer to. */
	if (profile->string_count != 0)
		use_string(profile, "string 0", 0);
	while (pb_next(&top, &field)) {
		const struct shape_rule *rule = audit_shapes_find(whole, field.number);
		size_t row = rule != NULL ? ++rows[rule - whole->rules] : 0;

		name_field(where, rule, &field, row);
		if (rule == NULL || (profile->is_export && field.number >= RECORDING_PAD))
			audit_found(profile->audit, where, "not on the list for a profile");
		else if (!rule->repeats && row > 1)
			audit_found(profile->audit, where, "there twice");
		else if (!has_right_wire(rule, &field))
			audit_found(profile->audit, where, "of the wrong type");
		else
			walk_field(profile, where, rule, &field, row);
	}
	if (top.error != 0)
		audit_found(profile->audit, "profile", "%zu bytes behind the last whole field",
			    (size_t)(top.end - top.at));
}

static void check_strings(struct profile *profile)
{
	const struct audit_texts *texts = profile->audit->texts;
	char where[WHERE_SIZE];

	for (size_t i = 0; i < profile->string_count; i++) {
		const char *text = profile->strings[i];

		snprintf(where, sizeof(where), "string %zu", i);
		if (!profile->is_string_used[i])
			audit_found(profile->audit, where, "not used: \"%.200s\"", text);
		if ((i == 0) != (text[0] == '\0'))
			audit_found(profile->audit, where, "the first, and it alone, is empty");
		if (texts != NULL && !audit_texts_is_told(texts, text))
			audit_found(profile->audit, where,
				    "not a text that may be told of the recording: \"%.200s\"",
				    text);
		else
			audit_text(profile->audit, where, text);
	}
}

static void check_use(struct profile *profile)
{
	static const char *const names[TABLE_COUNT] = { "", "mapping", "location", "function" };
	char where[WHERE_SIZE];

	for (int i = TABLE_LOCATION; i < TABLE_COUNT; i++) {
		for (size_t j = 0; j < profile->tables[i].count; j++) {
			if (profile->tables[i].is_used[j])
				continue;
			snprintf(where, sizeof(where), "%s %zu", names[i], j + 1);
			audit_found(profile->audit, where, "not used");
		}
	}
}

int audit_pprof(struct audit *audit, const uint8_t *bytes, size_t size)
{
	struct profile profile = { .audit = audit, .arena = { .limit = MEMORY_MAX } };
	int error = make_tables(&profile, bytes, size);

	if (error == 0) {
		fill_tables(&profile, bytes, size);
		error = profile.arena.failed ? -ENOMEM : 0;
	}
	if (error == 0) {
		profile.is_export = profile.info.bytes == NULL;
		walk_top(&profile, bytes, size);
		check_strings(&profile);
		check_use(&profile);
		error = audit_profile(&profile);
	}
	if (profile.arena.failed)
		error = -ENOMEM;
	arena_free(&profile.arena);
	return error;
}
