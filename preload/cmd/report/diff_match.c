/* SPDX-License-Identifier: MIT */
/* diff_match.c - which module and group of one recording is which of another. Threads: one at a
 * time. */
#include "preload/cmd/report/diff_match.h"

#include "preload/cmd/report/diff_functions.h"
#include "preload/cmd/symbolize/regroup.h"
#include "preload/read/called.h"
#include "preload/read/names.h"
#include "preload/read/rows.h"
#include "preload/read/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *diff_how_text(enum diff_how how)
{
	static const char *const texts[] = {
		[DIFF_HOW_NONE] = "no match",	       [DIFF_HOW_WASM] = "same bytes (wasm hash)",
		[DIFF_HOW_CODE] = "same code section", [DIFF_HOW_IMAGE] = "same machine code",
		[DIFF_HOW_BUILD_ID] = "same build_id", [DIFF_HOW_NAME] = "same name, other bytes",
	};

	return texts[how];
}

const char *diff_how_name(enum diff_how how)
{
	static const char *const names[] = {
		[DIFF_HOW_NONE] = NULL,		  [DIFF_HOW_WASM] = "wasm",
		[DIFF_HOW_CODE] = "code",	  [DIFF_HOW_IMAGE] = "image",
		[DIFF_HOW_BUILD_ID] = "build_id", [DIFF_HOW_NAME] = "name",
	};

	return names[how];
}

/* ---- modules --------------------------------------------------------------------------------- */

static bool is_equal(const char *a, const char *b)
{
	return a[0] != '\0' && strcmp(a, b) == 0;
}

static bool has_name_of(const struct recording_mapping *a, const struct recording_mapping *b)
{
	size_t length = called_plain_length(a->name);

	return length == called_plain_length(b->name) && memcmp(a->name, b->name, length) == 0;
}

/* Whether the two are one for the reason HOW. */
static bool is_one(const struct recording_mapping *a, const struct recording_mapping *b,
		   enum diff_how how)
{
	switch (how) {
	case DIFF_HOW_WASM:
		return a->identity_is_wasm && b->identity_is_wasm &&
		       is_equal(a->identity, b->identity);
	case DIFF_HOW_CODE:
		return is_equal(a->code, b->code);
	case DIFF_HOW_IMAGE:
		return is_equal(a->image, b->image) ||
		       (a->identity_is_wasm == b->identity_is_wasm &&
			is_equal(a->identity, b->identity));
	case DIFF_HOW_BUILD_ID:
		return is_equal(a->build_id_section, b->build_id_section);
	case DIFF_HOW_NAME:
		return has_name_of(a, b);
	default:
		return false;
	}
}

/* What is no guest's has its name in brackets, and is one by that. */
static bool is_guest(const struct recording_mapping *mapping)
{
	return mapping->name[0] != '\0' && mapping->name[0] != '[';
}

bool diff_is_loading_of(const struct recording_mapping *listed,
			const struct recording_mapping *mapping)
{
	if (listed == NULL)
		return false;
	if (listed->identity[0] == '\0' && mapping->identity[0] == '\0')
		return strcmp(listed->name, mapping->name) == 0;
	return strcmp(listed->identity, mapping->identity) == 0;
}

static int add_module(struct diff_match *match, const struct diff_module *module)
{
	if (rows_reserve(&match->modules, &match->module_room, match->module_count,
			 sizeof(*match->modules)) != 0)
		return -ENOMEM;
	match->modules[match->module_count++] = *module;
	return 0;
}

