/* SPDX-License-Identifier: MIT */
/*
 * ranges.h - the sorted code ranges that the handler walks with.
 *
 * Published whole and never edited: load/publish.c builds a new array and swaps it in. A handler
 * notes the generation it uses in its thread block (thread.h) while it runs; the writer frees an
 * array only when no block shows its generation or an older one.
 * Signals: readers are async-signal-safe.
 */
#ifndef PRELOAD_SIG_RANGES_H
#define PRELOAD_SIG_RANGES_H

#include "symtab/base.h"

struct range {
	uintptr_t start, end;	     /* [start, end) of executable guest code */
	uint32_t id;		     /* of the loading (symtab_entry.id) */
	uint32_t has_frame_pointers; /* 1: the frame-pointer walk is right in this code */
};

struct ranges {
	uint64_t generation; /* from 1, rises with each publication */
	size_t count;
	struct range range[]; /* sorted by start, not overlapping */
};

/* The published array; NULL before the first. acquire: pairs with ranges_publish(). */
const struct ranges *ranges_current(void);

/* The range that holds PC, or NULL. RANGES may be NULL. */
const struct range *ranges_find(const struct ranges *ranges, uintptr_t pc);

/* Swaps NEXT in and returns the one before. One writer at a time (load's lock). */
const struct ranges *ranges_publish(const struct ranges *next);

#endif /* PRELOAD_SIG_RANGES_H */
