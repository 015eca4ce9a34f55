/* SPDX-License-Identifier: MIT */
/* lookup.c - open addressing with linear probes, at most 3/4 full. Threads: the owner's. */
#include "preload/profile/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, LAST_CAPACITY = 1 << 30 };

/*
 * Keys contain text that guests choose. They cannot time us, and a slow lookup costs our thread
 * only, so a mixing hash (FNV-1a over words, with a final avalanche) is enough.
 */
uint64_t lookup_hash(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = 0xcbf29ce484222325u, word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (; size > 0; size--, at++)
		hash = (hash ^ *at) * 0x100000001b3u;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, lookup_equal *equal,
		     const void *table, const void *key)
{
	uint32_t mask = lookup->capacity - 1;

	if (lookup->capacity == 0)
		return LOOKUP_NONE;
	for (uint32_t i = (uint32_t)hash & mask; lookup->slots[i].number != 0; i = (i + 1) & mask) {
		const struct lookup_slot *slot = &lookup->slots[i];

		if (slot->hash == (uint32_t)hash && equal(table, slot->number - 1, key))
			return slot->number - 1;
	}
	return LOOKUP_NONE;
}

static void insert(struct lookup_slot *slots, uint32_t capacity, struct lookup_slot slot)
{
	uint32_t i = slot.hash & (capacity - 1);

	while (slots[i].number != 0)
		i = (i + 1) & (capacity - 1);
	slots[i] = slot;
}

static int grow(struct lookup *lookup)
{
	uint32_t capacity = lookup->capacity == 0 ? FIRST_CAPACITY : lookup->capacity * 2;
	struct lookup_slot *slots;

	if (lookup->capacity >= LAST_CAPACITY)
		return -ENOMEM;
	slots = calloc(capacity, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < lookup->capacity; i++)
		if (lookup->slots[i].number != 0)
			insert(slots, capacity, lookup->slots[i]);
	free(lookup->slots);
	lookup->slots = slots;
	lookup->capacity = capacity;
	return 0;
}

int lookup_add(struct lookup *lookup, uint64_t hash, uint32_t number)
{
	struct lookup_slot slot = { (uint32_t)hash, number + 1 };

	if (lookup->count >= lookup->capacity / 4 * 3 && grow(lookup) != 0)
		return -ENOMEM;
	insert(lookup->slots, lookup->capacity, slot);
	lookup->count++;
	return 0;
}

void lookup_clear(struct lookup *lookup)
{
	if (lookup->capacity != 0)
		memset(lookup->slots, 0, lookup->capacity * sizeof(*lookup->slots));
	lookup->count = 0;
}

void lookup_free(struct lookup *lookup)
{
	free(lookup->slots);
	*lookup = (struct lookup){ 0 };
}
