/* SPDX-License-Identifier: MIT */
/*
 * clocks.h - which clock samples threads, at what rate, by what signal; and a thread's own.
 *
 * Threads: the caller holds the sampler's lock, but for what says otherwise.
 */
#ifndef PRELOAD_SAMPLER_CLOCKS_H
#define PRELOAD_SAMPLER_CLOCKS_H

#include "preload/sampler/sampler.h"
#include "preload/sig/thread.h"

enum { CLOCKS_TICK_HZ = 250 }; /* above, CPU timers lose ticks: CONFIG_HZ of the usual kernels */

/*
 * From now on HZ ticks a second, by CPU timers or, above CLOCKS_TICK_HZ, perf_event; by the other
 * of the two where one is refused. Takes the signal. Arms nothing. 0 or negative errno. Without the
 * lock.
 */
int clocks_start(uint32_t hz);

/*
 * Ticks come at the PERIODSth part of that rate, 1 after each start, and each stands for so many
 * periods of it. Clocks that there are change when they are armed next, at clocks_arm(). Any
 * thread.
 */
void clocks_set_periods(uint32_t periods);

/* sampler_work() runs on the calling thread: perf_event's descriptors are in its table. */
void clocks_set_our_thread(void);

/* Any thread. */
bool clocks_are_stopped(void);
bool clocks_need_our_thread(void); /* only it can give a thread its clock */
bool clocks_has(struct thread *thread);
int clocks_signal(void); /* 0: none was taken yet */

/*
 * The calling thread's block is THREAD: its signal mask is noted, its clock armed if it may have
 * one and can arm it itself.
 */
void clocks_arm_own(struct thread *thread);

/*
 * The calling thread's block is THREAD, which was_born_blocked: has it unblocked the signal since?
 * Runtimes make threads so, and set the mask by system call. Without the lock; cheap.
 */
bool clocks_may_arm_now(struct thread *thread);

/* Our thread: a clock for THREAD, if it has none of now's rate and signal and may have one at
 * NOW_NS.
 */
void clocks_arm(struct thread *thread, uint64_t now_ns);

/* Another session begins: what kept THREAD from having a clock is to be tried again. */
void clocks_forget_failure(struct thread *thread);

/* Takes THREAD's clock away: a timer on any thread, a perf_event on ours only. Without the lock. */
void clocks_disarm(struct thread *thread);

/* Any thread. */
struct sampler_info clocks_info(void);

#endif /* PRELOAD_SAMPLER_CLOCKS_H */
