/* SPDX-License-Identifier: MIT */
/* pool.c - prefaulted rings, from which the handlers help themselves. */
#include "preload/sampler/pool.h"

#include <errno.h>
#include <sys/mman.h>

#include "preload/base/log.h"
#include "preload/sig/handler.h"

enum { PLACES = 16, KEEP_READY = 2 };

static struct {
	size_t ring_size;
	uint64_t memory_left;
	struct ring *unused; /* linked through `reserved`, which nobody needs in an unused ring */
	_Atomic(struct ring *) places[PLACES];
} self;

static struct ring *make_ring(void)
{
	size_t size = sizeof(struct ring) + self.ring_size;
	struct ring *ring;

	if (self.memory_left < self.ring_size)
		return NULL;
	/* Populated: a page fault in the handler would be charged to the host. */
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	self.memory_left -= self.ring_size;
	ring->size = self.ring_size;
	return ring;
}

static struct ring *next_ring(void)
{
	struct ring *ring = self.unused;

	if (ring == NULL)
		return make_ring();
	self.unused = (struct ring *)(uintptr_t)ring->reserved;
	ring->reserved = 0;
	return ring;
}

int pool_start(size_t ring_size, uint64_t memory)
{
	self.ring_size = ring_size;
	/* One ring always: nothing could be sampled with none. */
	self.memory_left = memory < ring_size ? ring_size : memory;
	handler_setup.ring_pool = self.places;
	handler_setup.ring_pool_size = PLACES;
	pool_fill(KEEP_READY);
	return atomic_load_explicit(&self.places[0], memory_order_relaxed) != NULL ? 0 : -ENOMEM;
}

void pool_fill(unsigned int wanted)
{
	if (wanted < KEEP_READY)
		wanted = KEEP_READY;
	for (unsigned int i = 0; i < PLACES && i < wanted; i++) {
		struct ring *ring;

		if (atomic_load_explicit(&self.places[i], memory_order_relaxed) != NULL)
			continue;
		ring = next_ring();
		if (ring == NULL)
			return;
		/* release: pairs with the handler that takes it */
		atomic_store_explicit(&self.places[i], ring, memory_order_release);
	}
}

void pool_put_back(struct ring *ring)
{
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	ring->reserved = (uintptr_t)self.unused;
	self.unused = ring;
}
