/* SPDX-License-Identifier: MIT */
/*
 * tick.h - one clock signal while it is handled: where the thread was, and what was found out.
 *
 * Lives on the handler's stack.
 */
#ifndef PRELOAD_SIG_TICK_H
#define PRELOAD_SIG_TICK_H

#include <sys/ucontext.h>
#include <time.h>

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"
#include "preload/sig/thread.h"

struct sample;

struct tick {
	struct thread *thread;
	const struct ranges *ranges;
	const ucontext_t *context;
	uint32_t weight;
	/* Where the sample goes instead of the thread's ring: SAMPLE_LARGEST bytes, size 0; NULL:
	 * the ring. */
	struct sample *buffer;

	/* Filled by tick_sample(). */
	uintptr_t pc, fp, sp;
	bool ordinary; /* sp is on the thread's own stack, whose bounds are known */
	struct reach reach;
	const struct entry *entry; /* the innermost activation, NULL: none known */
	uint32_t depth;		   /* entries up to and with that one */
	uint16_t flags;		   /* enum sample_flag */
	bool wakes;		   /* our thread, at once */
};

static inline uint64_t tick_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Takes at most one sample of TICK, or counts why there is none. Async-signal-safe. */
void tick_sample(struct tick *tick);

#endif /* PRELOAD_SIG_TICK_H */
