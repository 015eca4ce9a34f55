/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - from a key to the number of its row in somebody's table.
 *
 * Open addressing over (hash, number); the keys stay in the table, which answers whether one is
 * equal. Zeroed memory is an empty one. Threads: the owner's.
 */
#ifndef PRELOAD_PROFILE_LOOKUP_H
#define PRELOAD_PROFILE_LOOKUP_H

#include "symtab/base.h"

#define LOOKUP_NONE UINT32_MAX

struct lookup_slot {
	uint32_t hash, number; /* number + 1; 0: free */
};

struct lookup {
	struct lookup_slot *slots;
	uint32_t capacity, count; /* capacity: 0 or a power of two */
};

/* Does row NUMBER of TABLE have KEY? */
typedef bool lookup_equal(const void *table, uint32_t number, const void *key);

uint64_t lookup_hash(const void *bytes, size_t size);

/* The number of the row with KEY, or LOOKUP_NONE. */
uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, lookup_equal *equal,
		     const void *table, const void *key);

/* Adds row NUMBER, whose key was not there. 0 or -ENOMEM. */
int lookup_add(struct lookup *lookup, uint64_t hash, uint32_t number);

/* Forgets all rows, keeps the memory. */
void lookup_clear(struct lookup *lookup);
void lookup_free(struct lookup *lookup);

#endif /* PRELOAD_PROFILE_LOOKUP_H */
