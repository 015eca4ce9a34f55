/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - who is sampled when: the signal, the clocks, the threads.
 *
 * Owns the thread blocks and the rings. Nothing here runs before the first guest module.
 */
#ifndef PRELOAD_SAMPLER_SAMPLER_H
#define PRELOAD_SAMPLER_SAMPLER_H

#include "symtab/base.h"

struct ring;
struct thread;

enum clock_kind { CLOCK_CPU_TIMER, CLOCK_PERF_EVENT, CLOCK_TIMER_FALLBACK };

/*
 * Threads get blocks from now on (state.adopt_thread), so that a later start finds who is in which
 * guest; no signal is taken, no clock armed. Once, on any thread, or by sampler_start(). 0 or
 * -ENOMEM.
 */
int sampler_prepare(void);

/*
 * Takes the signal, makes the first rings, and lets clocks be armed: HZ as in the configuration,
 * whole stacks as handler_setup says. Called on the host thread that loads the first module, or on
 * ours; again, on ours, after sampler_stop(), with whatever HZ, once the rings are drained: rings
 * that have become too small are replaced. Returns 0 or negative errno: -EBUSY when the host uses
 * the signal (said in one line; then nothing is sampled), -ENOMEM.
 */
int sampler_start(uint32_t hz, uint64_t ring_memory);

/*
 * One turn of our thread's work: give a clock to threads that have none (new in /proc/self/task,
 * looked at when pthread_create was seen and at least twice a second), take it from threads that
 * ended, keep the pool of free rings filled. Our thread only. Returns the time (CLOCK_MONOTONIC ns)
 * at which it wants to be called again; UINT64_MAX while stopped: then when woken.
 */
uint64_t sampler_work(uint64_t now_ns);

/*
 * Stops all clocks; no sample is taken afterwards. The handler stays, and swallows what was on its
 * way. Any thread of ours or exit's; what only our thread can close, perf_event's, is closed if it
 * is ours, else at its next sampler_work() or sampler_stop().
 */
void sampler_stop(void);

/*
 * From its next turn on each tick stands for PERIODS periods of the rate asked for, 1 after each
 * start; so the samples' weight says. Any thread.
 */
void sampler_set_periods(uint32_t periods);

/* Started and not stopped. Any thread. */
bool sampler_runs(void);

/* Calls VISIT for every block that has a ring, live or ended. Our thread only. */
void sampler_each_ring(void (*visit)(void *context, struct thread *thread, struct ring *ring),
		       void *context);

/* In the child of a fork: forget the parent's threads, rings and clocks; adopt the calling thread.
 */
void sampler_after_fork(void);

/* What the recording says about the clock. */
struct sampler_info {
	enum clock_kind clock;
	const char *clock_name; /* "cpu timer", "perf_event", ... */
	const char *why;	/* why not the better one; NULL */
	int signal;
	uint32_t requested_hz;
	uint32_t periods; /* of that rate, for which a tick stands now */
};
struct sampler_info sampler_info(void);

/*
 * For hook wrappers (lifecycle installs them): the body of pthread_create's start wrapper, and the
 * host's own use of sigaction/signal for our signal. See signal.c.
 */
void sampler_thread_started(void);
void sampler_thread_ends(void);

#endif /* PRELOAD_SAMPLER_SAMPLER_H */
