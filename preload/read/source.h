/* SPDX-License-Identifier: MIT */
/*
 * source.h - the bytes of a profile file, gzip or plain, in memory.
 */
#ifndef PRELOAD_READ_SOURCE_H
#define PRELOAD_READ_SOURCE_H

#include "symtab/base.h"

/* The most that a file may be, after inflating. */
#define SOURCE_MAX ((size_t)1 << 30)

struct source {
	uint8_t *bytes; /* owned */
	size_t size;
	bool is_cut; /* the gzip stream ended early: bytes are what could be had */
};

/*
 * Reads PATH, "-" for standard input. 0 or negative errno, with one line in *WHY (caller frees;
 * NULL when memory is short). A directory, a file over the bound, a damaged gzip stream are errors.
 */
int source_read(const char *path, struct source *source, char **why);
/* The same, but gzip stays as it is. */
int source_read_raw(const char *path, struct source *source, char **why);
void source_free(struct source *source);

#endif /* PRELOAD_READ_SOURCE_H */
