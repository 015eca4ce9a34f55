/* SPDX-License-Identifier: MIT */
/* feed_private.h - what feed.c and feed_groups.c share. */
#ifndef PRELOAD_READ_FEED_PRIVATE_H
#define PRELOAD_READ_FEED_PRIVATE_H

#include "preload/read/arena.h"
#include "preload/read/feed.h"
#include "preload/read/pairs.h"

/* A top-level field in a buffer. */
struct feed_span {
	uint64_t time_ns; /* of a sample: since the start of the recording */
	size_t at, size;
};

struct feed {
	struct pb_writer tables;   /* whole fields; as they came */
	struct feed_span *strings; /* contents in tables; owned */
	size_t string_count, string_room;
	uint64_t time_key; /* string "time"; 0: not seen */
	bool is_ours, has_types;
	struct pb_writer info, stats; /* the last ones, as they came: whole fields */
	uint64_t start_unix_ns, duration_ns, pid;
	char *program;

	struct pb_writer samples;	   /* whole fields */
	struct feed_span *rows;		   /* in samples; owned */
	size_t row_count, row_room, first; /* rows before FIRST are gone */
	uint64_t dropped;

	struct arena texts;
	struct pairs group_ids;
	struct feed_group *groups; /* owned */
	size_t group_room;
};

/* Takes message Group. 0 or -ENOMEM; what is damaged or too much is left out. */
int feed_take_group(struct feed *feed, const struct pb_field *field);

#endif /* PRELOAD_READ_FEED_PRIVATE_H */
