/* SPDX-License-Identifier: MIT */
/* firefox_tables.c - turns samples into rows of the shared tables. Threads: one at a time. */
#include "preload/export/firefox_tables.h"

#include "preload/read/rows.h"

#include <stdlib.h>
#include <string.h>

/* JavaScript's integers are exact up to here. */
#define ADDRESS_MAX (((uint64_t)1 << 53) - 1)

/*
 * Number of the pair in IDS, and whether its row in ROWS is to be filled now. After a failure the
 * number is 0, which is a row as soon as there is one, and nobody looks.
 */
static uint32_t row_for(struct firefox_tables *tables, struct pairs *ids, uint64_t first,
			uint64_t second, void *rows, size_t *room, size_t size, bool *is_new)
{
	uint32_t known = ids->count, id = pairs_id(ids, first, second);

	*is_new = id == known && id != PAIRS_NONE;
	if (id == PAIRS_NONE || (*is_new && rows_reserve(rows, room, id, size) != 0)) {
		tables->failed = true;
		*is_new = false;
		return 0;
	}
	return id;
}

uint32_t firefox_tables_string(struct firefox_tables *tables, const char *text)
{
	uint32_t id = names_id(&tables->strings, text);

	if (id == NAMES_NONE)
		tables->failed = true;
	return id;
}

static uint32_t lib_of(struct firefox_tables *tables, const struct recording_location *location)
{
	const struct recording_mapping *mapping = location->mapping;
	bool is_guest = location->kind == FRAME_GUEST, is_new;
	uint32_t name, id;

	if (mapping == NULL || mapping->name[0] == '\0')
		return FIREFOX_NONE;
	name = firefox_tables_string(tables, mapping->name);
	id = row_for(tables, &tables->lib_ids, name,
		     firefox_tables_string(tables, mapping->identity), &tables->libs,
		     &tables->lib_room, sizeof(*tables->libs), &is_new);
	if (is_new)
		tables->libs[id] = (struct firefox_lib){ .name = name,
							 .identity = mapping->identity,
							 .path = mapping->path };
	if (is_guest && !tables->failed)
		tables->libs[id].is_guest = true;
	return id;
}

static uint32_t source_of(struct firefox_tables *tables, const struct frame *frame)
{
	uint32_t name, id;
	bool is_new;

	if (frame->line == NULL || frame->line->function->filename[0] == '\0')
		return FIREFOX_NONE;
	name = firefox_tables_string(tables, frame->line->function->filename);
	id = row_for(tables, &tables->source_ids, name, 0, &tables->sources, &tables->source_room,
		     sizeof(*tables->sources), &is_new);
	if (is_new)
		tables->sources[id] = name;
	return id;
}

static uint32_t function_of(struct firefox_tables *tables, const struct frame *frame, uint32_t lib)
{
	char scratch[FRAMES_NAME_SIZE];
	uint32_t name = firefox_tables_string(tables, frames_name(frame, scratch));
	uint32_t source = source_of(tables, frame), id;
	bool is_new;

	id = row_for(tables, &tables->function_ids, (uint64_t)name << 32 | lib, source,
		     &tables->functions, &tables->function_room, sizeof(*tables->functions),
		     &is_new);
	if (is_new)
		tables->functions[id] = (struct firefox_function){
			.name = name,
			.lib = lib,
			.source = source,
			.line = frame->line != NULL ? frame->line->function->start_line : 0,
		};
	return id;
}

/* The symbol that holds a location is its outermost function: inlined ones have no code of their
 * own. */
static uint32_t symbol_of(struct firefox_tables *tables, const struct frame *frame, uint32_t lib)
{
	const struct recording_location *location = frame->location;
	struct frame outer = { .location = location };
	uint32_t function, id;
	bool is_new;

	if (lib == FIREFOX_NONE || location->address > ADDRESS_MAX)
		return FIREFOX_NONE;
	if (location->line_count != 0)
		outer.line = &location->lines[location->line_count - 1];
	function = function_of(tables, &outer, lib);
	id = row_for(tables, &tables->symbol_ids, lib, function, &tables->symbols,
		     &tables->symbol_room, sizeof(*tables->symbols), &is_new);
	if (is_new && !tables->failed)
		tables->symbols[id] =
			(struct firefox_symbol){ lib, tables->functions[function].name,
						 location->address };
	else if (!tables->failed && location->address < tables->symbols[id].address)
		tables->symbols[id].address = location->address;
	return id;
}

