/* SPDX-License-Identifier: MIT */
/*
 * history.h - the rows of the last chunks, kept so that the time just gone by can be recorded after
 * the fact (extract.h).
 *
 * A ring of rows, bounded by memory, and of the chunks they came in, HISTORY_CHUNKS at most: the
 * oldest go first. Rows refer to the profile's tables. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_HISTORY_H
#define PRELOAD_PROFILE_HISTORY_H

#include "preload/base/stats.h"
#include "preload/profile/rows.h"
#include "symtab/base.h"

enum { HISTORY_CHUNKS = 1024 };

/* What has been counted up to some moment. */
struct history_counters {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t own_cpu_ns, process_cpu_ns;
	uint64_t stats[STAT_COUNT];
	uint64_t calls, timed_calls; /* of host functions, ever (calls.h); by whoever keeps them */
};

struct history_chunk {
	struct history_counters before; /* when it began */
	uint64_t end_ns;
	uint64_t first_row, row_count;
};

struct history {
	size_t limit;	  /* of rows; 0: nothing is kept */
	struct row *rows; /* row number N is at N % limit; first_ns is CLOCK_MONOTONIC */
	uint64_t next_row;
	struct history_chunk *chunks;	  /* chunk number N is at N % HISTORY_CHUNKS */
	uint64_t first_chunk, next_chunk; /* those that are there */
	struct history_counters now;	  /* when the next chunk begins */
};

/* MEMORY bounds it, in bytes, about; 0: keeps nothing. 0 or -ENOMEM. */
int history_init(struct history *history, uint64_t memory);
void history_fini(struct history *history);

/* The counters of now: from here on chunks count. */
void history_begin(struct history *history, uint64_t now_ns);

/* Keeps ROWS, whose times are since START_NS, as the chunk that ends NOW_NS. */
void history_add(struct history *history, const struct rows *rows, uint64_t start_ns,
		 uint64_t now_ns);

/* Forgets all. */
void history_clear(struct history *history);

/* How long ago the oldest chunk began, seen from the end of the newest. */
static inline uint64_t history_kept_ns(const struct history *history)
{
	if (history->first_chunk == history->next_chunk)
		return 0;
	return history->now.time_ns -
	       history->chunks[history->first_chunk % HISTORY_CHUNKS].before.time_ns;
}

static inline const struct history_chunk *history_chunk(const struct history *history,
							uint64_t number)
{
	return &history->chunks[number % HISTORY_CHUNKS];
}

static inline const struct row *history_row(const struct history *history, uint64_t number)
{
	return &history->rows[number % history->limit];
}

#endif /* PRELOAD_PROFILE_HISTORY_H */
