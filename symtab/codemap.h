/* SPDX-License-Identifier: MIT */
/*
 * codemap.h - which function's code was at an address, and when: of functions that are made, moved
 * and dropped one by one.
 *
 * Times are CLOCK_MONOTONIC, as a sample carries it. Bounded: what is over CODEMAP_MAX pieces of
 * code costs those that are gone, then the older half of those that are nobody's (of which engines
 * do not tell when they go), then the newcomers. Threads: the symbol set's.
 */
#ifndef SYMTAB_CODEMAP_H
#define SYMTAB_CODEMAP_H

#include "symtab/base.h"

enum { CODEMAP_MAX = 262144 };

/* An owner who never goes. */
#define CODEMAP_FOR_EVER UINT32_MAX

struct codemap;

struct code {
	uintptr_t start;
	uint32_t size;
	uint32_t owner;		   /* who made it, and takes it along when he goes; 0: nobody */
	bool is_weak;		   /* only for code of which no module has better names */
	uint64_t place;		   /* what the owner calls it */
	uint64_t born_ns, died_ns; /* died_ns is UINT64_MAX while it is there */
};

struct codemap *codemap_new(void);
void codemap_free(struct codemap *map); /* NULL is allowed */

/*
 * FRESH is there from its born_ns on (died_ns is not looked at); what it overlaps ends then. The
 * same code at the same address again changes nothing. Returns 0; -EINVAL (no size, wraps, over 16
 * MiB); -ENOMEM; -E2BIG.
 */
int codemap_add(struct codemap *map, const struct code *fresh);

/* The code at START is at TO from NOW_NS on. 0; -ENOENT when none is there; as codemap_add(). */
int codemap_move(struct codemap *map, uintptr_t start, uintptr_t to, uint64_t now_ns);

/* The code at START ends. Unknown addresses are ignored. */
void codemap_remove(struct codemap *map, uintptr_t start, uint64_t now_ns);

/* All code of OWNER, not 0, ends. */
void codemap_end_owner(struct codemap *map, uint32_t owner, uint64_t now_ns);

/*
 * The code that held PC at TIME_NS; when there was none, the first one that came to be there after:
 * engines tell of code a moment after it may have run. NULL: none. Valid until the next change.
 */
const struct code *codemap_find(const struct codemap *map, uintptr_t pc, uint64_t time_ns);

/*
 * The code that begins closest behind ADDRESS, at most WITHIN bytes (up to a page), at TIME_NS: of
 * objects of which the address is known, and not how long the head in front of the code is. NULL.
 */
const struct code *codemap_find_behind(const struct codemap *map, uintptr_t address, size_t within,
				       uint64_t time_ns);

/* Frees what had ended by OLDEST_NS. */
void codemap_forget(struct codemap *map, uint64_t oldest_ns);

/* Pieces of code, those that are gone among them. */
size_t codemap_count(const struct codemap *map);

#endif /* SYMTAB_CODEMAP_H */
