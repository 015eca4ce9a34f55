/* SPDX-License-Identifier: MIT */
/*
 * ring.h - samples on their way from one thread's handler to our thread.
 *
 * One producer (the handler on its thread), one consumer (our thread). Records of any size, a
 * multiple of 8, never split: a record that does not fit before the end is preceded by a pad.
 * A full ring drops the newest; the caller counts it.
 * Signals: reserve and commit are async-signal-safe.
 */
#ifndef PRELOAD_SIG_RING_H
#define PRELOAD_SIG_RING_H

#include "preload/sig/sample.h"

struct ring {
	atomic_ulong head; /* bytes ever committed; written by the producer */
	char pad[64 - sizeof(atomic_ulong)];
	atomic_ulong tail; /* bytes ever consumed; written by the consumer */
	uint64_t reserved; /* producer only: offset of the open reservation */
	size_t size;	   /* of bytes[], a power of two */
	uint8_t bytes[] __attribute__((aligned(8)));
};

/* Room for a record of at most SIZE bytes, or NULL when full. Nothing is visible until
 * ring_commit(). */
struct sample *ring_reserve(struct ring *ring, size_t size);

/* Publishes the reserved record; sample->size (<= the reserved size) is what it takes. Returns true
 * when the ring is now more than half full: the caller wakes our thread. */
bool ring_commit(struct ring *ring, const struct sample *sample);

/* The oldest record, or NULL. Valid, and the caller's to change, until ring_release(). */
struct sample *ring_peek(struct ring *ring);
void ring_release(struct ring *ring, const struct sample *sample);

/* Our thread: nothing waits in it. */
static inline bool ring_is_empty(struct ring *ring)
{
	/* acquire: pairs with ring_commit() */
	return atomic_load_explicit(&ring->head, memory_order_acquire) ==
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

#endif /* PRELOAD_SIG_RING_H */
