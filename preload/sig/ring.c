/* SPDX-License-Identifier: MIT */
/*
 * ring.c - a ring of whole records between one handler and our thread.
 *
 * Threads: head is written by the producer (release, pairs with ring_peek), tail by the consumer
 * (release, pairs with ring_reserve: the consumer has read the bytes that are written over).
 */
#include "preload/sig/ring.h"

#include "preload/sig/thread.h"

/* The first eight bytes of a record are all that a pad has. */
enum { PAD_HEADER = 8 };

_Static_assert(offsetof(struct sample, flags) + sizeof(uint16_t) == PAD_HEADER,
	       "a pad of one word must hold size and kind");

static struct sample *ring_at(struct ring *ring, uint64_t position)
{
	return (struct sample *)(ring->bytes + (position & (ring->size - 1)));
}

static void write_pad(struct ring *ring, uint64_t position, size_t size)
{
	struct sample *pad = ring_at(ring, position);

	pad->size = (uint32_t)size;
	pad->kind = SAMPLE_PAD;
	pad->flags = 0;
}

SIGNAL_SAFE struct sample *ring_reserve(struct ring *ring, size_t size)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* acquire: pairs with ring_release() */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	size_t to_end = ring->size - (head & (ring->size - 1));
	size_t pad = size > to_end ? to_end : 0;

	size = (size + 7) & ~(size_t)7;
	if (size + pad > ring->size - (head - tail))
		return NULL;
	/* Behind head, so the consumer cannot see it before ring_commit() moves head past both. */
	if (pad != 0)
		write_pad(ring, head, pad);
	ring->reserved = head + pad;
	return ring_at(ring, ring->reserved);
}

SIGNAL_SAFE bool ring_commit(struct ring *ring, const struct sample *sample)
{
	uint64_t head = ring->reserved + sample->size;
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	/* release: pairs with ring_peek() */
	atomic_store_explicit(&ring->head, head, memory_order_release);
	return head - tail > ring->size / 2;
}

struct sample *ring_peek(struct ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	/* acquire: pairs with ring_commit() */
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	struct sample *sample;

	if (tail == head)
		return NULL;
	sample = ring_at(ring, tail);
	if (sample->kind != SAMPLE_PAD)
		return sample;
	/* A pad is always followed by the record it made room for. */
	ring_release(ring, sample);
	return ring_at(ring, atomic_load_explicit(&ring->tail, memory_order_relaxed));
}

void ring_release(struct ring *ring, const struct sample *sample)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	/* release: pairs with ring_reserve() */
	atomic_store_explicit(&ring->tail, tail + sample->size, memory_order_release);
}
