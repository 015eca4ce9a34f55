/* SPDX-License-Identifier: MIT */
/* lines.c - a wasm file and the debug information of one of its core modules at a time. Threads:
 * one at a time for an object. */
#include "preload/lines/lines.h"

#include "preload/lines/inlines.h"
#include "preload/lines/linetable.h"
#include "preload/lines/sections.h"
#include "preload/lines/units.h"
#include "preload/lines/wasmfile.h"
#include "preload/lines/wrapper.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So far back a row of code without a line looks for one with a line. */
enum { ROWS_BACK_MAX = 64 };

struct lines {
	struct wasmfile file;
	struct sections sections;
	struct wasmbin *binary;
	/* Of the core module that was asked about last. */
	const struct sections_core *core;
	struct wrapper wrapper;
	struct units *units;	/* NULL: its debug information cannot be read */
	int error;		/* then: why */
	struct inlines inlines; /* of the function that was asked about last */
};

static void close_core(struct lines *lines)
{
	inlines_free(&lines->inlines);
	units_free(lines->units);
	lines->units = NULL;
	wrapper_close(&lines->wrapper);
	lines->core = NULL;
}

static int open_core(struct lines *lines, const struct sections_core *core)
{
	if (lines->core == core)
		return lines->error;
	close_core(lines);
	lines->core = core;
	lines->error = -ENOENT;
	if (core->debug[DEBUG_INFO].size == 0)
		return lines->error;
	lines->error = wrapper_open(&lines->wrapper, lines->file.memory, lines->file.size, core);
	if (lines->error != 0)
		return lines->error;
	lines->units =
		units_new(lines->wrapper.dwarf, core->debug[DEBUG_INFO].size, core->code.size);
	lines->error = lines->units != NULL ? 0 : -ENOMEM;
	return lines->error;
}

static struct lines *finish_open(struct lines *lines, int error)
{
	if (error == 0)
		error = sections_read(&lines->sections, lines->file.wasm, lines->file.size);
	if (error == 0) {
		lines->binary = wasmbin_parse_bodies(lines->file.wasm, lines->file.size);
		error = lines->binary != NULL ? 0 : -errno;
	}
	if (error == 0)
		return lines;
	lines_close(lines);
	errno = -error;
	return NULL;
}

struct lines *lines_open(const char *path)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	return lines != NULL ? finish_open(lines, wasmfile_read(&lines->file, path)) : NULL;
}

struct lines *lines_copy(const uint8_t *wasm, size_t size)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	return lines != NULL ? finish_open(lines, wasmfile_copy(&lines->file, wasm, size)) : NULL;
}

struct lines *lines_fill(size_t size, int (*fill)(void *context, uint8_t *wasm, size_t size),
			 void *context)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	return lines != NULL ? finish_open(lines, wasmfile_fill(&lines->file, size, fill, context))
			     : NULL;
}

void lines_close(struct lines *lines)
{
	if (lines == NULL)
		return;
	close_core(lines);
	wasmbin_unref(lines->binary);
	sections_free(&lines->sections);
	wasmfile_free(&lines->file);
	free(lines);
}

const struct wasmbin *lines_binary(const struct lines *lines)
{
	return lines->binary;
}

bool lines_has_debug(const struct lines *lines)
{
	for (uint32_t i = 0; i < lines->sections.core_count; i++) {
		if (lines->sections.cores[i].debug[DEBUG_INFO].size != 0)
			return true;
	}
	return false;
}

bool lines_reference(const struct lines *lines, enum lines_reference which,
		     char text[LINES_REFERENCE_MAX])
{
	for (uint32_t i = 0; i < lines->sections.core_count; i++) {
		const struct sections_core *core = &lines->sections.cores[i];
		struct extent extent =
			which == LINES_SOURCE_MAP ? core->source_map : core->external_debug_info;

		if (extent.size == 0)
			continue;
		if (extent.size >= LINES_REFERENCE_MAX)
			extent.size = LINES_REFERENCE_MAX - 1;
		memcpy(text, lines->file.wasm + extent.at, extent.size);
		text[extent.size] = '\0';
		return true;
	}
	return false;
}

/* ---- one address ------------------------------------------------------------------------------
 */

static struct cursor section_of(const struct lines *lines, enum debug_section section)
{
	const struct extent *extent = &lines->core->debug[section];

	return cursor_of(lines->file.wasm + extent->at, extent->size);
}

static void make_table(struct lines *lines, struct unit *unit, Dwarf_Die *entry)
{
	struct linetable_source source = {
		.line = section_of(lines, DEBUG_LINE),
		.line_str = section_of(lines, DEBUG_LINE_STR),
		.str = section_of(lines, DEBUG_STR),
		.code_size = lines->core->code.size,
	};
	Dwarf_Attribute attribute;

	if (dwarf_attr(entry, DW_AT_comp_dir, &attribute) != NULL)
		source.directory = dwarf_formstring(&attribute);
	if (dwarf_attr(entry, DW_AT_stmt_list, &attribute) != NULL &&
	    dwarf_formudata(&attribute, &source.offset) == 0)
		unit->table = linetable_new(&source);
}

/* The unit's lines, NULL when there are none or they are damaged. */
static struct linetable *table_of(struct lines *lines, struct unit *unit)
{
	Dwarf_Die entry;

