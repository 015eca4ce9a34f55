/* SPDX-License-Identifier: MIT */
/*
 * hostcalls.h - host calls that are counted one by one (GUESTPROF_HOSTCALLS=exact).
 *
 * Wrappers around the host's functions (runtime/) count here, by name and by the module that
 * called; our thread collects. All memory is static and bounded, a call takes no lock and allocates
 * nothing, so it works where our thread does not exist, and in the child of a fork. Threads: any,
 * but for what is said to be our thread's.
 */
#ifndef PRELOAD_LOAD_HOSTCALLS_H
#define PRELOAD_LOAD_HOSTCALLS_H

#include "preload/load/callbacks.h"
#include "symtab/base.h"

enum { HOSTCALLS_NAMES = 4096, HOSTCALLS_NO_NAME = 0, HOSTCALLS_OTHER = 1 };

/* Whether host calls are to be counted: asked where a host defines a function. */
bool hostcalls_are_exact(void);

/*
 * The number of MODULE.NAME, bytes that need not be text; cut to CALLBACKS_NAME. HOSTCALLS_OTHER
 * when there are too many names.
 */
uint32_t hostcalls_name(const char *module, size_t module_size, const char *name, size_t name_size);

/* The text of a number; "(host function)" for HOSTCALLS_NO_NAME, "(other)" for HOSTCALLS_OTHER. */
const char *hostcalls_text(uint32_t name);

/*
 * A call of function NAME by what runs on this thread, from START_NS (CLOCK_MONOTONIC) until now.
 * LOADING is what hostcalls_caller() said when it began.
 */
void hostcalls_count(uint32_t name, uint32_t loading, uint64_t start_ns);

/* The loading of the module that the innermost guest on this thread belongs to; 0: unknown. */
uint32_t hostcalls_caller(void);

/* What one function was called by one module. */
struct hostcalls_sum {
	uint32_t name, loading; /* loading 0: of which module is not known */
	uint64_t count, total_ns, longest_ns;
};

/* Our thread: VISITs what was called since the last time. */
void hostcalls_collect(void (*visit)(void *context, const struct hostcalls_sum *sum),
		       void *context);

/* Our thread: what was called until now, and not collected, counts for nobody. */
void hostcalls_forget(void);

/* In the child of a fork: what was called until now is the parent's. */
void hostcalls_fork_child(void);

#endif /* PRELOAD_LOAD_HOSTCALLS_H */
