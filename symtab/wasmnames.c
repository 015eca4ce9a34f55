/* SPDX-License-Identifier: MIT */
/*
 * wasmnames.c - function counts and function names of one core module.
 *
 * The sections are walked once for the counts and once for each source of names, in the order of
 * preference, so it does not matter in which order the file has them. Every count comes from the
 * file and is held against the bytes that are there before anything is allocated.
 */
#include "symtab/wasmparts.h"

#include <errno.h>
#include <stdlib.h>

/* Kinds of imports and exports (core specification 5.5.5, with custom descriptors' exact
 * functions). */
enum { KIND_FUNCTION = 0, KIND_TABLE = 1, KIND_MEMORY = 2, KIND_GLOBAL = 3, KIND_TAG = 4 };
enum { KIND_EXACT_FUNCTION = 0x20 };

static struct wasmbin_name read_name(struct cursor *cursor)
{
	struct wasmbin_name name = { .length = cursor_uleb32(cursor) };

	name.bytes = cursor_bytes(cursor, name.length);
	return name;
}

/* Reference types with a heap type take an s33 after 0x63 or 0x64; all others are one byte. */
static void skip_value_type(struct cursor *cursor)
{
	uint8_t type = cursor_u8(cursor);

	if (type == 0x63 || type == 0x64)
		cursor_sleb64(cursor);
}

static void skip_limits(struct cursor *cursor)
{
	uint8_t flags = cursor_u8(cursor);

	cursor_uleb64(cursor);
	if ((flags & 1) != 0)
		cursor_uleb64(cursor);
	if ((flags & 8) != 0) /* custom page sizes: log2 of the size */
		cursor_uleb32(cursor);
}

/* Skips the description of an import of KIND. An unknown kind is an error. */
static void skip_import_type(struct cursor *cursor, uint8_t kind)
{
	switch (kind) {
	case KIND_FUNCTION:
	case KIND_EXACT_FUNCTION:
		cursor_uleb32(cursor);
		break;
	case KIND_TABLE:
		skip_value_type(cursor);
		skip_limits(cursor);
		break;
	case KIND_MEMORY:
		skip_limits(cursor);
		break;
	case KIND_GLOBAL:
		skip_value_type(cursor);
		cursor_u8(cursor);
		break;
	case KIND_TAG:
		cursor_u8(cursor);
		cursor_uleb32(cursor);
		break;
	default:
		cursor_fail(cursor);
	}
}

bool wasmnames_next_import(struct cursor *cursor, uint32_t *left, struct wasmbin_name *module,
			   struct wasmbin_name *field)
{
	while (*left > 0 && !cursor->failed) {
		uint8_t kind;

		--*left;
		*module = read_name(cursor);
		*field = read_name(cursor);
		kind = cursor_u8(cursor);
		skip_import_type(cursor, kind);
		if (!cursor->failed && (kind == KIND_FUNCTION || kind == KIND_EXACT_FUNCTION))
			return true;
	}
	return false;
}

/* Returns false when the section is damaged or holds what we cannot count. */
static bool count_imports(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	uint32_t left = cursor_uleb32(&body);
	struct wasmbin_name module, field;
	size_t start = cursor_offset(&body);

	while (wasmnames_next_import(&body, &left, &module, &field)) {
		core->imported++;
		start = cursor_offset(&body);
	}
	if (body.failed)
		wasmbin_note(bin, start, "import is damaged or of an unknown kind");
	return !body.failed;
}

static void count_functions(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	size_t start = cursor_offset(&body);
	uint32_t count = cursor_uleb32(&body);

	/* each entry takes a byte at least */
	if (body.failed || count > cursor_left(&body)) {
		wasmbin_note(bin, start, "function count is damaged");
		count = (uint32_t)cursor_left(&body);
	}
	core->defined = count;
}

