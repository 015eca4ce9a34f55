/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - the time that threads spend asleep with a guest on their stack; no signal is sent.
 *
 * Our thread looks, a hundred times a second at most, at every thread that is in a guest or was in
 * one. A look at a thread that sleeps gives a sample with the time since the look before it, so
 * that the samples of a wait add up to its length, give or take a period. A thread whose CPU clock
 * has not moved since then still sleeps in the same place: it costs one call of clock_gettime().
 * When looks cost more than 2 % of a core, they become rarer.
 */
#ifndef PRELOAD_SAMPLER_WAITING_H
#define PRELOAD_SAMPLER_WAITING_H

#include "preload/sig/sample.h"
#include "preload/sig/thread.h"

/* One look at a thread that waited. Valid during the call that gets it. */
struct wait {
	struct thread *thread;
	uint32_t slot; /* of the thread: below BLOCKS_MAX, reused after it ended */
	/* May be written to. NULL: still in the wait that was given last for the slot. */
	struct sample *sample;
	const char *what;	   /* "[futex]", as syscalls.h; NULL without a sample */
	int descriptor;		   /* what it waits for; -1: none */
	uint64_t time_ns, wall_ns; /* CLOCK_MONOTONIC; how long this look stands for */
};

enum { WAITING_MAX_HZ = 100 };

/*
 * HZ looks a second, WAITING_MAX_HZ at most; WHOLE: stacks to their top (GUESTPROF_STACKS=full).
 * What was seen in a session before is forgotten: the time since then is nobody's. Before the
 * others, and while nobody is in waiting_work().
 */
void waiting_start(uint32_t hz, bool whole);

/*
 * Looks at all threads when it is time, and gives what it saw to TAKE. Returns when to be called
 * again (CLOCK_MONOTONIC ns), UINT64_MAX when waiting_start() was not called. Our thread only.
 */
uint64_t waiting_work(uint64_t now_ns, void (*take)(void *context, const struct wait *wait),
		      void *context);

/* In the child of a fork: nothing is known of any thread. */
void waiting_after_fork(void);

#endif /* PRELOAD_SAMPLER_WAITING_H */