	if (unit->table != NULL || unit->has_no_table)
		return unit->table;
	if (dwarf_offdie(lines->wrapper.dwarf, unit->entry, &entry) != NULL)
		make_table(lines, unit, &entry);
	unit->has_no_table = unit->table == NULL;
	return unit->table;
}

static uint32_t fit(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void name_frame(struct lines_frame *frame, Dwarf_Die *entry)
{
	frame->name = inlines_name(entry);
	frame->start_line = fit(inlines_number(entry, DW_AT_decl_line));
}

/*
 * The row of ADDRESS. Code of no line (0: LLVM's register traffic, a fifth of a wasm function at
 * -O2) belongs to the line before it, if that is in the same inlined call.
 */
static const struct linetable_row *find_row(const struct lines *lines,
					    const struct linetable *table, uint64_t address)
{
	const struct linetable_row *row = linetable_find(table, address), *before = row;
	uint32_t call = inlines_find(&lines->inlines, address);

	for (int i = 0; i < ROWS_BACK_MAX && before != NULL && before->line == 0; i++)
		before = linetable_before(table, before);
	if (before == NULL || before->line == 0 ||
	    inlines_find(&lines->inlines, before->address) != call)
		return row;
	return before;
}

/* Where the address itself is; ROW NULL: unknown. */
static void set_row(struct lines_frame *frame, struct linetable *table,
		    const struct linetable_row *row)
{
	if (row == NULL)
		return;
	frame->file = linetable_file(table, row->file);
	frame->line = row->line;
	frame->column = row->column;
}

/* Where the inlined CALL is made. */
static void set_call(struct lines_frame *frame, struct linetable *table, Dwarf_Die *call)
{
	if (table != NULL)
		frame->file = linetable_file(table, inlines_number(call, DW_AT_call_file));
	frame->line = fit(inlines_number(call, DW_AT_call_line));
	frame->column = fit(inlines_number(call, DW_AT_call_column));
}

/* The calls that ADDRESS is in, innermost first; at most LINES_DEPTH_MAX less the function. */
static size_t list_calls(struct lines *lines, uint64_t address, Dwarf_Die *calls[LINES_DEPTH_MAX])
{
	uint32_t call = inlines_find(&lines->inlines, address);
	size_t count = 0;

	for (; call != INLINES_NONE && count < LINES_DEPTH_MAX - 1;
	     call = lines->inlines.calls[call].parent)
		calls[count++] = &lines->inlines.calls[call].entry;
	return count;
}

static void set_frames(struct lines *lines, struct lines_place *place, struct unit *unit,
		       Dwarf_Die *function, uint64_t address)
{
	struct linetable *table = table_of(lines, unit);
	Dwarf_Die *calls[LINES_DEPTH_MAX];
	size_t count = list_calls(lines, address, calls);

	place->is_damaged = table == NULL;
	place->frame_count = count + 1;
	memset(place->frames, 0, place->frame_count * sizeof(*place->frames));
	if (table != NULL)
		set_row(&place->frames[0], table, find_row(lines, table, address));
	for (size_t i = 0; i < count; i++) {
		name_frame(&place->frames[i], calls[i]);
		set_call(&place->frames[i + 1], table, calls[i]);
	}
	name_frame(&place->frames[count], function);
}

/* UNIT has lines for ADDRESS, but no function: one frame, which has the wasm's name. */
static void set_line_only(struct lines *lines, struct lines_place *place, struct unit *unit,
			  uint64_t address)
{
	struct linetable *table = table_of(lines, unit);
	const struct linetable_row *row = NULL;

	inlines_free(&lines->inlines); /* of another function */
	if (table != NULL)
		row = find_row(lines, table, address);
	if (row == NULL)
		return;
	place->frame_count = 1;
	place->frames[0] = (struct lines_frame){ 0 };
	set_row(&place->frames[0], table, row);
}

/* Fills PLACE's frames. LOW: where the function's body begins. 0, -ENOENT, -EBADMSG, -ENOMEM. */
static int find_frames(struct lines *lines, struct lines_place *place, uint64_t address,
		       uint64_t low)
{
	struct unit *unit;
	Dwarf_Die function;
	int error = units_find(lines->units, address, low, &unit, &function);

	if (error == 0)
		error = inlines_read(&lines->inlines, &function);
	if (error == 0)
		set_frames(lines, place, unit, &function, address);
	else if (error == -ENOENT && unit != NULL)
		set_line_only(lines, place, unit, address);
	return error;
}

int lines_find(struct lines *lines, uint64_t offset, struct lines_place *place)
{
	const struct sections_core *core;
	uint64_t start, end;
	int error;

	place->is_damaged = false;
	place->frame_count = 0;
	if (!wasmbin_find(lines->binary, offset, &place->core, &place->function) ||
	    !wasmbin_body(lines->binary, place->core, place->function, &start, &end) ||
	    place->core >= lines->sections.core_count)
		return -ENOENT;
	core = &lines->sections.cores[place->core];
	error = open_core(lines, core);
	if (error == 0)
		error = find_frames(lines, place, offset - core->code.at, start - core->code.at);
	if (error == -EBADMSG)
		place->is_damaged = true;
	return error == -ENOMEM ? error : 0;
}
