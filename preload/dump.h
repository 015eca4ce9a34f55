/* SPDX-License-Identifier: MIT */
/*
 * dump.h - what was recorded, for a client of the control socket. Our thread only.
 */
#ifndef PRELOAD_DUMP_H
#define PRELOAD_DUMP_H

#include "symtab/base.h"

/* A recording: a file, or bytes. */
struct dump {
	uint8_t *bytes; /* the caller frees them; NULL: in fd */
	int fd;		/* the caller closes it; 0: none */
	uint64_t size;
	uint64_t covered_ns, samples; /* of bytes: how long it goes back, and what is in it */
	uint64_t next_chunk;
};

/*
 * The current recording, or the one that the last session ended: its file, or what is kept in
 * memory of it. 0, -ENODATA when there is none, -ENOMEM.
 */
int dump_all(struct dump *dump);

/* The last LAST_NS of it, from memory. 0, -ENODATA, -ENOMEM. */
int dump_last(uint64_t last_ns, struct dump *dump);

/*
 * The chunks from number FIRST on (0: the last one), without what a table of groups and functions
 * does not need. 0, -ENODATA, -ENOMEM.
 */
int dump_chunks(uint64_t first, struct dump *dump);

/* How far back dump_last() can go. */
uint64_t dump_kept_ns(void);

#endif /* PRELOAD_DUMP_H */
