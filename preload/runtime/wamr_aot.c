/* SPDX-License-Identifier: MIT */
/*
 * wamr_aot.c - a reader of WAMR's .aot files (core/iwasm/aot/aot_loader.c, format 6 of 2.4.3).
 *
 *   "\0aot" version { type size body }...     all of 4 bytes, and aligned to as many
 *   text      size of literals, literals, code
 *   function  for each: offset in the code, 8 bytes each; then three words for each
 *   export    count { index kind name }...
 *   custom    3: names "name" { type size: count { index name }... }...
 *
 * A name is its length in 2 bytes, aligned, and as many bytes of which the last is 0.
 */
#include "preload/runtime/wamr_aot.h"

#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "symtab/codeimage.h"
#include "symtab/cursor.h"

enum {
	TEXT = 2,
	FUNCTION = 3,
	EXPORT_LIST = 4,
	CUSTOM = 100,
	CUSTOM_NAMES = 3,
	NAMES_OF_FUNCTIONS = 1,
	KIND_FUNCTION = 0,
	VERSION_LEAST = 3,
	VERSION_MOST = 6,
	MAX_FUNCTIONS = 1 << 20,
	MAX_NAME = 512,
	MODULE_WORDS = 256, /* of the engine's object, that are looked at; 80 in 2.4.3 */
	COMPARED = 64,	    /* functions whose code is */
	FIRST_BYTES = 2,    /* of each: what is relocated comes later */
	LOOK = 16,	    /* addresses read before all are */
};

struct named {
	uint32_t index, at, length; /* in texts */
};

struct wamr_aot {
	uint32_t count;
	uint64_t *offsets; /* in the code, by function */
	uint8_t *first;	   /* FIRST_BYTES of each */
	uint64_t code_size;
	struct named *names;
	size_t name_count, name_room;
	char *texts;
	size_t text_size, text_room;
};

/* ---- the file -------------------------------------------------------------------------------- */

static void align(struct cursor *cursor, size_t to)
{
	cursor_bytes(cursor, -cursor_offset(cursor) % to);
}

static uint32_t read_word(struct cursor *cursor)
{
	align(cursor, 4);
	return cursor_u32le(cursor);
}

static uint32_t read_half(struct cursor *cursor)
{
	const uint8_t *bytes;

	align(cursor, 2);
	bytes = cursor_bytes(cursor, 2);
	return bytes != NULL ? (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 : 0;
}

static bool make_room(void **items, size_t *room, size_t needed, size_t size)
{
	size_t next = *room == 0 ? 64 : *room;
	void *larger;

	while (next < needed)
		next *= 2;
	if (next == *room)
		return true;
	larger = realloc(*items, next * size);
	if (larger == NULL)
		return false;
	*items = larger;
	*room = next;
	return true;
}

static void add_name(struct wamr_aot *aot, uint32_t index, const uint8_t *text, size_t length)
{
	if (length > MAX_NAME)
		length = MAX_NAME;
	if (length == 0 || aot->name_count >= 2 * MAX_FUNCTIONS ||
	    !make_room((void **)&aot->names, &aot->name_room, aot->name_count + 1,
		       sizeof(*aot->names)) ||
	    !make_room((void **)&aot->texts, &aot->text_room, aot->text_size + length, 1))
		return;
	memcpy(aot->texts + aot->text_size, text, length);
	aot->names[aot->name_count++] = (struct named){
		.index = index,
		.at = (uint32_t)aot->text_size,
		.length = (uint32_t)length,
	};
	aot->text_size += length;
}

static void read_name(struct cursor *cursor, struct wamr_aot *aot, uint32_t index, bool is_wanted)
{
	uint32_t length = read_half(cursor);
	const uint8_t *text = cursor_bytes(cursor, length);

	if (text != NULL && length > 1 && is_wanted)
		add_name(aot, index, text, length - 1);
}

static void read_exports(struct cursor body, struct wamr_aot *aot)
{
	uint32_t count = read_word(&body);

	for (uint32_t i = 0; i < count && !body.failed; i++) {
		uint32_t index = read_word(&body);
		uint8_t kind = cursor_u8(&body);

		read_name(&body, aot, index, kind == KIND_FUNCTION);
	}
}

static void read_names(struct cursor body, struct wamr_aot *aot)
{
	uint32_t count;

	if (read_word(&body) != CUSTOM_NAMES || read_word(&body) != 4 ||
	    cursor_bytes(&body, 4) == NULL || read_word(&body) != NAMES_OF_FUNCTIONS)
		return;
	read_word(&body); /* a size, of the wasm that it was made of */
	count = read_word(&body);
	for (uint32_t i = 0; i < count && !body.failed; i++) {
		uint32_t index = read_word(&body);

		read_name(&body, aot, index, true);
	}
}

/* What follows the offsets has 12 bytes for each, before format 4 it may have 4. */
static uint32_t count_functions(struct cursor body, uint64_t code_size)
{
	static const uint32_t sizes[] = { 20, 12 };
	size_t size = cursor_left(&body);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct cursor offsets = body;
		uint32_t count = (uint32_t)(size / sizes[i]), at = 0;

		if (size % sizes[i] != 0 || size / sizes[i] > MAX_FUNCTIONS)
			continue;
		while (at < count && cursor_u64le(&offsets) < code_size)
			at++;
		if (at == count)
			return count;
	}
	return 0;
}

