/* SPDX-License-Identifier: MIT */
/* audit_profile.c - what the rows of a shared file's tables may say. Threads: one at a time. */
#include "preload/share/audit_profile.h"

#include "preload/encode/profile_fields.h"
#include "preload/encode/recording.h"
#include "preload/share/shared.h"
#include "preload/share/sharedname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WHERE_SIZE = 64 };

uint64_t profile_number(const struct pb_field *message, uint32_t number)
{
	struct pb_reader parts = profile_parts(message);
	struct pb_field part;
	uint64_t value = 0;

	while (pb_next(&parts, &part)) {
		if (part.number == number)
			value = part.value;
	}
	return value;
}

const char *profile_string(const struct profile *profile, const struct pb_field *message,
			   uint32_t number)
{
	uint64_t index = profile_number(message, number);

	return index < profile->string_count ? profile->strings[index] : "";
}

const struct pb_field *profile_row(const struct profile *profile, enum profile_table table,
				   uint64_t id)
{
	const struct profile_rows *rows = &profile->tables[table];

	return id >= 1 && id <= rows->count ? &rows->list[id - 1] : NULL;
}

/* Field NUMBER of MESSAGE, in place, is TEXT? */
static bool has_text(const struct pb_field *message, uint32_t number, const char *text)
{
	struct pb_reader parts = profile_parts(message);
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		if (part.number == number && part.bytes != NULL)
			return part.size == strlen(text) &&
			       memcmp(part.bytes, text, part.size) == 0;
	}
	return text[0] == '\0';
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void check_mappings(struct profile *profile)
{
	const struct profile_rows *rows = &profile->tables[TABLE_MAPPING];
	char where[WHERE_SIZE];

	for (size_t i = 0; i < rows->count; i++) {
		const char *name = profile_string(profile, &rows->list[i], MAPPING_FILENAME);
		const char *identity = profile_string(profile, &rows->list[i], MAPPING_BUILD_ID);
		size_t base = sharedname_base(name, identity);

		snprintf(where, sizeof(where), "mapping %zu", i + 1);
		if (!audit_is_module(profile->audit, name))
			audit_found(profile->audit, where, "another module: \"%.200s\"", name);
		if (name[base] == '{')
			audit_found(profile->audit, where, "labels in a name: \"%.200s\"", name);
	}
}

/* The name of the only function that LOCATION is in; "" when there is none, or more. */
static const char *only_name(const struct profile *profile, const struct pb_field *location)
{
	struct pb_reader parts = profile_parts(location);
	const struct pb_field *function = NULL;
	struct pb_field part;
	size_t lines = 0;

	while (pb_next(&parts, &part)) {
		if (part.number != LOCATION_LINE || part.bytes == NULL)
			continue;
		function = profile_row(profile, TABLE_FUNCTION,
				       profile_number(&part, LINE_FUNCTION_ID));
		lines++;
	}
	return lines == 1 && function != NULL ? profile_string(profile, function, FUNCTION_NAME)
					      : "";
}

static void check_location(struct profile *profile, const char *where,
			   const struct pb_field *location)
{
	uint64_t kind = profile_number(location, LOCATION_KIND);
	bool has_mapping = profile_number(location, LOCATION_MAPPING_ID) != 0;
	bool is_imported = profile_number(location, LOCATION_IMPORTER) != 0;
	bool is_guest = kind == FRAME_GUEST || kind == FRAME_TRAMPOLINE;
	const char *name = only_name(profile, location);

	if (kind == FRAME_HOST && !is_imported && strcmp(name, SHARED_HOST) != 0)
		audit_found(profile->audit, where, "host code by name: \"%.200s\"", name);
	if (kind == FRAME_BUILTIN && strcmp(name, SHARED_BUILTIN) != 0)
		audit_found(profile->audit, where, "a builtin by name: \"%.200s\"", name);
	if (kind == FRAME_INTERPRETER && strcmp(name, SHARED_INTERPRETER) != 0)
		audit_found(profile->audit, where, "an interpreter by name: \"%.200s\"", name);
	if (kind > FRAME_TRAMPOLINE && kind != FRAME_INTERPRETER)
		audit_found(profile->audit, where, "generated code of nobody");
	if (is_imported && kind != FRAME_HOST)
		audit_found(profile->audit, where, "an import that is no host call");
	if (has_mapping != (kind != FRAME_HOST))
		audit_found(profile->audit, where,
			    has_mapping ? "host code in a module" : "code of no module");
	if (!is_guest && profile_number(location, LOCATION_ADDRESS) != 0)
		audit_found(profile->audit, where, "a place in code that is not the guest's");
}