static int list_modules(struct diff_match *match, const struct recording *recording, bool is_after)
{
	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];
		struct diff_module module = { .before = is_after ? NULL : mapping,
					      .after = is_after ? mapping : NULL,
					      .before_name = is_after ? NULL : mapping->name };
		bool is_listed = !is_guest(mapping);

		for (size_t j = 0; !is_listed && j < match->module_count; j++)
			is_listed = diff_is_loading_of(is_after ? match->modules[j].after
								: match->modules[j].before,
						       mapping);
		if (!is_listed && add_module(match, &module) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* Puts the row of what is only after into that of what is only before. */
static void join(struct diff_match *match, size_t before, size_t after, enum diff_how how)
{
	match->modules[before].after = match->modules[after].after;
	match->modules[before].how = how;
	memmove(&match->modules[after], &match->modules[after + 1],
		(match->module_count - after - 1) * sizeof(*match->modules));
	match->module_count--;
}

static void join_modules(struct diff_match *match, enum diff_how how)
{
	for (size_t i = 0; i < match->module_count; i++) {
		const struct diff_module *before = &match->modules[i];

		for (size_t j = i + 1; before->after == NULL && j < match->module_count; j++) {
			const struct diff_module *after = &match->modules[j];

			if (after->before == NULL && is_one(before->before, after->after, how))
				join(match, i, j, how);
		}
	}
}

static int match_modules(struct diff_match *match, const struct recording *before,
			 const struct recording *after)
{
	int error = list_modules(match, before, false);

	if (error == 0)
		error = list_modules(match, after, true);
	for (enum diff_how how = DIFF_HOW_WASM; error == 0 && how <= DIFF_HOW_NAME; how++)
		join_modules(match, how);
	return error;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool has_labels_of(const struct recording_group *a, const struct recording_group *b)
{
	if (a->label_count != b->label_count)
		return false;
	for (size_t i = 0; i < a->label_count; i++) {
		const char *value = called_label(b->labels, b->label_count, a->labels[i].key);

		if (value == NULL || strcmp(value, a->labels[i].value) != 0)
			return false;
	}
	return true;
}

/* Identity in AFTER of the module with IDENTITY before; NULL. */
static const char *identity_after(const struct diff_match *match, const char *identity)
{
	for (size_t i = 0; i < match->module_count; i++) {
		const struct diff_module *module = &match->modules[i];

		if (module->before != NULL && module->after != NULL &&
		    strcmp(module->before->identity, identity) == 0)
			return module->after->identity;
	}
	return NULL;
}

static const char *group_after(const struct diff_match *match, const struct recording_group *group,
			       const struct recording *after)
{
	const char *identity = identity_after(match, group->identity);

	for (size_t i = 0; identity != NULL && i < after->group_count; i++) {
		const struct recording_group *other = &after->groups[i];

		if (strcmp(other->identity, identity) == 0 && has_labels_of(group, other))
			return other->module;
	}
	return NULL;
}

static int rename_groups(const struct diff_match *match, struct recording *before,
			 const struct recording *after)
{
	struct regroup *changes = calloc(before->group_count + 1, sizeof(*changes));
	int error = changes == NULL ? -ENOMEM : 0;

	for (size_t i = 0; error == 0 && i < before->group_count; i++) {
		const char *name = group_after(match, &before->groups[i], after);

		if (name == NULL)
			continue;
		changes[i].name = regroup_keep(before, name);
		error = changes[i].name == NULL ? -ENOMEM : 0;
	}
	if (error == 0)
		error = regroup(before, changes);
	free(changes);
	return error;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The name that the module of MAPPING has after; NULL: none, or it stays. */
static const char *name_after(const struct diff_match *match,
			      const struct recording_mapping *mapping)
{
	for (size_t i = 0; is_guest(mapping) && i < match->module_count; i++) {
		const struct diff_module *module = &match->modules[i];

		if (module->after != NULL && diff_is_loading_of(module->before, mapping))
			return module->after->name;
	}
	return NULL;
}

static int rename_mappings(const struct diff_match *match, struct recording *before)
{
	const char **names = calloc(before->mapping_count + 1, sizeof(*names));
	int error = names == NULL ? -ENOMEM : 0;

	/* All first, for they are found by the names that they had. */
	for (size_t i = 0; error == 0 && i < before->mapping_count; i++)
		names[i] = name_after(match, &before->mappings[i]);
	for (size_t i = 0; error == 0 && i < before->mapping_count; i++) {
		if (names[i] == NULL)
			continue;
		before->mappings[i].name = regroup_keep(before, names[i]);
		if (before->mappings[i].name == NULL)
			error = -ENOMEM;
	}
	free(names);
	return error;
}

int diff_match(struct recording *before, const struct recording *after, struct diff_match *match)
{
	int error;

	*match = (struct diff_match){ 0 };
	error = match_modules(match, before, after);
	for (size_t i = 0; error == 0 && i < match->module_count; i++) {
		if (match->modules[i].before != NULL && match->modules[i].after != NULL)
			error = diff_functions(before, after, match, i);
	}
	if (error == 0)
		error = rename_groups(match, before, after);
	if (error == 0)
		error = rename_mappings(match, before);
	return error;
}

void diff_match_free(struct diff_match *match)
{
	free(match->modules);
	free(match->renames);
	*match = (struct diff_match){ 0 };
}

const char *diff_renamed_from(const struct diff_match *match, const char *module,
			      const char *function)
{
	for (size_t i = 0; i < match->rename_count; i++) {
		if (strcmp(match->renames[i].after, function) == 0 &&
		    strcmp(match->renames[i].module, module) == 0)
			return match->renames[i].before;
	}
	return NULL;
}
