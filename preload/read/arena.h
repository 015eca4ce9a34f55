/* SPDX-License-Identifier: MIT */
/*
 * arena.h - many small zeroed allocations that are freed together, with a bound on their sum.
 *
 * Rows of a damaged or hostile file ask for memory here, so the bound is what keeps a small file
 * from taking the machine. Errors stick: FAILED tells once, at the end.
 */
#ifndef PRELOAD_READ_ARENA_H
#define PRELOAD_READ_ARENA_H

#include "symtab/base.h"

struct arena_block;

struct arena {
	struct arena_block *blocks;
	uint8_t *at, *end;  /* free room in the newest block */
	size_t used, limit; /* bytes */
	bool failed;
};

/* COUNT zeroed objects of SIZE bytes, aligned for any; NULL (and FAILED) beyond the limit. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A terminated copy of SIZE bytes. A zero byte inside becomes '?', so that nothing is hidden behind
 * it. */
char *arena_text(struct arena *arena, const uint8_t *bytes, size_t size);

void arena_free(struct arena *arena);

#endif /* PRELOAD_READ_ARENA_H */
