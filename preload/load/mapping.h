/* SPDX-License-Identifier: MIT */
/* mapping.h - what /proc/self/maps says. Threads: ours. */
#ifndef PRELOAD_LOAD_MAPPING_H
#define PRELOAD_LOAD_MAPPING_H

#include "symtab/base.h"

struct mapping {
	uintptr_t start, end;
	const char *rights; /* "r-xp", and more behind it */
	const char *path;   /* "" where none is given, "[heap]", a file; its line's, unescaped */
};

/*
 * Calls VISIT for each mapping, in ascending order, until it returns false. With a pooling
 * allocator there are tens of thousands, at 0.3 us each. Does nothing where the file cannot be
 * read.
 */
void mapping_each(bool (*visit)(void *context, const struct mapping *mapping), void *context);

/* The executable mapping that holds ADDRESS. False when there is none. */
bool mapping_around(uintptr_t address, uintptr_t *start, uintptr_t *end);

#endif /* PRELOAD_LOAD_MAPPING_H */
