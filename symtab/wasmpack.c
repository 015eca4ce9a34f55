/* SPDX-License-Identifier: MIT */
/*
 * wasmpack.c - what is kept of a wasm binary, as bytes for another process.
 *
 * Little-endian, nothing aligned:
 *	"gpcache\n", u32 version, u32 zero, u64 size of all, u64 sum of what follows
 *	sha256[32] of the wasm bytes, u32 flags (1 component), u32 cores, u32 imports, u32 calls
 *	text problem, text name of the component
 *	{ u32 imported, defined, functions, flags (1 has code, 2 has a name); u64 names end,
 *	  code offset, code size; sha256[32] of the code; u8 size, build id; text name;
 *	  span of each function's name }[cores]
 *	span of each import's name, { u32 position, u32 import }[calls], text of all spans
 * A text is u32 length and its bytes, a span u32 offset and u32 length. The sum finds damage; that
 * nobody else writes there is the file system's business. Still every number is checked: a file
 * that was damaged on purpose gives wrong names, and nothing worse.
 */
#include "symtab/wasmpack.h"

#include "symtab/utf8.h"
#include "symtab/wasmparts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION = 1,
	HEADER_SIZE = 32,
	COMPONENT = 1,
	HAS_CODE = 1,
	HAS_NAME = 2,
	CORE_SIZE = 16 + 24 + SHA256_SIZE + 1 + 4, /* at least */
	MAX_CORES = 10000,
	MAX_TEXT = 1 << 20, /* of a module's name */
};

static const char magic[8] = { 'g', 'p', 'c', 'a', 'c', 'h', 'e', '\n' };

/* Eight bytes at a time: five gigabytes a second. */
uint64_t wasmpack_sum(const uint8_t *bytes, size_t size)
{
	uint64_t sum = size, word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15;
		sum ^= sum >> 32;
	}
	for (; size > 0; bytes++, size--)
		sum = (sum ^ *bytes) * 0x100000001b3;
	return sum;
}

/* ---- written -------------------------------------------------------------------------------- */

