/* SPDX-License-Identifier: MIT */
/* times.h - clocks in microseconds, as the benches print them. */
#ifndef TESTS_BENCH_TIMES_H
#define TESTS_BENCH_TIMES_H

#include "preload/base/clock.h"

/* CPU time of the calling thread. */
static inline double thread_cpu_us(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e3;
}

/* Time that passes, from some moment on. */
static inline double monotonic_us(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1e3;
}

#endif /* TESTS_BENCH_TIMES_H */
