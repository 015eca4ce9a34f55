/* SPDX-License-Identifier: MIT */
/*
 * diff_match.h - what in one recording is what in another.
 *
 * Modules are one by their bytes (wasm hash, code section, the engine's code, build_id section),
 * else by their name, without the hash that a guest's name carries. In modules with the same bytes
 * functions are one by index; in others by name, and what has none of the other's names by index,
 * where both modules have as many functions and those that have a name in common have one index.
 */
#ifndef PRELOAD_CMD_REPORT_DIFF_MATCH_H
#define PRELOAD_CMD_REPORT_DIFF_MATCH_H

#include "preload/read/reader.h"

enum diff_how {
	DIFF_HOW_NONE, /* the other recording has no such module */
	DIFF_HOW_WASM,
	DIFF_HOW_CODE,
	DIFF_HOW_IMAGE,
	DIFF_HOW_BUILD_ID,
	DIFF_HOW_NAME,
};

/* A module, in either recording or in both. */
struct diff_module {
	const struct recording_mapping *before, *after; /* the first of it; NULL: not there */
	const char *before_name;			/* as it was recorded; NULL */
	enum diff_how how;
	uint32_t by_index; /* functions that are one by index, and not by name */
};

/* A function that had another name. */
struct diff_rename {
	const char *module, *before, *after;
};

struct diff_match {
	struct diff_module *modules; /* owned; those of guests, in order of first sight */
	size_t module_count, module_room;
	struct diff_rename *renames; /* owned */
	size_t rename_count, rename_room;
};

/*
 * Finds what is one, and gives it in BEFORE the name that it has in AFTER, in place: modules,
 * groups and functions. 0 or -ENOMEM; diff_match_free() in both cases. What MATCH points to lives
 * as long as the recordings.
 */
int diff_match(struct recording *before, const struct recording *after, struct diff_match *match);
void diff_match_free(struct diff_match *match);

/* In words: "same bytes", "same name". */
const char *diff_how_text(enum diff_how how);
/* For programs: "wasm", "name"; NULL for DIFF_HOW_NONE. */
const char *diff_how_name(enum diff_how how);

/* The name that FUNCTION of MODULE had before; NULL when it is the same. */
const char *diff_renamed_from(const struct diff_match *match, const char *module,
			      const char *function);

#endif /* PRELOAD_CMD_REPORT_DIFF_MATCH_H */
