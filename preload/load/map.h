/* SPDX-License-Identifier: MIT */
/*
 * map.h - a hash map from two 64-bit keys to a number; the caller holds the lock.
 *
 * Open addressing with linear probing; removal shifts back, so it never fills up with tombstones.
 */
#ifndef PRELOAD_LOAD_MAP_H
#define PRELOAD_LOAD_MAP_H

#include "symtab/base.h"

struct map_slot {
	uint64_t a, b;
	uint32_t value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* The value, or 0 when absent: 0 is never stored. */
uint32_t map_get(const struct map *map, uint64_t a, uint64_t b);

/* Stores VALUE (not 0), replacing. Returns 0 or -ENOMEM. */
int map_put(struct map *map, uint64_t a, uint64_t b, uint32_t value);

/* Removes and returns the value; 0 when absent. */
uint32_t map_remove(struct map *map, uint64_t a, uint64_t b);

#endif /* PRELOAD_LOAD_MAP_H */
