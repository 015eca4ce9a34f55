/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - bounded reads of untrusted bytes; the first error sticks.
 *
 * After an error every read gives 0 (or NULL) and nothing is left, so a decoder may read a whole
 * record and look at `failed` once, and loops over "while something is left" end.
 */
#ifndef SYMTAB_CURSOR_H
#define SYMTAB_CURSOR_H

#include <string.h>

#include "symtab/base.h"

struct cursor {
	const uint8_t *bytes; /* borrowed */
	size_t size;
	size_t at;     /* next byte to read, never above size */
	size_t origin; /* offset of bytes[0] in the outermost input, for messages */
	bool failed;
};

static inline struct cursor cursor_of(const void *bytes, size_t size)
{
	return (struct cursor){ .bytes = bytes, .size = size };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return cursor->size - cursor->at;
}

/* Position of the next byte in the outermost input. */
static inline size_t cursor_offset(const struct cursor *cursor)
{
	return cursor->origin + cursor->at;
}

static inline void cursor_fail(struct cursor *cursor)
{
	cursor->failed = true;
	cursor->at = cursor->size;
}

/* The next COUNT bytes, or NULL when fewer are left. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, size_t count)
{
	const uint8_t *bytes = cursor->bytes + cursor->at;

	if (cursor->failed || count > cursor_left(cursor)) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at += count;
	return bytes;
}

/* A cursor over the next COUNT bytes, which are skipped here; a failed one when fewer are left. */
static inline struct cursor cursor_sub(struct cursor *cursor, size_t count)
{
	size_t origin = cursor_offset(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, count);

	if (bytes == NULL)
		return (struct cursor){ .bytes = cursor->bytes, .origin = origin, .failed = true };
	return (struct cursor){ .bytes = bytes, .size = count, .origin = origin };
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	if (cursor->at >= cursor->size) {
		cursor_fail(cursor);
		return 0;
	}
	return cursor->bytes[cursor->at++];
}

static inline uint32_t cursor_u32le(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, 4);

	if (bytes == NULL)
		return 0;
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint64_t cursor_u64le(struct cursor *cursor)
{
	uint64_t low = cursor_u32le(cursor);

	return low | (uint64_t)cursor_u32le(cursor) << 32;
}

/* Unsigned LEB128 of at most BITS bits (up to 64). Longer encodings and larger values are errors.
 */
static inline uint64_t cursor_uleb_bits(struct cursor *cursor, unsigned int bits)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; shift < bits; shift += 7) {
		uint8_t byte = cursor_u8(cursor);
		unsigned int room = bits - shift;

		if (room < 7 && (byte & 0x7f) >> room != 0)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return value;
	}
	cursor_fail(cursor);
	return 0;
}

/* wasm's u32 (core specification 5.2.2). */
static inline uint32_t cursor_uleb32(struct cursor *cursor)
{
	/* one byte is by far the most frequent */
	if (cursor->at < cursor->size && cursor->bytes[cursor->at] < 0x80)
		return cursor->bytes[cursor->at++];
	return (uint32_t)cursor_uleb_bits(cursor, 32);
}

static inline uint64_t cursor_uleb64(struct cursor *cursor)
{
	return cursor_uleb_bits(cursor, 64);
}

static inline int64_t cursor_sleb64(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) != 0)
			continue;
		if ((byte & 0x40) != 0 && shift + 7 < 64)
			value |= ~(uint64_t)0 << (shift + 7);
		return (int64_t)value;
	}
	cursor_fail(cursor);
	return 0;
}

#endif /* SYMTAB_CURSOR_H */
