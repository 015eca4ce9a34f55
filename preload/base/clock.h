/* SPDX-License-Identifier: MIT */
/*
 * clock.h - a clock of clock_gettime(2) as one number.
 *
 * Any thread. The handler has its own (sig/tick.h): it includes little of this room.
 */
#ifndef PRELOAD_BASE_CLOCK_H
#define PRELOAD_BASE_CLOCK_H

#include <time.h>

#include "symtab/base.h"

/* Nanoseconds; 0 when the system has no such clock. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif /* PRELOAD_BASE_CLOCK_H */
