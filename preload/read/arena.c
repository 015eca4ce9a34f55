/* SPDX-License-Identifier: MIT */
/* arena.c - a bump allocator over blocks of 1 MiB or more. Threads: one at a time. */
#include "preload/read/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 20, ALIGNMENT = 16 };

struct arena_block {
	struct arena_block *next;
	_Alignas(ALIGNMENT) uint8_t bytes[];
};

static bool add_block(struct arena *arena, size_t size)
{
	size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *block;

	if (room > arena->limit - arena->used)
		room = size;
	if (room > arena->limit - arena->used)
		return false;
	block = calloc(1, sizeof(*block) + room);
	if (block == NULL)
		return false;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->at = block->bytes;
	arena->end = block->bytes + room;
	arena->used += room;
	return true;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
	uint8_t *result;

	if (size != 0 && count > (SIZE_MAX / 2) / size)
		goto fail;
	size = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (size == 0)
		size = ALIGNMENT;
	if (size > (size_t)(arena->end - arena->at) && !add_block(arena, size))
		goto fail;
	result = arena->at;
	arena->at += size;
	return result;
fail:
	arena->failed = true;
	return NULL;
}

char *arena_text(struct arena *arena, const uint8_t *bytes, size_t size)
{
	char *text = size == SIZE_MAX ? NULL : arena_alloc(arena, 1, size + 1);

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < size; i++)
		text[i] = bytes[i] == 0 ? '?' : (char)bytes[i];
	return text;
}

void arena_free(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block != NULL) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct arena){ 0 };
}
