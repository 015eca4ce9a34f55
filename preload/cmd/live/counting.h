/* SPDX-License-Identifier: MIT */
/*
 * counting.h - what a process has counted since it was last asked, for the census.
 *
 * Threads: one at a time. Zeroed memory has told nothing yet.
 */
#ifndef PRELOAD_CMD_LIVE_COUNTING_H
#define PRELOAD_CMD_LIVE_COUNTING_H

#include "preload/read/census.h"
#include "preload/read/feed.h"

struct counting {
	struct census_stat *stats; /* owned: what of each counter has been told */
	size_t count, room;
};

void counting_free(struct counting *counting);

/* Tells CENSUS what FEED's groups and counters have gained; they are of the process KEY. */
void counting_tell(struct counting *counting, struct feed *feed, const char *key,
		   struct census *census, uint64_t now_ns);

/* Takes it all as told. */
void counting_skip(struct counting *counting, struct feed *feed);

/* What NOW has more than TOLD; if it has less, it began anew, and that is all of it. */
struct feed_counters counting_more(const struct feed_counters *now,
				   const struct feed_counters *told);

#endif /* PRELOAD_CMD_LIVE_COUNTING_H */
