/* SPDX-License-Identifier: MIT */
/*
 * pool.h - rings: made ahead of use, used again, freed only when they have become too small.
 *
 * Threads: pool_start() first on any thread; then all on our thread only. Handlers take rings out
 * of handler_setup.ring_pool.
 */
#ifndef PRELOAD_SAMPLER_POOL_H
#define PRELOAD_SAMPLER_POOL_H

#include "preload/sig/ring.h"

enum {
	POOL_RING_SIZE = 256 << 10,
	POOL_FAST_RING_SIZE = 1 << 20, /* above 250 Hz; whole stacks take twice as much */
};

/*
 * Rings of RING_SIZE bytes, MEMORY bytes of them at most; makes the first. Again, while nothing is
 * sampled, with a larger RING_SIZE: smaller rings go as they come back; a smaller RING_SIZE changes
 * nothing. 0 or -ENOMEM.
 */
int pool_start(size_t ring_size, uint64_t memory);

/* RING is smaller than those that are made now. */
bool pool_is_outgrown(const struct ring *ring);

/* Keeps WANTED rings ready, as far as memory and places go, and a few at least. */
void pool_fill(unsigned int wanted);

/* RING is empty and no handler can write to it any more. */
void pool_put_back(struct ring *ring);

#endif /* PRELOAD_SAMPLER_POOL_H */
