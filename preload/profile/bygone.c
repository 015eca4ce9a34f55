/* SPDX-License-Identifier: MIT */
/* bygone.c - two rings: of lives that ended, and of intervals. Threads: ours. */
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

void bygone_clear(struct bygone *bygone)
{
	bygone->life_count = bygone->interval_count = 0;
}

void bygone_fini(struct bygone *bygone)
{
	free(bygone->lives);
	free(bygone->intervals);
	*bygone = (struct bygone){ 0 };
}
