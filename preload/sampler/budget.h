/* SPDX-License-Identifier: MIT */
/*
 * budget.h - how often to sample, so that sampling costs no more than a share of the process's CPU
 * time.
 *
 * Only decides: who measures and who sets the clocks is elsewhere (spending.c). Looked at are
 * windows of time. One in which the process hardly used the CPU says nothing. The rate is halved
 * when the cost was above the budget in three windows on end, in two when it was above twice the
 * budget: one burst is no reason. It is doubled when that would have kept well inside the budget
 * for long; after a doubling that did not last, for twice as long.
 *
 * Threads: one at a time, but where it says more.
 */
#ifndef PRELOAD_SAMPLER_BUDGET_H
#define PRELOAD_SAMPLER_BUDGET_H

#include "symtab/base.h"

#define BUDGET_WINDOW_NS UINT64_C(2000000000)	/* at least */
#define BUDGET_LONGEST_NS UINT64_C(5000000000)	/* ... */
#define BUDGET_LEAST_CPU_NS UINT64_C(500000000) /* of the process in a window that counts */

enum {
	BUDGET_CHANGES_MAX = 32,
	BUDGET_UNKNOWN = 0xffffffff,
	BUDGET_PATIENCE = 5, /* windows inside the budget before a doubling */
	BUDGET_PATIENCE_MAX = 160,
};

/* What has been used until TIME_NS (CLOCK_MONOTONIC); all nanoseconds of CPU time. */
struct budget_cost {
	uint64_t time_ns;
	uint64_t process_ns; /* by all threads */
	uint64_t handler_ns;
	uint64_t delivery_ns; /* by the kernel, for our signals; an estimate */
	uint64_t work_ns;     /* by our thread, for samples */
};

/* The rate changed. */
struct budget_change {
	uint64_t time_ns;
	uint32_t from, to; /* divisors of the rate asked for */
	uint32_t cost_ppm; /* of the process's CPU time, in the window that settled it */
	uint32_t budget_ppm;
};

struct budget {
	uint32_t budget_ppm; /* 0: any cost is right, and only shown */
	uint32_t divisor;    /* of the rate asked for: a power of 2 */
	uint32_t largest;    /* ... that leaves one sample a second */
	uint32_t cost_ppm;   /* in the last window that counted; BUDGET_UNKNOWN */

	/* private */
	struct budget_cost begin;	 /* of the window */
	uint32_t over, far_over, inside; /* windows on end */
	uint32_t patience, since_doubled;

	struct budget_change changes[BUDGET_CHANGES_MAX]; /* the last ones, in order */
	uint32_t change_count;
};

/* At a rate of HZ, from NOW on. */
void budget_start(struct budget *budget, uint32_t budget_ppm, uint32_t hz,
		  const struct budget_cost *now);

/*
 * To be called now and then, twice a window or more. True when it has changed the divisor, and
 * noted that as the last change.
 */
bool budget_judge(struct budget *budget, const struct budget_cost *now);

#endif /* PRELOAD_SAMPLER_BUDGET_H */
