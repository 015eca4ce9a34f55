/* SPDX-License-Identifier: MIT */
/*
 * modinfo.c - what an image whose wasm bytes nobody saw says of its core module.
 *
 * How .wasmtime.info begins for a core module (numbers are uleb, seen in 25 to 50):
 *   wasmtime up to 37:   option name
 *   wasmtime 38 to 42:   module index, option name
 *   wasmtime 43 and on:  module index, count, { length, bytes }[count], option atom,
 *                        count, { 0, atom, atom, kind, index }[count]: the imports
 * An option is 0, or 1 and the value; a name is length and bytes; an atom is the number of one of
 * the count texts, from 1; kind 0 is a function.
 */
#include "symtab/modinfo.h"

#include "symtab/cursor.h"
#include "symtab/utf8.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_INDEX_VERSION = 38, FIRST_ATOM_VERSION = 43, MAX_NAME = 100000 };

struct text {
	const uint8_t *bytes;
	uint32_t length;
};

static struct text read_text(struct cursor *cursor)
{
	struct text text = { .length = cursor_uleb32(cursor) };

	text.bytes = cursor_bytes(cursor, text.length);
	return text;
}

/* Takes the texts and the name's atom; *COUNT is the number of texts. */
static struct text read_atom(struct cursor *cursor, uint32_t *count)
{
	struct text none = { 0 };
	struct cursor texts;
	uint32_t atom, i;

	*count = cursor_uleb32(cursor);
	texts = *cursor;
	for (i = 0; i < *count && !cursor->failed; i++)
		read_text(cursor);
	if (cursor_u8(cursor) != 1)
		return none;
	atom = cursor_uleb32(cursor);
	if (cursor->failed || atom == 0 || atom > *count)
		return none;
	for (i = 1; i < atom; i++)
		read_text(&texts);
	return read_text(&texts);
}

/* Counts functions among the imports, whose indices must be 0, 1, 2... to be believed. */
static void read_imports(struct cursor *cursor, uint32_t texts, struct modinfo *out)
{
	uint32_t left = cursor_uleb32(cursor), functions = 0;

	for (; left > 0 && !cursor->failed; left--) {
		uint8_t variant = cursor_u8(cursor);
		uint32_t module = cursor_uleb32(cursor), field = cursor_uleb32(cursor);
		uint8_t kind = cursor_u8(cursor);
		uint32_t index = cursor_uleb32(cursor);

		if (variant != 0 || module == 0 || module > texts || field == 0 || field > texts)
			return;
		if (kind == 0 && index != functions++)
			return;
	}
	out->imports_are_known = !cursor->failed;
	out->imported_functions = functions;
}

int modinfo_read(const struct blob *info, unsigned long version, struct modinfo *out)
{
	struct cursor cursor = cursor_of(info->bytes, info->size);
	struct text name = { 0 };
	uint32_t texts;

	*out = (struct modinfo){ 0 };
	if (info->bytes == NULL || version == 0)
		return 0;
	if (version >= FIRST_INDEX_VERSION && cursor_uleb32(&cursor) != 0)
		return 0;
	if (version >= FIRST_ATOM_VERSION) {
		name = read_atom(&cursor, &texts);
		read_imports(&cursor, texts, out);
	} else if (cursor_u8(&cursor) == 1) {
		name = read_text(&cursor);
	}
	if (name.bytes == NULL || name.length == 0 || name.length > MAX_NAME)
		return 0;
	out->name = utf8_escape_new((const char *)name.bytes, name.length);
	return out->name != NULL ? 0 : -ENOMEM;
}

void modinfo_fini(struct modinfo *info)
{
	free(info->name);
	*info = (struct modinfo){ 0 };
}
