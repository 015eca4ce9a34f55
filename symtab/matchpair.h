/* SPDX-License-Identifier: MIT */
/*
 * matchpair.h - which core module of what ran is which of the file.
 */
#ifndef SYMTAB_MATCHPAIR_H
#define SYMTAB_MATCHPAIR_H

#include "symtab/matchcore.h"

/* What ran, and how to ask it. */
struct match_other {
	const void *what;
	struct identity identity;
	uint32_t core_count;
	bool is_whole; /* all its functions are known */
	void (*identify)(const void *what, uint32_t core, struct identity *identity);
	/* Gives MATCH all functions of CORE, and returns how many it defines; UINT32_MAX: unknown.
	 */
	uint32_t (*compare)(const void *what, uint32_t core, struct matchcore *match);
};

enum { MATCHPAIR_CORES_MAX = 1000 }; /* wasmtime's validator takes no more in a component */

/* Compares FILE with OTHER, as match_wasm() and its like promise. */
void matchpair_run(const struct wasmbin *file, const struct match_other *other,
		   struct match *match);

#endif /* SYMTAB_MATCHPAIR_H */
