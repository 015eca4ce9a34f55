/* SPDX-License-Identifier: MIT */
/*
 * map.c - open addressing, kept at most two thirds full.
 */
#include "preload/load/map.h"

#include <errno.h>
#include <stdlib.h>

enum { SMALLEST = 64 };

static size_t hash(uint64_t a, uint64_t b)
{
	/* Keys are addresses and counters: mix well, or neighbours pile up. */
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ (b + 0x632be59bd9b4e019u) * 0xff51afd7ed558ccdu;

	return h ^ h >> 29;
}

static struct map_slot *find(const struct map *map, uint64_t a, uint64_t b)
{
	size_t mask = map->capacity - 1;

	for (size_t i = hash(a, b) & mask;; i = (i + 1) & mask) {
		struct map_slot *slot = &map->slots[i];

		if (!slot->used || (slot->a == a && slot->b == b))
			return slot;
	}
}

static int grow(struct map *map)
{
	struct map bigger = { .capacity = map->capacity != 0 ? map->capacity * 2 : SMALLEST };

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].used)
			*find(&bigger, map->slots[i].a, map->slots[i].b) = map->slots[i];
	}
	bigger.count = map->count;
	free(map->slots);
	*map = bigger;
	return 0;
}

uint32_t map_get(const struct map *map, uint64_t a, uint64_t b)
{
	return map->capacity != 0 ? find(map, a, b)->value : 0;
}

int map_put(struct map *map, uint64_t a, uint64_t b, uint32_t value)
{
	struct map_slot *slot;

	if ((map->count + 1) * 3 > map->capacity * 2 && grow(map) != 0)
		return -ENOMEM;
	slot = find(map, a, b);
	map->count += !slot->used;
	*slot = (struct map_slot){ .a = a, .b = b, .value = value, .used = true };
	return 0;
}

uint32_t map_remove(struct map *map, uint64_t a, uint64_t b)
{
	size_t mask = map->capacity - 1, hole;
	struct map_slot *slot;
	uint32_t value;

	if (map->capacity == 0)
		return 0;
	slot = find(map, a, b);
	if (!slot->used)
		return 0;
	value = slot->value;
	hole = (size_t)(slot - map->slots);
	/* Shift back whatever was pushed past the hole, so that every probe still ends at a free
	 * slot. */
	for (size_t i = (hole + 1) & mask; map->slots[i].used; i = (i + 1) & mask) {
		size_t home = hash(map->slots[i].a, map->slots[i].b) & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole] = (struct map_slot){ 0 };
	map->count--;
	return value;
}