/* Counts functions and allocates their names. Returns false when there are none to name. */
static bool count_all(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	size_t size = cursor_left(&body);
	bool imports_are_known = true;
	struct section section;
	uint64_t count;

	while (wasmbin_next_section(bin, &body, &section)) {
		if (section.id == SECTION_IMPORT)
			imports_are_known = count_imports(bin, core, section.body);
		else if (section.id == SECTION_FUNCTION)
			count_functions(bin, core, section.body);
	}
	count = (uint64_t)core->imported + core->defined;
	/*
	 * Names are found by their index, so they stay right when imports could not be counted;
	 * only the room must do: an import takes 4 bytes at least.
	 */
	if (!imports_are_known)
		count += size / 4;
	if (count == 0 || count > UINT32_MAX / 2)
		return false;
	core->functions = calloc(count, sizeof(*core->functions));
	if (core->functions == NULL) {
		bin->error = -ENOMEM;
		return false;
	}
	core->function_count = (uint32_t)count;
	return true;
}

static void note_names_error(struct wasmbin *bin, int error)
{
	if (error == -ENOMEM)
		bin->error = error;
	else
		wasmbin_note(bin, UINT32_MAX, "names pass 4 GiB");
}

static void set_name(struct wasmbin *bin, struct wasmbin_core *core, uint32_t function,
		     const struct wasmbin_name *name)
{
	int error;

	if (function >= core->function_count || name->bytes == NULL)
		return;
	error = strings_add(&bin->text, name->bytes, name->length, &core->functions[function]);
	if (error != 0)
		note_names_error(bin, error);
}

/* Subsection 1. Engines let a later name of the same function win, and so do we. */
static void read_function_names(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	uint32_t left = cursor_uleb32(&body);
	size_t start = cursor_offset(&body);

	for (; left > 0 && bin->error == 0; left--) {
		uint32_t function = cursor_uleb32(&body);
		struct wasmbin_name name = read_name(&body);

		if (body.failed)
			break;
		set_name(bin, core, function, &name);
		start = cursor_offset(&body);
	}
	if (body.failed)
		wasmbin_note(bin, start, "function name is damaged");
}

static void read_name_section(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	struct section part;

	while (wasmbin_next_section(bin, &body, &part)) {
		if (part.id == 0 && core->name == NULL)
			core->name = wasmbin_read_name(bin, part.body);
		else if (part.id == 1)
			read_function_names(bin, core, part.body);
	}
}

/* Exports name functions that have no name yet. */
static void read_exports(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	uint32_t left = cursor_uleb32(&body);
	size_t start = cursor_offset(&body);

	for (; left > 0 && bin->error == 0; left--) {
		struct wasmbin_name name = read_name(&body);
		uint8_t kind = cursor_u8(&body);
		uint32_t index = cursor_uleb32(&body);

		if (body.failed)
			break;
		if (kind == KIND_FUNCTION && index < core->function_count &&
		    core->functions[index].length == 0)
			set_name(bin, core, index, &name);
		start = cursor_offset(&body);
	}
	if (body.failed)
		wasmbin_note(bin, start, "export is damaged");
}

/* "module.name", for an import that nothing else names. */
static void set_import_name(struct wasmbin *bin, struct span *span,
			    const struct wasmbin_name *module, const struct wasmbin_name *field)
{
	struct span joined;
	int error = strings_add(&bin->text, module->bytes, module->length, &joined);

	if (error == 0)
		error = strings_extend(&bin->text, ".", 1, &joined);
	if (error == 0)
		error = strings_extend(&bin->text, field->bytes, field->length, &joined);
	if (error == 0)
		*span = joined;
	else
		note_names_error(bin, error);
}

static void name_imports(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	uint32_t left = cursor_uleb32(&body), function = 0;
	struct wasmbin_name module, field;

	while (function < core->function_count && bin->error == 0 &&
	       wasmnames_next_import(&body, &left, &module, &field)) {
		if (core->functions[function].length == 0)
			set_import_name(bin, &core->functions[function], &module, &field);
		function++;
	}
}

void wasmnames_read(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body)
{
	bool any = count_all(bin, core, body);
	struct cursor sections = body;
	struct section section;

	while (wasmbin_next_section(bin, &sections, &section))
		if (section.id == SECTION_CUSTOM && wasmbin_section_is(&section.body, "name"))
			read_name_section(bin, core, section.body);
	core->names_end = bin->text.used;
	sections = body;
	while (any && wasmbin_next_section(bin, &sections, &section))
		if (section.id == SECTION_EXPORT)
			read_exports(bin, core, section.body);
	sections = body;
	while (any && wasmbin_next_section(bin, &sections, &section))
		if (section.id == SECTION_IMPORT)
			name_imports(bin, core, section.body);
}
