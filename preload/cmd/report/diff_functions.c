/* SPDX-License-Identifier: MIT */
/* diff_functions.c - matches the sampled functions of two modules. Threads: one at a time. */
#include "preload/cmd/report/diff_functions.h"

#include "preload/cmd/symbolize/subjects.h"
#include "preload/read/names.h"
#include "preload/read/pairs.h"
#include "preload/read/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The functions of a module that were sampled, by core module and index. */
struct side {
	struct pairs indexes;
	const struct recording_function **functions; /* by number in indexes */
	size_t room;
	struct names names;
	uint32_t *index_of_name; /* number in names -> number in indexes */
	size_t name_room;
};

static void free_side(struct side *side)
{
	pairs_free(&side->indexes);
	names_free(&side->names);
	free(side->functions);
	free(side->index_of_name);
}

static int add_function(struct side *side, const struct recording_function *function)
{
	uint32_t known = side->indexes.count, name;
	uint32_t id = pairs_id(&side->indexes, function->core, function->wasm_index);

	if (id == PAIRS_NONE ||
	    rows_reserve(&side->functions, &side->room, id, sizeof(*side->functions)) != 0)
		return -ENOMEM;
	if (id < known)
		return 0;
	side->functions[id] = function;
	name = names_id(&side->names, function->name);
	if (name == NAMES_NONE || rows_reserve(&side->index_of_name, &side->name_room, name,
					       sizeof(*side->index_of_name)) != 0)
		return -ENOMEM;
	side->index_of_name[name] = id;
	return 0;
}

static int read_side(struct side *side, const struct recording *recording,
		     const struct recording_mapping *module)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < recording->location_count; i++) {
		const struct recording_location *location = &recording->locations[i];
		const struct recording_function *function = subjects_function(location);

		if (function != NULL && diff_is_loading_of(module, location->mapping))
			error = add_function(side, function);
	}
	return error;
}

/* Number of NAME's function in SIDE, PAIRS_NONE when no function there has that name. */
static uint32_t find_name(const struct side *side, const char *name)
{
	uint32_t number = names_find(&side->names, name);

	return number == NAMES_NONE ? PAIRS_NONE : side->index_of_name[number];
}

static bool is_numbered(const struct recording_function *function)
{
	return function->name[0] == '\0' || strstr(function->name, "!wasm-function[") != NULL;
}

/* Do indexes say anything? A function that was put in shifts all behind it. */
static bool has_same_indexes(const struct side *before, const struct side *after)
{
	for (uint32_t i = 0; i < before->indexes.count; i++) {
		uint32_t other = find_name(after, before->functions[i]->name);

		if (other == PAIRS_NONE)
			continue;
		if (before->indexes.list[i].first != after->indexes.list[other].first ||
		    before->indexes.list[i].second != after->indexes.list[other].second)
			return false;
	}
	return true;
}

static int note_rename(struct diff_match *match, const char *module, const char *from,
		       const char *to)
{
	if (rows_reserve(&match->renames, &match->rename_room, match->rename_count,
			 sizeof(*match->renames)) != 0)
		return -ENOMEM;
	match->renames[match->rename_count++] = (struct diff_rename){ module, from, to };
	return 0;
}

static bool has_same_bytes(enum diff_how how)
{
	return how != DIFF_HOW_NAME && how != DIFF_HOW_BUILD_ID;
}

/* Function number I of BEFORE becomes the one of AFTER with its index, if it is that. */
static int match_function(const struct side *before, const struct side *after, uint32_t i,
			  struct diff_match *match, struct diff_module *module)
{
	const struct recording_function *from = before->functions[i], *to;
	const char *old_name = from->name;
	uint32_t other = pairs_find(&after->indexes, before->indexes.list[i].first,
				    before->indexes.list[i].second);

	if (other == PAIRS_NONE)
		return 0;
	to = after->functions[other];
	if (strcmp(from->name, to->name) == 0)
		return 0;
	if (!has_same_bytes(module->how) && (find_name(after, from->name) != PAIRS_NONE ||
					     find_name(before, to->name) != PAIRS_NONE))
		return 0;
	/* It belongs to the recording that the caller lets us change. */
	((struct recording_function *)from)->name = to->name;
	if (has_same_bytes(module->how) || is_numbered(to) || strstr(old_name, "!wasm-function["))
		module->by_index++;
	else
		return note_rename(match, module->after->name, old_name, to->name);
	return 0;
}

int diff_functions(const struct recording *before, const struct recording *after,
		   struct diff_match *match, size_t index)
{
	struct diff_module *module = &match->modules[index];
	struct side old = { 0 }, new = { 0 };
	int error = read_side(&old, before, module->before);
	bool uses_indexes;

	if (error == 0)
		error = read_side(&new, after, module->after);
	uses_indexes =
		error == 0 && (has_same_bytes(module->how) ||
			       (module->before->function_count != 0 &&
				module->before->function_count == module->after->function_count &&
				has_same_indexes(&old, &new)));
	for (uint32_t i = 0; uses_indexes && error == 0 && i < old.indexes.count; i++)
		error = match_function(&old, &new, i, match, module);
	free_side(&old);
	free_side(&new);
	return error;
}