static enum firefox_category category_of(enum frame_kind kind)
{
	static const enum firefox_category categories[] = {
		[FRAME_GUEST] = CATEGORY_GUEST,	    [FRAME_HOST] = CATEGORY_HOST,
		[FRAME_BUILTIN] = CATEGORY_BUILTIN, [FRAME_TRAMPOLINE] = CATEGORY_TRAMPOLINE,
		[FRAME_JIT] = CATEGORY_OTHER,	    [FRAME_INTERPRETER] = CATEGORY_INTERPRETER,
	};

	return categories[kind];
}

static enum firefox_category frame_category(const struct frame *frame, bool waits)
{
	if (waits)
		return CATEGORY_WAITING;
	return frame->inline_depth != 0 ? CATEGORY_INLINED : category_of(frame->location->kind);
}

/* WAITS: it is the leaf of a wait, which is another row: its category is the stack's. */
static uint32_t frame_of(struct firefox_tables *tables, const struct frame *frame, bool waits)
{
	uint64_t address = frame->location->address;
	uint32_t lib, symbol, function, id;
	bool is_new;

	id = row_for(tables, &tables->frame_ids, (uintptr_t)frame->location,
		     (uintptr_t)frame->line | waits, &tables->frames, &tables->frame_room,
		     sizeof(*tables->frames), &is_new);
	if (!is_new)
		return id;
	lib = lib_of(tables, frame->location);
	symbol = symbol_of(tables, frame, lib);
	function = function_of(tables, frame, lib);
	tables->frames[id] = (struct firefox_frame){
		.address = symbol == FIREFOX_NONE ? UINT64_MAX : address,
		.inline_depth = frame->inline_depth,
		.function = function,
		.symbol = symbol,
		.category = frame_category(frame, waits),
		.line = frame->line != NULL ? frame->line->line : 0,
		.column = frame->line != NULL ? frame->line->column : 0,
	};
	return id;
}

uint32_t firefox_tables_stack(struct firefox_tables *tables, const struct recording_sample *sample)
{
	uint32_t stack = FIREFOX_NONE;

	if (frames_list(&tables->scratch, sample) != 0)
		tables->failed = true;
	for (size_t i = 0; i < tables->scratch.count && !tables->failed; i++) {
		bool waits = sample->state == STATE_WAITING && i + 1 == tables->scratch.count;

		stack = pairs_id(&tables->stacks, frame_of(tables, &tables->scratch.list[i], waits),
				 stack);
		if (stack == PAIRS_NONE)
			tables->failed = true;
	}
	return stack;
}

uint64_t firefox_tables_size(const struct firefox_tables *tables)
{
	/* Digits and commas of a row's cells, as large tables have them. */
	enum { LIB = 500, SYMBOL = 40, FUNCTION = 60, FRAME = 60, STACK = 16, QUOTES = 3 };
	uint64_t size = 0;

	for (uint32_t i = 0; i < tables->strings.count; i++)
		size += strlen(tables->strings.texts[i]) + QUOTES;
	return size + (uint64_t)tables->lib_ids.count * LIB +
	       (uint64_t)tables->symbol_ids.count * SYMBOL +
	       (uint64_t)tables->function_ids.count * FUNCTION +
	       (uint64_t)tables->frame_ids.count * FRAME + (uint64_t)tables->stacks.count * STACK;
}

void firefox_tables_free(struct firefox_tables *tables)
{
	names_free(&tables->strings);
	pairs_free(&tables->lib_ids);
	pairs_free(&tables->source_ids);
	pairs_free(&tables->function_ids);
	pairs_free(&tables->symbol_ids);
	pairs_free(&tables->frame_ids);
	pairs_free(&tables->stacks);
	free(tables->libs);
	free(tables->sources);
	free(tables->functions);
	free(tables->symbols);
	free(tables->frames);
	frames_free(&tables->scratch);
}
