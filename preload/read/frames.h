/* SPDX-License-Identifier: MIT */
/*
 * frames.h - a sample's stack as frames, outermost first, inlined calls included.
 */
#ifndef PRELOAD_READ_FRAMES_H
#define PRELOAD_READ_FRAMES_H

#include "preload/read/reader.h"

struct frame {
	const struct recording_location *location;
	const struct recording_line *line; /* NULL: the location has none */
	uint32_t inline_depth;		   /* 0: called, else inlined into the frame before */
};

/* Grows as needed; zeroed memory is an empty one. */
struct frames {
	struct frame *list; /* owned */
	size_t count, capacity;
};

/* The frames of SAMPLE. 0 or -ENOMEM. */
int frames_list(struct frames *frames, const struct recording_sample *sample);
void frames_free(struct frames *frames);

enum { FRAMES_NAME_SIZE = 64 };

/* The raw name, never empty, not escaped; in SCRATCH when there is none but an address. */
const char *frames_name(const struct frame *frame, char scratch[FRAMES_NAME_SIZE]);

/* "guest", "host", "builtin", "trampoline", "jit", "interpreter". */
const char *frames_kind_name(enum frame_kind kind);

#endif /* PRELOAD_READ_FRAMES_H */
