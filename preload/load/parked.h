/* SPDX-License-Identifier: MIT */
/*
 * parked.h - asynchronous calls that are not being polled: their guests wait, on no thread.
 *
 * Known by the address of the host's object (a future). How long each waited is exact; our thread
 * collects it. Where each waits is not to be had: its stack is a fiber's, which the engine maps
 * without libc and tells nobody of; the place of the fiber in the future is private, another in
 * each build; and the exit record, which led to the guest's frames while it ran, is taken out of
 * the store's context when the fiber is suspended (CallThreadState::swap, Wasmtime 25 to 50). A
 * sample in a poll does see the fiber, but short polls have none. Does nothing unless
 * GUESTPROF_WALL is set. Threads: any, without a lock (wrappers run in the children of forks); the
 * engine demands that an object is used by one thread at a time.
 */
#ifndef PRELOAD_LOAD_PARKED_H
#define PRELOAD_LOAD_PARKED_H

#include "symtab/base.h"

/* KEY waits from now on: it was made for a call of INSTANCE, or its poll was not the last. */
void parked_begin(const void *key, uint32_t instance);

/* KEY is about to be polled. */
void parked_end(const void *key);

/* KEY is about to be deleted. */
void parked_forget(const void *key);

/*
 * Our thread: calls VISIT for each instance that waited since the last call, with how long.
 * Several calls of one instance at the same time count each.
 */
void parked_collect(void (*visit)(void *context, uint32_t instance, uint64_t wall_ns),
		    void *context);

/* Our thread: what calls waited until now, and was not collected, counts for nobody. */
void parked_skip(void);

/* In the child of a fork: what calls waited until now is the parent's. */
void parked_fork_child(void);

#endif /* PRELOAD_LOAD_PARKED_H */
