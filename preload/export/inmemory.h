/* SPDX-License-Identifier: MIT */
/*
 * inmemory.h - what an exporter writes, in memory instead of a file.
 */
#ifndef PRELOAD_EXPORT_INMEMORY_H
#define PRELOAD_EXPORT_INMEMORY_H

#include "preload/export/output.h"

struct inmemory {
	struct output *output; /* to be written to */
	int fd;
};

/* Begins; gzip if COMPRESS. 0 or negative errno. */
int inmemory_open(struct inmemory *memory, bool compress);

/*
 * Ends, in any case once after inmemory_open() was 0: with KEEP, *BYTES (caller frees) is what was
 * written. 0 or negative errno: that of the output, -ENOMEM.
 */
int inmemory_close(struct inmemory *memory, bool keep, uint8_t **bytes, size_t *size);

#endif /* PRELOAD_EXPORT_INMEMORY_H */