/* The first pass only counts: bytes is NULL. */
struct writer {
	uint8_t *bytes;
	size_t size;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
	if (writer->bytes != NULL && size > 0)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static void put_u32(struct writer *writer, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	put(writer, &word, sizeof(word));
}

static void put_u64(struct writer *writer, uint64_t value)
{
	put(writer, &value, sizeof(value));
}

static void put_text(struct writer *writer, const char *text)
{
	size_t length = text != NULL ? strlen(text) : 0;

	put_u32(writer, length);
	put(writer, text, length);
}

static void put_core(struct writer *writer, const struct wasmbin_core *core)
{
	put_u32(writer, core->imported);
	put_u32(writer, core->defined);
	put_u32(writer, core->function_count);
	put_u32(writer, (core->has_code ? HAS_CODE : 0) | (core->name != NULL ? HAS_NAME : 0));
	put_u64(writer, core->names_end);
	put_u64(writer, core->code_offset);
	put_u64(writer, core->code_size);
	put(writer, core->code_sha256, SHA256_SIZE);
	put(writer, &core->build_id_size, 1);
	put(writer, core->build_id, core->build_id_size);
	put_text(writer, core->name);
	put(writer, core->functions, core->function_count * sizeof(*core->functions));
}

static void put_all(struct writer *writer, const struct wasmbin *bin)
{
	uint32_t i;

	put(writer, bin->sha256, SHA256_SIZE);
	put_u32(writer, bin->is_component ? COMPONENT : 0);
	put_u32(writer, bin->core_count);
	put_u32(writer, bin->import_count);
	put_u32(writer, bin->call_count);
	put_text(writer, bin->problem);
	put_text(writer, bin->name);
	for (i = 0; i < bin->core_count; i++)
		put_core(writer, &bin->cores[i]);
	put(writer, bin->imports, bin->import_count * sizeof(*bin->imports));
	put(writer, bin->calls, bin->call_count * sizeof(*bin->calls));
	put_u32(writer, bin->text.used);
	put(writer, bin->text.bytes, bin->text.used);
}

uint8_t *wasmpack_write(const struct wasmbin *bin, size_t *size)
{
	struct writer writer = { .size = HEADER_SIZE };
	uint8_t *bytes;

	put_all(&writer, bin);
	*size = writer.size;
	bytes = malloc(writer.size);
	if (bytes == NULL)
		return NULL;
	writer = (struct writer){ .bytes = bytes };
	put(&writer, magic, sizeof(magic));
	put_u32(&writer, VERSION);
	put_u32(&writer, 0);
	put_u64(&writer, *size);
	put_u64(&writer, 0);
	put_all(&writer, bin);
	writer.size = HEADER_SIZE - sizeof(uint64_t);
	put_u64(&writer, wasmpack_sum(bytes + HEADER_SIZE, *size - HEADER_SIZE));
	return bytes;
}

/* ---- read ----------------------------------------------------------------------------------- */

/* COUNT rows of SIZE bytes; NULL when there are none, or with the cursor failed. */
static void *take_rows(struct wasmbin *bin, struct cursor *cursor, uint32_t count, size_t size)
{
	const uint8_t *bytes = cursor_bytes(cursor, (size_t)count * size);
	void *rows = bytes != NULL && count > 0 ? malloc((size_t)count * size) : NULL;

	if (rows != NULL)
		memcpy(rows, bytes, (size_t)count * size);
	else if (bytes != NULL && count > 0)
		bin->error = -ENOMEM;
	return rows;
}

/* A name as the parser would have made it; NULL when it is not one. */
static char *take_name(struct wasmbin *bin, struct cursor *cursor)
{
	uint32_t length = cursor_u32le(cursor);
	const char *bytes = (const char *)cursor_bytes(cursor, length);
	char *name;

	if (bytes == NULL || length > MAX_TEXT) {
		cursor_fail(cursor);
		return NULL;
	}
	name = utf8_escape_new(bytes, length);
	if (name == NULL)
		bin->error = -ENOMEM;
	return name;
}

static void take_core(struct wasmbin *bin, struct cursor *cursor, struct wasmbin_core *core)
{
	const uint8_t *bytes;
	uint32_t flags;
	char *name;

	core->imported = cursor_u32le(cursor);
	core->defined = cursor_u32le(cursor);
	core->function_count = cursor_u32le(cursor);
	flags = cursor_u32le(cursor);
	core->has_code = (flags & HAS_CODE) != 0;
	core->names_end = cursor_u64le(cursor);
	core->code_offset = cursor_u64le(cursor);
	core->code_size = cursor_u64le(cursor);
	bytes = cursor_bytes(cursor, SHA256_SIZE);
	if (bytes != NULL)
		memcpy(core->code_sha256, bytes, SHA256_SIZE);
	core->build_id_size = cursor_u8(cursor);
	bytes = core->build_id_size <= BUILD_ID_MAX ? cursor_bytes(cursor, core->build_id_size)
						    : NULL;
	if (bytes == NULL)
		cursor_fail(cursor);
	else
		memcpy(core->build_id, bytes, core->build_id_size);
	name = take_name(bin, cursor);
	if ((flags & HAS_NAME) != 0)
		core->name = name;
	else
		free(name);
	core->functions = take_rows(bin, cursor, core->function_count, sizeof(*core->functions));
}

static void take_cores(struct wasmbin *bin, struct cursor *cursor, uint32_t count)
{
	if (count > MAX_CORES || count > cursor_left(cursor) / CORE_SIZE) {
		cursor_fail(cursor);
		return;
	}
	bin->cores = calloc(count + 1, sizeof(*bin->cores));
	if (bin->cores == NULL) {
		bin->error = -ENOMEM;
		return;
	}
	bin->core_count = bin->core_room = count;
	for (uint32_t i = 0; i < count && !cursor->failed && bin->error == 0; i++)
		take_core(bin, cursor, &bin->cores[i]);
}

static void take_all(struct wasmbin *bin, struct cursor *cursor)
{
	uint32_t flags = cursor_u32le(cursor), cores = cursor_u32le(cursor);
	uint32_t imports = cursor_u32le(cursor), calls = cursor_u32le(cursor);
	char *problem = take_name(bin, cursor), *name = take_name(bin, cursor);

	bin->is_component = (flags & COMPONENT) != 0;
	if (problem != NULL)
		snprintf(bin->problem, sizeof(bin->problem), "%s", problem);
	free(problem);
	if (name != NULL && *name != '\0')
		bin->name = name;
	else
		free(name);
	take_cores(bin, cursor, cores);
	bin->imports = take_rows(bin, cursor, imports, sizeof(*bin->imports));
	bin->import_count = bin->imports != NULL ? imports : 0;
	bin->calls = take_rows(bin, cursor, calls, sizeof(*bin->calls));
	bin->call_count = bin->call_room = bin->calls != NULL ? calls : 0;
	bin->text.used = bin->text.room = cursor_u32le(cursor);
	bin->text.bytes = take_rows(bin, cursor, (uint32_t)bin->text.used, 1);
	if (cursor_left(cursor) != 0)
		cursor_fail(cursor);
}

static bool spans_are_good(const struct wasmbin *bin, const struct span *spans, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (spans[i].offset > bin->text.used ||
		    spans[i].length > bin->text.used - spans[i].offset)
			return false;
	return true;
}

static bool is_good(const struct wasmbin *bin)
{
	if (!spans_are_good(bin, bin->imports, bin->import_count))
		return false;
	for (uint32_t i = 0; i < bin->call_count; i++)
		if (bin->calls[i].import >= bin->import_count)
			return false;
	for (uint32_t i = 0; i < bin->core_count; i++) {
		const struct wasmbin_core *core = &bin->cores[i];

		if (core->functions == NULL && core->function_count != 0)
			return false;
		if ((uint64_t)core->imported + core->defined > core->function_count &&
		    core->function_count != 0)
			return false;
		if (core->names_end > bin->text.used ||
		    !spans_are_good(bin, core->functions, core->function_count))
			return false;
	}
	return true;
}

static bool header_is_good(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	const uint8_t *start = cursor_bytes(&cursor, sizeof(magic));

	return start != NULL && memcmp(start, magic, sizeof(magic)) == 0 &&
	       cursor_u32le(&cursor) == VERSION && cursor_u32le(&cursor) == 0 &&
	       cursor_u64le(&cursor) == size &&
	       cursor_u64le(&cursor) == wasmpack_sum(bytes + HEADER_SIZE, size - HEADER_SIZE);
}

struct wasmbin *wasmpack_read(const uint8_t *bytes, size_t size, const uint8_t sha256[32])
{
	struct cursor cursor = cursor_of(bytes, size);
	struct wasmbin *bin;
	const uint8_t *digest;

	errno = EINVAL;
	if (size < HEADER_SIZE || !header_is_good(bytes, size))
		return NULL;
	cursor_bytes(&cursor, HEADER_SIZE);
	digest = cursor_bytes(&cursor, SHA256_SIZE);
	if (digest == NULL || memcmp(digest, sha256, SHA256_SIZE) != 0)
		return NULL;
	bin = calloc(1, sizeof(*bin));
	if (bin == NULL)
		return NULL;
	atomic_init(&bin->refs, 1);
	memcpy(bin->sha256, sha256, SHA256_SIZE);
	take_all(bin, &cursor);
	if (bin->error == 0 && (cursor.failed || !is_good(bin)))
		bin->error = -EINVAL;
	if (bin->error != 0) {
		int error = -bin->error;

		wasmbin_unref(bin);
		errno = error;
		return NULL;
	}
	return bin;
}
