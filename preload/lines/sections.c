/* SPDX-License-Identifier: MIT */
/* sections.c - walks the sections of a wasm file, once. Threads: any. */
#include "preload/lines/sections.h"

#include "symtab/cursor.h"

#include <errno.h>
#include <stdlib.h>

/* Section ids (core specification 5.5.2; component model, Binary.md). */
enum { CUSTOM = 0, CODE = 10, CORE_MODULE = 1, COMPONENT = 4 };
enum { PREAMBLE_SIZE = 8 };
/* As symtab/wasmbin.c, or the numbers of core modules would differ. */
enum { MAX_DEPTH = 32, MAX_CORES = 10000 };

const char *const sections_names[DEBUG_COUNT] = {
#define ROW(id, name) [DEBUG_##id] = (name),
	DEBUG_SECTIONS(ROW)
#undef ROW
};

struct section {
	uint8_t id;
	struct cursor body;
};

struct name {
	const uint8_t *bytes;
	size_t size;
};

static bool next_section(struct cursor *cursor, struct section *section)
{
	uint32_t size;

	if (cursor_left(cursor) == 0)
		return false;
	section->id = cursor_u8(cursor);
	size = cursor_uleb32(cursor);
	if (cursor->failed)
		return false;
	if (size > cursor_left(cursor))
		size = (uint32_t)cursor_left(cursor);
	section->body = cursor_sub(cursor, size);
	return true;
}

static struct extent rest_of(const struct cursor *cursor)
{
	return (struct extent){ cursor_offset(cursor), cursor_left(cursor) };
}

static bool is_name(const struct name *name, const char *text)
{
	return name->size == strlen(text) && memcmp(name->bytes, text, name->size) == 0;
}

/* A size and so many bytes: a name, a URL. */
static struct extent text_of(struct cursor body)
{
	uint32_t size = cursor_uleb32(&body);
	struct cursor text = cursor_sub(&body, size);

	return rest_of(&text);
}

static void read_custom(struct sections_core *core, struct cursor body)
{
	struct name name = { .size = cursor_uleb32(&body) };

	name.bytes = cursor_bytes(&body, name.size);
	if (name.bytes == NULL)
		return;
	if (is_name(&name, "external_debug_info"))
		core->external_debug_info = text_of(body);
	else if (is_name(&name, "sourceMappingURL"))
		core->source_map = text_of(body);
	for (int i = 0; i < DEBUG_COUNT; i++) {
		/* the first of several: as LLVM and gimli do */
		if (is_name(&name, sections_names[i]) && core->debug[i].size == 0)
			core->debug[i] = rest_of(&body);
	}
}

static int read_core(struct sections *sections, struct cursor body)
{
	size_t bytes = (sections->core_count + 1) * sizeof(*sections->cores);
	struct sections_core *cores, *core;
	struct section section;

	if (sections->core_count >= MAX_CORES)
		return 0;
	cores = realloc(sections->cores, bytes);
	if (cores == NULL)
		return -ENOMEM;
	sections->cores = cores;
	core = &cores[sections->core_count++];
	*core = (struct sections_core){ 0 };
	while (next_section(&body, &section)) {
		if (section.id == CUSTOM)
			read_custom(core, section.body);
		else if (section.id == CODE && core->code.size == 0)
			core->code = rest_of(&section.body);
	}
	return 0;
}

/* What the 8 bytes of a preamble announce: 0 core module, 1 component, -1 neither. */
static int read_preamble(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, PREAMBLE_SIZE);

	if (bytes == NULL || memcmp(bytes, "\0asm", 4) != 0)
		return -1;
	if (bytes[6] == 0 && bytes[7] == 0)
		return bytes[4] == 1 && bytes[5] == 0 ? 0 : -1;
	return bytes[6] == 1 && bytes[7] == 0 ? 1 : -1;
}

static int read_component(struct sections *sections, struct cursor body, unsigned int depth)
{
	struct section section;
	int error = 0;

	while (error == 0 && next_section(&body, &section)) {
		int kind;

		if (section.id != CORE_MODULE && section.id != COMPONENT)
			continue;
		kind = read_preamble(&section.body);
		if (section.id == CORE_MODULE && kind == 0)
			error = read_core(sections, section.body);
		else if (section.id == COMPONENT && kind == 1 && depth < MAX_DEPTH)
			error = read_component(sections, section.body, depth + 1);
	}
	return error;
}

int sections_read(struct sections *sections, const uint8_t *wasm, size_t size)
{
	struct cursor cursor = cursor_of(wasm, size);
	int kind = read_preamble(&cursor);

	*sections = (struct sections){ 0 };
	if (kind < 0)
		return -EINVAL;
	return kind == 1 ? read_component(sections, cursor, 0) : read_core(sections, cursor);
}

void sections_free(struct sections *sections)
{
	free(sections->cores);
	*sections = (struct sections){ 0 };
}
