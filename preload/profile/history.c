/* SPDX-License-Identifier: MIT */
/* history.c - two rings: rows, and the chunks they came in. Threads: ours. */
#include "preload/profile/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/base/clock.h"

int history_init(struct history *history, uint64_t memory)
{
	void *rows;

	/* Chunk 0 is nobody's: a client that knows none asks for it. */
	*history = (struct history){
		.limit = memory / sizeof(struct row),
		.first_chunk = 1,
		.next_chunk = 1,
	};
	if (history->limit == 0)
		return 0;
	/* Address space: pages come with use. */
	rows = mmap(NULL, history->limit * sizeof(struct row), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (rows == MAP_FAILED) {
		history->limit = 0;
		return -ENOMEM;
	}
	history->rows = rows;
	history->chunks = calloc(HISTORY_CHUNKS, sizeof(*history->chunks));
	if (history->chunks != NULL)
		return 0;
	history_fini(history);
	return -ENOMEM;
}

void history_fini(struct history *history)
{
	if (history->rows != NULL)
		munmap(history->rows, history->limit * sizeof(struct row));
	free(history->chunks);
	*history = (struct history){ 0 };
}

void history_begin(struct history *history, uint64_t now_ns)
{
	history->now.time_ns = now_ns;
	history->now.own_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	history->now.process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (enum stat_id i = 0; i < STAT_COUNT; i++)
		history->now.stats[i] = stat_get(i);
}

/* Chunks whose rows are about to be written over, or whose place is needed. */
static void forget_oldest(struct history *history, size_t new_rows)
{
	while (history->first_chunk < history->next_chunk) {
		const struct history_chunk *oldest = history_chunk(history, history->first_chunk);

		if (history->next_chunk - history->first_chunk < HISTORY_CHUNKS &&
		    history->next_row + new_rows - oldest->first_row <= history->limit)
			return;
		history->first_chunk++;
	}
}

void history_add(struct history *history, const struct rows *rows, uint64_t start_ns,
		 uint64_t now_ns)
{
	struct history_chunk *chunk;
	/* The newest rows of a chunk that is too large altogether. */
	size_t skipped = rows->count > history->limit ? rows->count - history->limit : 0;

	if (history->limit == 0)
		return;
	forget_oldest(history, rows->count - skipped);
	chunk = &history->chunks[history->next_chunk++ % HISTORY_CHUNKS];
	*chunk = (struct history_chunk){
		.before = history->now,
		.end_ns = now_ns,
		.first_row = history->next_row,
		.row_count = rows->count - skipped,
	};
	for (size_t i = skipped; i < rows->count; i++) {
		struct row *row = &history->rows[history->next_row++ % history->limit];

		*row = rows->rows[i];
		row->first_ns += start_ns;
	}
	history_begin(history, now_ns);
}

void history_clear(struct history *history)
{
	history->first_chunk = history->next_chunk;
}
