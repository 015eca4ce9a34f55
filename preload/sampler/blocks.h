/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - the thread blocks: taken, ended, used again.
 *
 * Threads: taking is done under the sampler's lock; the rest says who may.
 */
#ifndef PRELOAD_SAMPLER_BLOCKS_H
#define PRELOAD_SAMPLER_BLOCKS_H

#include "preload/sig/thread.h"

enum { BLOCKS_MAX = 8192 };

/* Reserves the table (address space; pages come with use). 0 or -ENOMEM. */
int blocks_start(void);

/* A fresh block for TID, live, without a clock; NULL when there is none left. Under the lock. */
struct thread *blocks_take(pid_t tid);

/* The live block of TID, or NULL. Under the lock. */
struct thread *blocks_find(pid_t tid);

/* Live to ended; the caller has taken the clock away. Any thread. */
void blocks_end(struct thread *thread);

/*
 * Ended, drained and a grace period after: gives the ring back and frees the block. Our thread
 * only, under the lock.
 */
void blocks_recycle(uint64_t now_ns);

/* Calls VISIT for each block that was ever taken. */
void blocks_each(void (*visit)(void *context, struct thread *thread), void *context);

static inline bool blocks_is_live(struct thread *thread)
{
	/* acquire: pairs with blocks_take() */
	return atomic_load_explicit(&thread->state, memory_order_acquire) == THREAD_LIVE;
}

#endif /* PRELOAD_SAMPLER_BLOCKS_H */