/* An export does not say what a frame is: there only its texts tell (audit_texts.h). */
static void check_locations(struct profile *profile)
{
	const struct profile_rows *rows = &profile->tables[TABLE_LOCATION];
	char where[WHERE_SIZE];

	for (size_t i = 0; !profile->is_export && i < rows->count; i++) {
		snprintf(where, sizeof(where), "location %zu", i + 1);
		check_location(profile, where, &rows->list[i]);
	}
}

/* ---- groups, counters, facts ----------------------------------------------------------------- */

static void check_label(struct profile *profile, const char *where, const char *key,
			const char *value)
{
	const struct selection *selection = profile->audit->selection;

	if (!selection_keeps(selection, key))
		audit_found(profile->audit, where, "the label \"%.60s\", which was not to be kept",
			    key);
	else if (selection->by == SELECTION_LABEL && strcmp(key, selection->key) == 0 &&
		 strcmp(value, selection->value) != 0)
		audit_found(profile->audit, where, "another's label: \"%.60s=%.200s\"", key, value);
}

static void check_group(struct profile *profile, const char *where, const struct pb_field *group)
{
	const char *module = profile_string(profile, group, GROUP_MODULE);
	struct pb_reader parts = profile_parts(group);
	struct pb_field part;

	if (!audit_is_module(profile->audit, module))
		audit_found(profile->audit, where, "another module: \"%.200s\"", module);
	while (pb_next(&parts, &part)) {
		if (part.number == GROUP_LABEL && part.bytes != NULL)
			check_label(profile, where, profile_string(profile, &part, GROUP_LABEL_KEY),
				    profile_string(profile, &part, GROUP_LABEL_VALUE));
	}
}

static void check_counters(struct profile *profile)
{
	static const char *const known[] = { "samples", "lost_memory", "truncated", "unnamed" };
	struct pb_reader parts = profile_parts(&profile->stats);
	struct pb_field part;

	while (pb_next(&parts, &part)) {
		bool is_known = false;

		for (size_t i = 0; part.bytes != NULL && i < ARRAY_SIZE(known); i++)
			is_known |= has_text(&part, STATS_ENTRY_NAME, known[i]);
		if (!is_known)
			audit_found(profile->audit, "counters", "a counter of the whole process");
	}
}

static void check_info(struct profile *profile)
{
	const struct pb_field *info = &profile->info;

	if (profile_number(info, INFO_VERSION) != 1)
		audit_found(profile->audit, "info", "an unknown version");
	if (!has_text(info, INFO_STACKS, "guest") && !has_text(info, INFO_STACKS, "hostcalls"))
		audit_found(profile->audit, "info", "stacks that a shared file cannot have");
}

int audit_profile(struct profile *profile)
{
	char where[WHERE_SIZE];

	check_mappings(profile);
	check_locations(profile);
	for (size_t i = 0; i < profile->group_count; i++) {
		snprintf(where, sizeof(where), "group %zu", i + 1);
		check_group(profile, where, &profile->groups[i]);
	}
	if (!profile->is_export) {
		check_counters(profile);
		check_info(profile);
	}
	if (profile->duration_ns % SHARED_TICK_NS != 0)
		audit_found(profile->audit, "field 10", "a time that is not rounded: %llu ns",
			    (unsigned long long)profile->duration_ns);
	return audit_profile_samples(profile);
}
