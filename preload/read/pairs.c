/* SPDX-License-Identifier: MIT */
/* pairs.c - an open-addressing hash table of numbers, at most three quarters full. Threads: one at
 * a time. */
#include "preload/read/pairs.h"

#include "preload/read/rows.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

static uint64_t hash(uint64_t first, uint64_t second)
{
	uint64_t h = (first ^ (second << 32 | second >> 32)) * 0x9e3779b97f4a7c15;

	h ^= h >> 32;
	return (h + second) * 0xd6e8feb86659fd93 >> 16;
}

/* The slot that holds the pair, or the free one where it belongs. */
static uint32_t *find_slot(const struct pairs *pairs, uint64_t first, uint64_t second)
{
	size_t at = hash(first, second) & (pairs->capacity - 1);

	while (pairs->slots[at] != 0) {
		const struct pair *pair = &pairs->list[pairs->slots[at] - 1];

		if (pair->first == first && pair->second == second)
			break;
		at = (at + 1) & (pairs->capacity - 1);
	}
	return &pairs->slots[at];
}

static bool grow_slots(struct pairs *pairs)
{
	size_t capacity = pairs->capacity == 0 ? FIRST_CAPACITY : pairs->capacity * 2;
	uint32_t *slots = calloc(capacity, sizeof(*slots));

	if (slots == NULL)
		return false;
	free(pairs->slots);
	pairs->slots = slots;
	pairs->capacity = capacity;
	for (uint32_t i = 0; i < pairs->count; i++)
		*find_slot(pairs, pairs->list[i].first, pairs->list[i].second) = i + 1;
	return true;
}

uint32_t pairs_id(struct pairs *pairs, uint64_t first, uint64_t second)
{
	uint32_t *slot;

	if (pairs->count == PAIRS_NONE - 1)
		return PAIRS_NONE;
	if ((size_t)pairs->count * 4 >= pairs->capacity * 3 && !grow_slots(pairs))
		return PAIRS_NONE;
	slot = find_slot(pairs, first, second);
	if (*slot != 0)
		return *slot - 1;
	if (rows_reserve(&pairs->list, &pairs->room, pairs->count, sizeof(*pairs->list)) != 0)
		return PAIRS_NONE;
	pairs->list[pairs->count] = (struct pair){ first, second };
	*slot = ++pairs->count;
	return *slot - 1;
}

uint32_t pairs_find(const struct pairs *pairs, uint64_t first, uint64_t second)
{
	/* A free slot holds 0, which becomes PAIRS_NONE. */
	return pairs->capacity == 0 ? PAIRS_NONE : *find_slot(pairs, first, second) - 1;
}

void pairs_free(struct pairs *pairs)
{
	free(pairs->list);
	free(pairs->slots);
	*pairs = (struct pairs){ 0 };
}
