/* SPDX-License-Identifier: MIT */
/*
 * spending.h - what sampling costs, and the rate that follows from it (sampler/budget.h).
 *
 * Counted is what a lower rate would lower: the handler, the delivery of its signals, and our
 * thread's work for samples. What a module costs once, when it is loaded or first sampled, is not:
 * it would be spent at any rate.
 *
 * Our thread only, but where it says more.
 */
#ifndef PRELOAD_SPENDING_H
#define PRELOAD_SPENDING_H

#include "symtab/base.h"

struct writer_rate;

/*
 * A session begins, at HZ samples a second: from now on GUESTPROF_BUDGET holds. Before our thread
 * takes samples for it, on any thread.
 */
void spending_start(uint32_t hz);

/* Around work for samples. */
void spending_begin(void);
void spending_end(void);

/* About once a second while samples are taken: sets the rate. */
void spending_judge(uint64_t now_ns);

struct spending_state {
	uint32_t divisor;     /* of the rate asked for */
	uint32_t cost_ppm;    /* of the process's CPU time, lately; UINT32_MAX: not known yet */
	uint32_t budget_ppm;  /* 0: none */
	uint64_t delivery_ns; /* of a signal, estimated; 0: not yet */
};
struct spending_state spending_now(void);

/*
 * The changes of the rate since the start, as a recording shows them that began at START_NS
 * (CLOCK_MONOTONIC): what was before is told as what was so from its start. Valid until
 * spending_judge().
 */
size_t spending_rates(uint64_t start_ns, const struct writer_rate **rates);

/* The child of a fork begins anew, at the rate asked for. */
void spending_fork_child(void);

#endif /* PRELOAD_SPENDING_H */
