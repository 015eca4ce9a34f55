/* SPDX-License-Identifier: MIT */
/*
 * clock_perf.h - the clock of a thread as a perf_event: a software clock with a high-resolution
 * timer.
 *
 * 988 of 1,000 and 3,950 of 4,000 signals a second, unprivileged. The descriptors live in the table
 * of the thread that opens them, ours, where the host can neither see nor close them.
 * Only with a signal below 32: a full queue of a realtime signal turns into SIGIO, which kills.
 */
#ifndef PRELOAD_SAMPLER_CLOCK_PERF_H
#define PRELOAD_SAMPLER_CLOCK_PERF_H

#include "preload/sig/thread.h"

/* Makes handler_setup.thread_by_fd. 0 or -ENOMEM. */
int clock_perf_start(void);

/*
 * Our thread only: a signal every PERIOD_NS. 0 or negative errno; -EACCES, -EPERM: the system
 * refuses perf_event.
 */
int clock_perf_arm(struct thread *thread, int signo, uint64_t period_ns);
void clock_perf_disarm(struct thread *thread);

#endif /* PRELOAD_SAMPLER_CLOCK_PERF_H */
