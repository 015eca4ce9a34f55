/* SPDX-License-Identifier: MIT */
/* bygone.c - rings: of lives that ended, of intervals, and of calls. Threads: ours. */
#include "preload/profile/bygone.h"

#include <stdlib.h>

/* Their memory is touched as they fill. */
static void add_life(struct bygone *bygone, const struct chunk_life *life, uint64_t start_ns)
{
	struct chunk_life *row;

	if (bygone->lives == NULL)
		bygone->lives = calloc(BYGONE_LIVES, sizeof(*bygone->lives));
	if (bygone->lives == NULL)
		return;
	row = &bygone->lives[bygone->life_count++ % BYGONE_LIVES];
	*row = *life;
	row->start_ns += start_ns;
	row->end_ns += start_ns;
}

static void add_interval(struct bygone *bygone, const struct chunk_interval *interval,
			 uint64_t start_ns)
{
	struct chunk_interval *row;

	if (bygone->intervals == NULL)
		bygone->intervals = calloc(BYGONE_INTERVALS, sizeof(*bygone->intervals));
	if (bygone->intervals == NULL)
		return;
	row = &bygone->intervals[bygone->interval_count++ % BYGONE_INTERVALS];
	*row = *interval;
	row->start_ns += start_ns;
}

void bygone_add(struct bygone *bygone, const struct chunk *chunk, uint64_t start_ns)
{
	for (size_t i = 0; i < chunk->life_count; i++)
		if (chunk->lives[i].end_ns != 0)
			add_life(bygone, &chunk->lives[i], start_ns);
	for (size_t i = 0; i < chunk->interval_count; i++)
		add_interval(bygone, &chunk->intervals[i], start_ns);
}

static void add_call(struct bygone *bygone, const struct bygone_call *call)
{
	if (bygone->calls == NULL)
		bygone->calls = calloc(BYGONE_CALLS, sizeof(*bygone->calls));
	if (bygone->calls != NULL)
		bygone->calls[bygone->call_count++ % BYGONE_CALLS] = *call;
}

void bygone_add_calls(struct bygone *bygone, struct calls *calls, uint64_t end_ns)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct call_row *row = &calls->rows[i];
		struct bygone_call call = { row->group, row->text, end_ns, calls_take_more(row) };

		if (call.sum.count != 0 || call.sum.total_ns != 0)
			add_call(bygone, &call);
	}
}

void bygone_clear(struct bygone *bygone)
{
	bygone->life_count = bygone->interval_count = bygone->call_count = 0;
}

void bygone_fini(struct bygone *bygone)
{
	free(bygone->lives);
	free(bygone->intervals);
	free(bygone->calls);
	*bygone = (struct bygone){ 0 };
}
