/* SPDX-License-Identifier: MIT */
/*
 * names.h - numbers texts in order of first sight. Zeroed memory is an empty one.
 */
#ifndef PRELOAD_READ_NAMES_H
#define PRELOAD_READ_NAMES_H

#include "symtab/base.h"

#define NAMES_NONE UINT32_MAX

struct names {
	char **texts; /* owned copies, by number */
	uint32_t count;
	size_t text_capacity;
	uint32_t *slots; /* number + 1; 0: free */
	size_t slot_capacity;
};

/* Number of TEXT; NAMES_NONE: no memory. */
uint32_t names_id(struct names *names, const char *text);
/* The number, or NAMES_NONE when it has none. */
uint32_t names_find(const struct names *names, const char *text);
void names_free(struct names *names);

#endif /* PRELOAD_READ_NAMES_H */
