/* SPDX-License-Identifier: MIT */
/* shared_frames.c - turns a recording's places into those that may be told. Threads: one at a time.
 */
#include "preload/share/shared_frames.h"

#include "preload/share/sharedname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char unnamed[] = "[unnamed]";

/* ---- order ----------------------------------------------------------------------------------- */

static int order_of(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int compare_functions(const struct shared_function *left,
			     const struct shared_function *right)
{
	int order = order_of(left->module, right->module);

	if (order == 0)
		order = order_of(left->core, right->core);
	if (order == 0)
		order = order_of(left->wasm_index, right->wasm_index);
	if (order == 0)
		order = strcmp(left->name, right->name);
	if (order == 0)
		order = strcmp(left->system_name, right->system_name);
	if (order == 0)
		order = strcmp(left->filename, right->filename);
	return order != 0 ? order
			  : order_of((uint64_t)left->start_line, (uint64_t)right->start_line);
}

static int compare_lines(const struct shared_line *left, const struct shared_line *right)
{
	int order = compare_functions(left->function, right->function);

	if (order == 0)
		order = order_of((uint64_t)left->line, (uint64_t)right->line);
	return order != 0 ? order : order_of((uint64_t)left->column, (uint64_t)right->column);
}

static int compare_locations(const struct shared_location *left,
			     const struct shared_location *right)
{
	int order = order_of(left->module, right->module);

	if (order == 0)
		order = order_of(left->importer, right->importer);
	if (order == 0)
		order = order_of(left->kind, right->kind);
	if (order == 0)
		order = order_of(left->address, right->address);
	if (order == 0)
		order = order_of(left->address_is_wasm, right->address_is_wasm);
	if (order == 0)
		order = order_of(left->line_count, right->line_count);
	for (size_t i = 0; order == 0 && i < left->line_count; i++)
		order = compare_lines(&left->lines[i], &right->lines[i]);
	return order;
}

static int compare_function_rows(const void *a, const void *b)
{
	return compare_functions(*(struct shared_function *const *)a,
				 *(struct shared_function *const *)b);
}

static int compare_location_rows(const void *a, const void *b)
{
	return compare_locations(*(struct shared_location *const *)a,
				 *(struct shared_location *const *)b);
}

/* ---- what may be told ------------------------------------------------------------------------ */

/* Functions without a source are filed under the module that was sampled first. */
static const char *tell_file(const struct sharing *sharing, uint32_t module, const char *filename)
{
	const struct recording *recording = sharing->recording;

	for (size_t i = 0; i < recording->mapping_count; i++) {
		if (strcmp(recording->mappings[i].name, filename) == 0)
			return sharing->shared->modules[module].name;
	}
	return filename;
}

static struct shared_function *new_function(struct sharing *sharing, const char *name)
{
	struct shared_function *function =
		arena_alloc(&sharing->shared->arena, 1, sizeof(*function));

	if (function != NULL)
		*function = (struct shared_function){
			.module = SHARED_NONE,
			.core = UINT32_MAX,
			.wasm_index = UINT32_MAX,
			.name = name,
			.system_name = "",
			.filename = "",
		};
	return function;
}

static struct shared_function *tell_function(struct sharing *sharing, uint32_t module,
					     const struct recording_function *from)
{
	struct arena *arena = &sharing->shared->arena;
	const char *told = sharing->shared->modules[module].name;
	struct shared_function *function = new_function(sharing, "");

	if (function == NULL)
		return NULL;
	function->module = module;
	function->core = from->core;
	function->wasm_index = from->wasm_index;
	function->name = sharedname_function(arena, from->name, told, from->core);
	function->system_name = sharedname_function(arena, from->system_name, told, from->core);
	function->filename = tell_file(sharing, module, from->filename);
	function->start_line = from->start_line;
	return function->name != NULL && function->system_name != NULL ? function : NULL;
}

/* One line, of a function that is called NAME. */
static int tell_name(struct sharing *sharing, struct shared_location *location, const char *name)
{
	location->lines = arena_alloc(&sharing->shared->arena, 1, sizeof(*location->lines));
	if (location->lines == NULL)
		return -ENOMEM;
	location->lines[0].function = new_function(sharing, name);
	location->line_count = 1;
	return location->lines[0].function != NULL ? 0 : -ENOMEM;
}

static int tell_lines(struct sharing *sharing, const struct recording_location *from,
		      struct shared_location *location)
{
	location->address = from->address;
	location->address_is_wasm = from->address_is_wasm;
	location->lines =
		arena_alloc(&sharing->shared->arena, from->line_count, sizeof(*location->lines));
	if (location->lines == NULL)
		return -ENOMEM;
	location->line_count = from->line_count;
	for (size_t i = 0; i < from->line_count; i++) {
		location->lines[i] = (struct shared_line){
			tell_function(sharing, location->module, from->lines[i].function),
			from->lines[i].line,
			from->lines[i].column,
		};
		if (location->lines[i].function == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* How a place is told. */
enum telling { TELL_HOST, TELL_CODE, TELL_BUILTIN, TELL_INTERPRETER, TELL_IMPORT };

/* The allow list: a place of which nothing is said here is the host. */
static enum telling telling_of(const struct sharing *sharing,
			       const struct recording_location *location)
{
	bool is_listed = shared_modules_of(sharing, location->mapping) != SHARED_NONE;
	bool is_imported = shared_modules_of(sharing, location->importer) != SHARED_NONE;

	if (is_listed && (location->kind == FRAME_GUEST || location->kind == FRAME_TRAMPOLINE))
		return TELL_CODE;
	if (is_listed && location->kind == FRAME_BUILTIN)
		return TELL_BUILTIN;
	if (is_listed && location->kind == FRAME_INTERPRETER)
		return TELL_INTERPRETER;
	if (is_imported && location->kind == FRAME_HOST && location->line_count == 1)
		return TELL_IMPORT;
	return TELL_HOST;
}

static int tell(struct sharing *sharing, const struct recording_location *from,
		struct shared_location *location)
{
	enum telling telling = telling_of(sharing, from);

	*location = (struct shared_location){
		.module = SHARED_NONE,
		.importer = SHARED_NONE,
		.kind = FRAME_HOST,
	};
	if (telling == TELL_CODE || telling == TELL_BUILTIN || telling == TELL_INTERPRETER) {
		location->module = shared_modules_of(sharing, from->mapping);
		location->kind = from->kind;
	}
	switch (telling) {
	case TELL_CODE:
		return tell_lines(sharing, from, location);
	case TELL_BUILTIN:
		return tell_name(sharing, location, SHARED_BUILTIN);
	case TELL_INTERPRETER:
		return tell_name(sharing, location, SHARED_INTERPRETER);
	case TELL_IMPORT:
		location->importer = shared_modules_of(sharing, from->importer);
		return tell_name(sharing, location, from->lines[0].function->name);
	default:
		return tell_name(sharing, location, SHARED_HOST);
	}
}

/*
 * The frames of SAMPLE that are told, leaf first, in FRAMES, which has room for all of them.
 * Returns how many. The host is one frame, however deep it is; none within an import, which says
 * it; and none at the root: what called the outermost of the tenant's frames is not the tenant's
 * affair.
 */
static size_t told_frames(const struct sharing *sharing, const struct recording_sample *sample,
			  const struct recording_location **frames)
{
	enum telling before = TELL_CODE;
	size_t count = 0;

	for (size_t i = 0; i < sample->location_count; i++) {
		enum telling telling = telling_of(sharing, sample->locations[i]);

		if (telling == TELL_IMPORT && before == TELL_HOST)
			count--;
		if (telling != TELL_HOST || before != TELL_HOST)
			frames[count++] = sample->locations[i];
		before = telling;
	}
	if (before == TELL_HOST && count > 1)
		count--;
	return count;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int mark_used(const struct sharing *sharing, bool *is_used)
{
	const struct recording *recording = sharing->recording;
	const struct recording_location **frames;
	size_t room = 0;

	for (size_t i = 0; i < recording->sample_count; i++) {
		if (recording->samples[i].location_count > room)
			room = recording->samples[i].location_count;
	}
	frames = calloc(room + 1, sizeof(*frames));
	if (frames == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < recording->sample_count; i++) {
		size_t count = sharing->is_taken[i]
				       ? told_frames(sharing, &recording->samples[i], frames)
				       : 0;

		for (size_t j = 0; j < count; j++)
			is_used[frames[j] - recording->locations] = true;
	}
	free(frames);
	return 0;
}

static int number_functions(struct shared *shared, struct shared_location *const *locations,
			    size_t count)
{
	struct shared_function **rows;
	size_t line_count = 0, used = 0;

	for (size_t i = 0; i < count; i++)
		line_count += locations[i]->line_count;
	rows = arena_alloc(&shared->arena, line_count + 1, sizeof(*rows));
	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < locations[i]->line_count; j++)
			rows[used++] = locations[i]->lines[j].function;
	}
	if (used != 0)
		qsort(rows, used, sizeof(*rows), compare_function_rows);
	for (size_t i = 0; i < used; i++) {
		if (i == 0 || compare_functions(rows[shared->function_count - 1], rows[i]) != 0)
			rows[shared->function_count++] = rows[i];
		rows[i]->id = (uint32_t)shared->function_count;
	}
	shared->functions = rows;
	return 0;
}

/*
 * Sorts and numbers the COUNT ROWS, of which equal ones get the same number. A row moves to the
 * front of the array only behind those that were looked at, so none is lost.
 */
static void number_locations(struct shared *shared, struct shared_location **rows, size_t count)
{
	if (count != 0)
		qsort(rows, count, sizeof(*rows), compare_location_rows);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || compare_locations(rows[shared->location_count - 1], rows[i]) != 0)
			rows[shared->location_count++] = rows[i];
		rows[i]->id = (uint32_t)shared->location_count;
	}
	shared->locations = rows;
}

int shared_frames_list(struct sharing *sharing)
{
	const struct recording *recording = sharing->recording;
	struct shared *shared = sharing->shared;
	struct arena *arena = &shared->arena;
	bool *is_used = arena_alloc(arena, recording->location_count + 1, sizeof(*is_used));
	struct shared_location **rows =
		arena_alloc(arena, recording->location_count + 1, sizeof(*rows));
	size_t count = 0;
	int error = 0;

	sharing->locations =
		arena_alloc(arena, recording->location_count + 1, sizeof(*sharing->locations));
	if (arena->failed)
		return -ENOMEM;
	error = mark_used(sharing, is_used);
	for (size_t i = 0; error == 0 && i < recording->location_count; i++) {
		if (!is_used[i])
			continue;
		rows[count++] = &sharing->locations[i];
		error = tell(sharing, &recording->locations[i], &sharing->locations[i]);
	}
	if (error != 0)
		return error;
	number_locations(shared, rows, count);
	return number_functions(shared, shared->locations, shared->location_count);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

int shared_frames_stack(const struct sharing *sharing, const struct recording_sample *from,
			struct shared_sample *sample)
{
	struct arena *arena = &sharing->shared->arena;
	const struct recording_location **frames =
		arena_alloc(arena, from->location_count + 1, sizeof(*frames));

	sample->locations =
		arena_alloc(arena, from->location_count + 1, sizeof(*sample->locations));
	if (arena->failed)
		return -ENOMEM;
	sample->location_count = told_frames(sharing, from, frames);
	for (size_t i = 0; i < sample->location_count; i++)
		sample->locations[i] =
			sharing->locations[frames[i] - sharing->recording->locations].id;
	return 0;
}

bool shared_frames_is_unnamed(const struct shared *shared, const struct shared_sample *sample)
{
	const struct shared_location *leaf;

	if (sample->location_count == 0)
		return false;
	leaf = shared->locations[sample->locations[0] - 1];
	return leaf->kind == FRAME_GUEST &&
	       (leaf->line_count == 0 || strcmp(leaf->lines[0].function->name, unnamed) == 0);
}
