/* SPDX-License-Identifier: MIT */
/*
 * exactcall.h - host functions wrapped so that every call of them is counted.
 *
 * Only with GUESTPROF_HOSTCALLS=exact: then the engine gets our function in place of the host's,
 * with an environment of ours that holds the host's. The host's function is called exactly once,
 * with its own environment and the engine's arguments; its finalizer runs when the engine would
 * have run it. A call that ends by an unwinding through it is not counted. Threads: any.
 */
#ifndef PRELOAD_RUNTIME_EXACTCALL_H
#define PRELOAD_RUNTIME_EXACTCALL_H

#include "symtab/base.h"

enum exact_kind {
	EXACT_PLAIN,
	/* It leaves a continuation in the place that its last argument names, and the call lasts
	   until that is done: the eighth argument, or of a component's function the ninth. */
	EXACT_ASYNC,
	EXACT_COMPONENT_ASYNC,
};

/* What the host wants to give the engine; then what we give it. */
struct exact_function {
	void (*callback)(void);
	void *environment;
	void (*finalizer)(void *environment);
	struct exact_call *call; /* NULL: it is not wrapped */
};

/*
 * Around a definition: wraps FUNCTION under the number NAME of hostcalls.h, unless memory is short.
 * IS_DEFINED: whether the engine took it; if not, and it did not run the finalizer either, the
 * host's environment stays the host's.
 */
void exact_begin(struct exact_function *function, uint32_t name, enum exact_kind kind);
void exact_end(const struct exact_function *function, bool is_defined);

/*
 * CALL, which lives, was supplied for the import NAME: the calls of a function without a name are
 * counted under its import's. One with several imports is HOSTCALLS_OTHER.
 */
void exact_name(struct exact_call *call, uint32_t name);

#endif /* PRELOAD_RUNTIME_EXACTCALL_H */
