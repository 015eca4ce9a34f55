/* SPDX-License-Identifier: MIT */
/*
 * spans.h - when host calls began and how long they took: of each second the longest.
 *
 * Calls are sorted by how long they took, to about a fifth, and each such class has room for so
 * many until our thread comes by: a long call never gives way to short ones. Threads: any adds,
 * ours collects; no lock, no allocation.
 */
#ifndef PRELOAD_LOAD_SPANS_H
#define PRELOAD_LOAD_SPANS_H

#include "symtab/base.h"

struct span {
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	uint32_t name;			/* hostcalls_text() */
	uint32_t thread_id;
};

/* A call on this thread. */
void spans_add(uint32_t name, uint64_t start_ns, uint64_t duration_ns);

/*
 * Our thread: VISITs what was kept since the last time, the longest first (within a class the
 * earliest), until VISIT answers false: that one does not count as visited. NULL: none is. Returns
 * how many calls were added and not visited.
 */
uint64_t spans_collect(bool (*visit)(void *context, const struct span *span), void *context);

/* In the child of a fork: what was kept is the parent's. */
void spans_fork_child(void);

#endif /* PRELOAD_LOAD_SPANS_H */
