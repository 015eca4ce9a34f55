/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - numbers pairs of numbers in order of first sight: what groups, call trees and the
 * tables of the output formats are keyed by. Zeroed memory is an empty one.
 */
#ifndef PRELOAD_READ_PAIRS_H
#define PRELOAD_READ_PAIRS_H

#include "symtab/base.h"

#define PAIRS_NONE UINT32_MAX

struct pair {
	uint64_t first, second;
};

struct pairs {
	struct pair *list; /* by number */
	uint32_t count;
	size_t room;	 /* of list */
	uint32_t *slots; /* number + 1; 0: free */
	size_t capacity; /* of slots, a power of two */
};

/* Number of (FIRST, SECOND): 0, 1, 2, ...; the count of before if it is new. PAIRS_NONE: no memory.
 */
uint32_t pairs_id(struct pairs *pairs, uint64_t first, uint64_t second);

/* The number, or PAIRS_NONE when it has none. */
uint32_t pairs_find(const struct pairs *pairs, uint64_t first, uint64_t second);
void pairs_free(struct pairs *pairs);

#endif /* PRELOAD_READ_PAIRS_H */
