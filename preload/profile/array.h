/* SPDX-License-Identifier: MIT */
/*
 * array.h - room in an array that grows.
 */
#ifndef PRELOAD_PROFILE_ARRAY_H
#define PRELOAD_PROFILE_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#include "symtab/base.h"

/* ITEMS (room for *CAPACITY of SIZE bytes) with room for one after COUNT, or NULL: ITEMS stays
 * good. */
static inline void *array_room(void *items, size_t *capacity, size_t count, size_t size)
{
	size_t more = *capacity == 0 ? 16 : *capacity * 2;

	if (count < *capacity)
		return items;
	items = realloc(items, more * size);
	if (items != NULL)
		*capacity = more;
	return items;
}

/* ITEMS with room for COUNT, or NULL: ITEMS stays good. */
static inline void *array_fit(void *items, size_t *capacity, size_t count, size_t size)
{
	if (count <= *capacity && items != NULL)
		return items;
	items = realloc(items, (count + 1) * size);
	if (items != NULL)
		*capacity = count + 1;
	return items;
}

#endif /* PRELOAD_PROFILE_ARRAY_H */
