/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where in the wasm binary each function of an image is, as bytes for a recording.
 *
 * Runs of functions with ascending indices, each run:
 *	core, first function, count, { low, high }[count]
 * low: 0 where nothing is known (then there is no high), else 1 + the zigzag of what the function's
 * lowest position has over the highest of the function before (of the run; from 0); high: what its
 * highest position has over its lowest. All numbers are uleb.
 */
#ifndef SYMTAB_LAYOUT_H
#define SYMTAB_LAYOUT_H

#include "symtab/cursor.h"

struct layout {
	struct cursor bytes;
	uint32_t core, function, left; /* of the run */
	uint64_t before;
};

struct layout_entry {
	uint32_t core, function;
	bool has_extent;
	uint64_t low, high;
};

static inline struct layout layout_of(const uint8_t *bytes, size_t size)
{
	return (struct layout){ .bytes = cursor_of(bytes, size) };
}

/* Takes the next function. False at the end, or at the first damage. */
bool layout_next(struct layout *layout, struct layout_entry *entry);

#endif /* SYMTAB_LAYOUT_H */
