/* SPDX-License-Identifier: MIT */
/*
 * namelist.h - a names file: what the user calls modules, and labels of theirs.
 *
 * A line for each module:
 *
 *	IDENTITY NAME [KEY=VALUE]...
 *
 * IDENTITY is at least 8 hex digits with which `wasm`, `code`, `image` or `build_id` of the module
 * begins, as `guestprof id` prints them; NAME is `-` for its own. Names and values with spaces are
 * put in double quotes, and a word that begins with `#` ends the line.
 *
 * Keys are letters, digits, `_`, `.` and `-`; those of guestprof itself are refused.
 */
#ifndef SYMTAB_NAMELIST_H
#define SYMTAB_NAMELIST_H

#include "symtab/wasmbin.h"

enum { LABELS_MAX = 16, LABEL_KEY_SIZE = 64, LABEL_VALUE_SIZE = 256 };
enum { NAMELIST_ROWS_MAX = 10000 };

struct label {
	char key[LABEL_KEY_SIZE], value[LABEL_VALUE_SIZE];
};

struct namelist_row {
	char identity[IDENTITY_SIZE]; /* or its beginning */
	char *name;		      /* NULL: its own */
	struct label *labels;
	size_t label_count; /* LABELS_MAX at most */
};

/* Zeroed memory is an empty one. */
struct namelist {
	struct namelist_row *rows;
	size_t count, capacity;
	unsigned int bad, first_bad; /* lines not understood; the number of the first, from 1 */
};

/*
 * Reads the file PATH (at most 4 MiB) into LIST, which need not be initialised. Lines that are not
 * understood, or too many, are counted and left out. 0 or negative errno; namelist_free() in both
 * cases. Never waits: a name may be a pipe's, and the caller in a host.
 */
int namelist_read(struct namelist *list, const char *path);
void namelist_free(struct namelist *list);

/* The row for a module of IDENTITY, the first that fits; NULL. */
const struct namelist_row *namelist_find(const struct namelist *list,
					 const struct identity *identity);

/* Whether KEY, of LENGTH bytes, may be a label's. */
bool namelist_key_is_good(const char *key, size_t length);

#endif /* SYMTAB_NAMELIST_H */
