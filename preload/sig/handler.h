/* SPDX-License-Identifier: MIT */
/*
 * handler.h - what the rest of the library tells the handler, and the handler itself.
 */
#ifndef PRELOAD_SIG_HANDLER_H
#define PRELOAD_SIG_HANDLER_H

#include <signal.h>

#include "preload/sig/thread.h"

/*
 * Set once before the first clock is armed. All of it is read-only for the handler but the pool,
 * from which it takes rings by compare-and-swap.
 */
struct handler_setup {
	pid_t pid;
	/* The block whose perf_event has this descriptor (our thread's table), or NULL. Indexed by
	 * fd. */
	_Atomic(struct thread *) *thread_by_fd;
	int fd_count;
	/* Free, prefaulted rings kept ahead by our thread; entries are taken by exchange with NULL.
	 */
	_Atomic(struct ring *) *ring_pool;
	int ring_pool_size;
	/* Woken by one FUTEX_WAKE when a ring is half full. */
	atomic_int *wake_word;
	/* A foreign signal of our number goes here: the host's own action. Never NULL. */
	void (*foreign)(int signo, siginfo_t *info, void *context);
	/*
	 * false with GUESTPROF_STACKS=guest: host samples whose pcs are known carry no slice. Where
	 * only the slice can tell the guest's frames it is copied all the same.
	 */
	bool copy_slices;
	/* GUESTPROF_STACKS=full: every sample carries the host's frames above the guest's. */
	bool whole_stacks;
	/* Our thread while it sends itself signals to see what that costs (sampler/delivery.h); 0.
	 */
	atomic_int probed_tid;
	atomic_bool stopped; /* sampler_stop(): ours are swallowed from now on */
};
extern struct handler_setup handler_setup;

/* The SIGPROF action, SA_SIGINFO. Async-signal-safe; keeps errno. */
void handler_on_signal(int signo, siginfo_t *info, void *context);

#endif /* PRELOAD_SIG_HANDLER_H */
