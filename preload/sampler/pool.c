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
	uint64_t memory, used; /* bytes of rings: at most, so many that exist */
	struct ring *unused;   /* linked through `reserved`, which nobody needs in an unused ring */
	_Atomic(struct ring *) places[PLACES];
} self;

static struct ring *make_ring(void)
{
	size_t size = sizeof(struct ring) + self.ring_size;
	struct ring *ring;

	/* One ring always: nothing could be sampled with none. */
	if (self.used != 0 && self.used + self.ring_size > self.memory)
		return NULL;
	/* Populated: a page fault in the handler would be charged to the host. */
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	self.used += self.ring_size;
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

static void free_ring(struct ring *ring)
{
	self.used -= ring->size;
	munmap(ring, sizeof(*ring) + ring->size);
}

bool pool_is_outgrown(const struct ring *ring)
{
	return ring->size < self.ring_size;
}

/* A handler that took one of them out meanwhile has it: it comes back by pool_put_back(). */
static void grow(size_t ring_size)
{
	struct ring *ring;

	self.ring_size = ring_size;
	for (size_t i = 0; i < PLACES; i++) {
		/* acquire: pairs with pool_fill() */
		ring = atomic_exchange_explicit(&self.places[i], NULL, memory_order_acquire);
		if (ring != NULL)
			free_ring(ring);
	}
	while ((ring = self.unused) != NULL) {
		self.unused = (struct ring *)(uintptr_t)ring->reserved;
		free_ring(ring);
	}
}

int pool_start(size_t ring_size, uint64_t memory)
{
	self.memory = memory;
	if (ring_size > self.ring_size)
		grow(ring_size);
	if (handler_setup.ring_pool == NULL) {
		handler_setup.ring_pool = self.places;
		handler_setup.ring_pool_size = PLACES;
	}
	pool_fill(KEEP_READY);
	return self.used != 0 ? 0 : -ENOMEM;
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
	if (pool_is_outgrown(ring)) {
		free_ring(ring);
		return;
	}
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	ring->reserved = (uintptr_t)self.unused;
	self.unused = ring;
}
