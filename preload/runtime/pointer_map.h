/* SPDX-License-Identifier: MIT */
/*
 * pointer_map.h - a few words about a host's object, by its address, in bounded memory.
 *
 * Threads: any, without a lock (wrappers run in the children of forks). The engine demands that an
 * object is used by one thread at a time, so no two threads are at one key.
 */
#ifndef PRELOAD_RUNTIME_POINTER_MAP_H
#define PRELOAD_RUNTIME_POINTER_MAP_H

#include "symtab/base.h"

enum { POINTER_MAP_VALUES = 7 };

struct pointer_entry {
	atomic_uintptr_t key; /* pointer_map.c's */
	uintptr_t values[POINTER_MAP_VALUES];
};

struct pointer_map {
	struct pointer_entry *entries;
	uint32_t capacity; /* a power of two */
};

/* Replaces what was known of KEY. False when its part of the table is full. */
bool pointer_map_put(const struct pointer_map *map, const void *key, const uintptr_t *values);

/* False when nothing is known; VALUES are then zero. */
bool pointer_map_get(const struct pointer_map *map, const void *key, uintptr_t *values);

/* As pointer_map_get(), and forgets it. */
bool pointer_map_take(const struct pointer_map *map, const void *key, uintptr_t *values);

/*
 * Calls VISIT with each key whose value number INDEX is VALUE, and at which no other thread is; it
 * may take that key.
 */
void pointer_map_each(const struct pointer_map *map, uint32_t index, uintptr_t value,
		      void (*visit)(const void *key));

#endif /* PRELOAD_RUNTIME_POINTER_MAP_H */
