/* SPDX-License-Identifier: MIT */
/*
 * addrmap.c - text offset -> position in the wasm binary.
 *
 * wasmtime up to 46:   u32 count, u32 offset[count], u32 position[count]
 * wasmtime 47 and on:  u32 count, u32 blocks, { u32 first_offset, u32 body }[blocks], bodies;
 *                      a block has up to 128 entries: uleb (delta of offset << 1 | none), then,
 *                      unless none, the position: uleb in the block's first, else an sleb delta
 * 37 to 71 % of the text has the entry "none" (plain arithmetic): it belongs to what came before.
 */
#include "symtab/addrmap.h"

#include "symtab/cursor.h"

enum {
	NO_POSITION = UINT32_MAX,
	BLOCK_ENTRIES = 128,
	MAX_BLOCKS = 1024, /* looked at for an entry that has a position */
	FIRST_BLOCK_VERSION = 47,
};

static uint32_t word(const struct addrmap *map, size_t index)
{
	const uint8_t *at = map->bytes + 4 * index;

	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

struct addrmap addrmap_of(const uint8_t *bytes, size_t size, unsigned long version)
{
	struct addrmap map = { .bytes = bytes, .size = size };
	uint32_t count, blocks;
	bool is_plain, is_blocks;

	if (bytes == NULL || size < 8)
		return map;
	count = word(&map, 0);
	blocks = word(&map, 1);
	is_plain = size == 4 + 8 * (uint64_t)count;
	is_blocks = blocks > 0 && blocks == (count + (uint64_t)BLOCK_ENTRIES - 1) / BLOCK_ENTRIES &&
		    8 + 8 * (uint64_t)blocks <= size;
	/* both fit by accident: the version decides, where it is known */
	if (is_plain && is_blocks && version != 0) {
		is_plain = version < FIRST_BLOCK_VERSION;
		is_blocks = !is_plain;
	}
	if (is_plain || is_blocks)
		map.count = count;
	if (is_blocks && !is_plain)
		map.blocks = blocks;
	return map;
}

/* Number of the first COUNT words at word FIRST, each STRIDE after the other, that are <= OFFSET.
 */
static uint32_t words_up_to(const struct addrmap *map, size_t first, size_t stride, uint32_t count,
			    uint64_t offset)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (word(map, first + stride * middle) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool find_plain(const struct addrmap *map, uint64_t start, uint64_t offset,
		       uint32_t *position)
{
	uint32_t i = words_up_to(map, 1, 1, map->count, offset);
	uint32_t steps = MAX_BLOCKS * BLOCK_ENTRIES;

	for (; i > 0 && steps > 0; i--, steps--) {
		if (word(map, i) < start) /* offset[i - 1] */
			return false;
		*position = word(map, map->count + i);
		if (*position != NO_POSITION)
			return true;
	}
	return false;
}

/* The entries of one block, one after another. */
struct walk {
	struct cursor body;
	uint64_t offset, position;
	bool have_position; /* some entry had one */
	bool is_none;	    /* this entry has none */
	unsigned int left;
};

static struct walk walk_block(const struct addrmap *map, uint32_t block)
{
	struct walk walk = { .body = cursor_of(map->bytes, map->size), .left = BLOCK_ENTRIES };

	walk.offset = word(map, 2 + 2 * (size_t)block);
	cursor_bytes(&walk.body, 8 + 8 * (size_t)map->blocks);
	cursor_bytes(&walk.body, word(map, 3 + 2 * (size_t)block));
	return walk;
}

static bool walk_next(struct walk *walk)
{
	uint64_t delta;

	if (walk->left-- == 0 || cursor_left(&walk->body) == 0)
		return false;
	delta = cursor_uleb64(&walk->body);
	walk->offset += delta >> 1;
	walk->is_none = (delta & 1) != 0;
	if (!walk->is_none && walk->have_position)
		walk->position += (uint64_t)cursor_sleb64(&walk->body);
	else if (!walk->is_none)
		walk->position = cursor_uleb64(&walk->body);
	walk->have_position |= !walk->is_none;
	walk->is_none |= walk->position >= NO_POSITION;
	return !walk->body.failed;
}

/* The last entry of block BLOCK in [START, OFFSET] that has a position. */
static bool find_in_block(const struct addrmap *map, uint32_t block, uint64_t start,
			  uint64_t offset, uint32_t *position)
{
	struct walk walk = walk_block(map, block);
	bool found = false;

	while (walk_next(&walk) && walk.offset <= offset) {
		if (walk.is_none || walk.offset < start)
			continue;
		*position = (uint32_t)walk.position;
		found = true;
	}
	return found;
}

static bool find_in_blocks(const struct addrmap *map, uint64_t start, uint64_t offset,
			   uint32_t *position)
{
	uint32_t block = words_up_to(map, 2, 2, map->blocks, offset);
	uint32_t steps = MAX_BLOCKS;

	for (; block > 0 && steps > 0; block--, steps--) {
		if (find_in_block(map, block - 1, start, offset, position))
			return true;
		if (word(map, 2 * (size_t)block) < start) /* the block began before the function */
			return false;
	}
	return false;
}

bool addrmap_find(const struct addrmap *map, uint64_t start, uint64_t offset, uint32_t *position)
{
	if (map->count == 0)
		return false;
	if (map->blocks > 0)
		return find_in_blocks(map, start, offset, position);
	return find_plain(map, start, offset, position);
}

static bool first_plain(const struct addrmap *map, uint64_t start, uint64_t end, uint32_t *position)
{
	uint32_t i = start == 0 ? 0 : words_up_to(map, 1, 1, map->count, start - 1);
	uint32_t steps = MAX_BLOCKS * BLOCK_ENTRIES;

	for (; i < map->count && steps > 0 && word(map, 1 + (size_t)i) < end; i++, steps--) {
		*position = word(map, 1 + (size_t)map->count + i);
		if (*position != NO_POSITION)
			return true;
	}
	return false;
}

static bool first_in_blocks(const struct addrmap *map, uint64_t start, uint64_t end,
			    uint32_t *position)
{
	uint32_t block = words_up_to(map, 2, 2, map->blocks, start);
	uint32_t steps = MAX_BLOCKS;

	/* the block that begins before START may reach into it */
	for (block = block > 0 ? block - 1 : 0; block < map->blocks && steps > 0;
	     block++, steps--) {
		struct walk walk = walk_block(map, block);

		if (walk.offset >= end)
			return false;
		while (walk_next(&walk) && walk.offset < end) {
			if (walk.is_none || walk.offset < start)
				continue;
			*position = (uint32_t)walk.position;
			return true;
		}
	}
	return false;
}

bool addrmap_first(const struct addrmap *map, uint64_t start, uint64_t end, uint32_t *position)
{
	if (map->count == 0)
		return false;
	if (map->blocks > 0)
		return first_in_blocks(map, start, end, position);
	return first_plain(map, start, end, position);
}

/* ---- extents -------------------------------------------------------------------------------- */

struct extent {
	uint32_t low, high;
	bool found;
};

static void widen(struct extent *extent, uint32_t position)
{
	if (!extent->found || position < extent->low)
		extent->low = position;
	if (!extent->found || position > extent->high)
		extent->high = position;
	extent->found = true;
}

static void widen_plain(const struct addrmap *map, uint64_t start, uint64_t end,
			struct extent *extent)
{
	uint32_t i = start == 0 ? 0 : words_up_to(map, 1, 1, map->count, start - 1);

	for (; i < map->count && word(map, 1 + (size_t)i) < end; i++) {
		uint32_t position = word(map, 1 + (size_t)map->count + i);

		if (position != NO_POSITION)
			widen(extent, position);
	}
}

static void widen_blocks(const struct addrmap *map, uint64_t start, uint64_t end,
			 struct extent *extent)
{
	uint32_t block = words_up_to(map, 2, 2, map->blocks, start);

	/* the block that begins before START may reach into it */
	for (block = block > 0 ? block - 1 : 0; block < map->blocks; block++) {
		struct walk walk = walk_block(map, block);

		if (walk.offset >= end)
			return;
		while (walk_next(&walk) && walk.offset < end)
			if (!walk.is_none && walk.offset >= start)
				widen(extent, (uint32_t)walk.position);
	}
}

bool addrmap_extent(const struct addrmap *map, uint64_t start, uint64_t end, uint32_t *low,
		    uint32_t *high)
{
	struct extent extent = { 0 };

	if (map->count > 0 && map->blocks > 0)
		widen_blocks(map, start, end, &extent);
	else if (map->count > 0)
		widen_plain(map, start, end, &extent);
	*low = extent.low;
	*high = extent.high;
	return extent.found;
}
