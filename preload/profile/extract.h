/* SPDX-License-Identifier: MIT */
/*
 * extract.h - the last part of a profile's history as one chunk that is a whole recording: samples,
 * and of the tables what they refer to, numbered anew.
 *
 * Of the time that it covers are samples, lives of instances, host calls and their intervals, as
 * far back as bygone.h keeps the latter three: calls beyond that are in intervals_dropped, and
 * counted as STAT_HOSTCALLS_UNTOLD (before.stats has that many less).
 *
 * Our thread only. Layouts and debug information are borrowed from the profile: valid until its
 * next sample.
 */
#ifndef PRELOAD_PROFILE_EXTRACT_H
#define PRELOAD_PROFILE_EXTRACT_H

#include "preload/profile/chunk.h"
#include "preload/profile/history.h"
#include "symtab/base.h"

struct profile;

struct extract_wish {
	uint64_t since_ns;    /* CLOCK_MONOTONIC: chunks that ended later; 0: all */
	uint64_t first_chunk; /* the number of the first one wanted; 0: whichever is there */
	bool is_lean;	      /* without what only lines and matching need, lives and host calls */
	size_t memory; /* bytes that the samples' stacks may take, about: else less of the past */
};

struct extract {
	struct chunk chunk;
	uint64_t start_ns, end_ns; /* what it covers, CLOCK_MONOTONIC */
	uint64_t next_chunk;	   /* number of the chunk behind the last one in it */
	struct history_counters before;
	uint64_t samples;
	uint64_t intervals_dropped; /* host calls that it has no interval of */

	struct extract_memory *memory;
};

/* 0 or -ENOMEM. No chunks in it: start_ns and end_ns are equal. */
int extract_make(const struct profile *profile, const struct extract_wish *wish,
		 struct extract *extract);
void extract_free(struct extract *extract);

#endif /* PRELOAD_PROFILE_EXTRACT_H */
