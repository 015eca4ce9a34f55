/* SPDX-License-Identifier: MIT */
/*
 * clock_timer.h - the clock of a thread as a POSIX timer on its CPU time.
 *
 * Ticks with the kernel's own tick (250 a second at HZ=250); what it merges is counted as overruns.
 * By system call: glibc's timer_create may allocate, and its version is newer than our floor.
 */
#ifndef PRELOAD_SAMPLER_CLOCK_TIMER_H
#define PRELOAD_SAMPLER_CLOCK_TIMER_H

#include "preload/sig/thread.h"

/*
 * From any thread of the process: a signal, which carries THREAD, every PERIOD_NS. 0 or negative
 * errno.
 */
int clock_timer_arm(struct thread *thread, int signo, uint64_t period_ns);

/*
 * The thread itself, also in a signal handler: its timer stands still, and goes on where it was.
 * Resume is true when there was one to go on with.
 */
void clock_timer_pause(struct thread *thread);
bool clock_timer_resume(struct thread *thread);

/* It has a timer, running or stopped, of another signal than SIGNO. From any thread. */
bool clock_timer_has_other(struct thread *thread, int signo);

/* Deletes the timer, if there is one. From any thread. */
void clock_timer_disarm(struct thread *thread);

#endif /* PRELOAD_SAMPLER_CLOCK_TIMER_H */
