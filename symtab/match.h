/* SPDX-License-Identifier: MIT */
/*
 * match.h - is a wasm file what ran? For the command: nothing in the host asks that.
 */
#ifndef SYMTAB_MATCH_H
#define SYMTAB_MATCH_H

#include "symtab/symtab.h"

/* Whether a wasm file is what ran, from the surest to not at all. */
enum match_strength {
	MATCH_NONE,	 /* it is not, or nothing shows that it is */
	MATCH_BY_NAMES,	 /* no positions to compare: counts are equal, and names */
	MATCH_BY_LAYOUT, /* counts are equal, names, and each known position is in its function */
	MATCH_EXACT,	 /* the same bytes, or the same code section */
};

enum { MATCH_CORES_MAX = 64, MATCH_NO_CORE = UINT32_MAX };

/* Which core module of what ran one of the file is; a position that ran = one in the file + shift.
 */
struct match_core {
	uint32_t core; /* MATCH_NO_CORE: none */
	bool shift_is_known;
	int64_t shift;
};

struct match {
	enum match_strength strength;
	struct match_core cores[MATCH_CORES_MAX]; /* by the file's numbers */
	char why[240]; /* one line: what was equal, or the first function that differs, printable */
};

/* "exact", "by layout", "by names", "no match". */
const char *match_strength_name(enum match_strength strength);

/*
 * Each compares FILE, which wasmbin_parse_bodies() made. A core module is looked for among all core
 * modules of a component; a component must be one as a whole. Time is linear in the functions, for
 * each pair of core modules that is tried. Threads: any.
 */
void match_wasm(const struct wasmbin *file, const struct wasmbin *other, struct match *match);
void match_module(const struct wasmbin *file, const struct module *module, struct match *match);

/* The same for a recording, which knows the functions and positions that were sampled. */
struct match_place {
	uint32_t core, function; /* index including imports */
	const char *name;	 /* as module_symbol_system_name() gave it; NULL or "": none */
	uint64_t position;	 /* in the wasm binary that ran; UINT64_MAX: unknown */
};

struct match_recorded {
	struct identity identity;	  /* defined_functions 0: unknown */
	const struct match_place *places; /* in any order, a function as often as it likes */
	size_t place_count;
	const uint8_t *layout; /* from module_layout(); NULL: there is none */
	size_t layout_size;
};

void match_recorded(const struct wasmbin *file, const struct match_recorded *recorded,
		    struct match *match);

#endif /* SYMTAB_MATCH_H */
