/* SPDX-License-Identifier: MIT */
/*
 * apart.h - lines_find() for many positions, in a process of its own.
 *
 * The debug information is somebody else's bytes, and libdw was not made for hostile ones: what
 * crashes it, or keeps it busy, costs lines and not the command.
 */
#ifndef PRELOAD_LINES_APART_H
#define PRELOAD_LINES_APART_H

#include "preload/lines/lines.h"

struct apart_answer {
	bool is_known; /* core and function are set */
	bool is_damaged;
	uint32_t core, function;
	size_t frame_count;
	const struct lines_frame *frames; /* as in struct lines_place; texts are printable or not */
};

struct apart {
	struct apart_answer *answers; /* one for each position */
	size_t count;
	char problem[64]; /* "": all were answered; else why not: "it crashed", say */
	/* private */
	struct lines_frame *frames;
	uint8_t *message;
};

/* The places of COUNT positions, quickest in rising order. 0 or -ENOMEM; apart_free() in both
 * cases. */
int apart_find(struct apart *apart, struct lines *lines, const uint64_t *positions, size_t count);
void apart_free(struct apart *apart);

#endif /* PRELOAD_LINES_APART_H */