static void read_functions(struct cursor body, struct wamr_aot *aot, const uint8_t *code)
{
	aot->count = code != NULL ? count_functions(body, aot->code_size) : 0;
	aot->offsets = calloc(aot->count + 1, sizeof(*aot->offsets));
	aot->first = calloc(aot->count + 1, FIRST_BYTES);
	if (aot->offsets == NULL || aot->first == NULL)
		aot->count = 0;
	for (uint32_t i = 0; i < aot->count; i++) {
		uint64_t offset = cursor_u64le(&body), left = aot->code_size - offset;

		aot->offsets[i] = offset;
		memcpy(aot->first + i * FIRST_BYTES, code + offset,
		       left < FIRST_BYTES ? left : FIRST_BYTES);
	}
}

static void read_sections(struct cursor file, struct wamr_aot *aot)
{
	const uint8_t *code = NULL;

	while (cursor_left(&file) > 0) {
		uint32_t type = read_word(&file), size = read_word(&file);
		struct cursor body = cursor_sub(&file, size);

		if (type == TEXT) {
			cursor_bytes(&body, read_word(&body));
			aot->code_size = cursor_left(&body);
			code = cursor_bytes(&body, aot->code_size);
		} else if (type == FUNCTION && aot->offsets == NULL) {
			read_functions(body, aot, code);
		} else if (type == EXPORT_LIST) {
			read_exports(body, aot);
		} else if (type == CUSTOM) {
			read_names(body, aot);
		}
	}
}

struct wamr_aot *wamr_aot_read(const uint8_t *bytes, size_t size)
{
	struct cursor file = cursor_of(bytes, size);
	struct wamr_aot *aot;
	uint32_t version;

	if (bytes == NULL || size < 8 || memcmp(cursor_bytes(&file, 4), "\0aot", 4) != 0)
		return NULL;
	version = cursor_u32le(&file);
	if (version < VERSION_LEAST || version > VERSION_MOST)
		return NULL;
	aot = calloc(1, sizeof(*aot));
	if (aot != NULL)
		read_sections(file, aot);
	return aot;
}

void wamr_aot_free(struct wamr_aot *aot)
{
	if (aot == NULL)
		return;
	free(aot->offsets);
	free(aot->first);
	free(aot->names);
	free(aot->texts);
	free(aot);
}

uint32_t wamr_aot_count(const struct wamr_aot *aot)
{
	return aot->count;
}

/* ---- the engine's memory --------------------------------------------------------------------- */

/* Whether COUNT addresses at LIST are those of the first functions, of code at *BASE. */
static bool is_list(const struct wamr_aot *aot, uintptr_t list, uint32_t count, uint64_t *addresses,
		    uintptr_t *base)
{
	if (guarded_read(list, addresses, count * sizeof(*addresses)) != 0)
		return false;
	*base = addresses[0] - aot->offsets[0];
	for (uint32_t i = 0; i < count; i++)
		if (addresses[i] - aot->offsets[i] != *base)
			return false;
	return *base != 0;
}

static bool is_code(const struct wamr_aot *aot, uintptr_t base)
{
	uint8_t bytes[FIRST_BYTES];

	for (uint32_t i = 0; i < aot->count; i += aot->count / COMPARED + 1) {
		if (guarded_read(base + aot->offsets[i], bytes, sizeof(bytes)) != 0 ||
		    memcmp(bytes, aot->first + i * FIRST_BYTES, sizeof(bytes)) != 0)
			return false;
	}
	return true;
}

/* Where the code of MODULE begins; 0: it is not found. ADDRESSES: room for all of them. */
static uintptr_t find_code(const struct wamr_aot *aot, uintptr_t module, uint64_t *addresses)
{
	uint32_t few = aot->count < LOOK ? aot->count : LOOK;
	uintptr_t word, base;

	for (size_t i = 0; i < MODULE_WORDS; i++) {
		if (guarded_read(module + i * sizeof(word), &word, sizeof(word)) != 0)
			break;
		if (word != 0 && word % sizeof(word) == 0 &&
		    is_list(aot, word, few, addresses, &base) &&
		    is_list(aot, word, aot->count, addresses, &base) && is_code(aot, base))
			return base;
	}
	return 0;
}

static int by_offset(const void *left, const void *right)
{
	const struct code_function *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Each reaches up to the next one. */
static void find_sizes(struct code_function *functions, uint32_t count, uintptr_t end)
{
	qsort(functions, count, sizeof(*functions), by_offset);
	for (uint32_t i = count; i-- > 0;) {
		functions[i].size = end - functions[i].start;
		if (i > 0 && functions[i - 1].start != functions[i].start)
			end = functions[i].start;
	}
}

/* The name section comes last, and stands. */
static void give_names(const struct wamr_aot *aot, uint32_t imports,
		       struct code_function *functions)
{
	for (size_t i = 0; i < aot->name_count; i++) {
		const struct named *named = &aot->names[i];

		if (named->index < imports || named->index - imports >= aot->count)
			continue;
		functions[named->index - imports].name = aot->texts + named->at;
		functions[named->index - imports].name_length = named->length;
	}
}

bool wamr_aot_place(const struct wamr_aot *aot, uintptr_t module, uint32_t imports,
		    struct code_function *functions)
{
	uint64_t *addresses = calloc(aot->count + 1, sizeof(*addresses));
	uintptr_t base = 0;

	if (addresses != NULL && aot->count != 0)
		base = find_code(aot, module, addresses);
	free(addresses);
	if (base == 0 || imports > UINT32_MAX - aot->count)
		return false;
	for (uint32_t i = 0; i < aot->count; i++)
		functions[i] = (struct code_function){
			.start = base + aot->offsets[i],
			.index = imports + i,
		};
	give_names(aot, imports, functions);
	find_sizes(functions, aot->count, base + aot->code_size);
	return true;
}
