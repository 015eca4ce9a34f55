/* SPDX-License-Identifier: MIT */
/*
 * errand.h - work that another thread asks our thread to do, and waits for.
 *
 * The symbol set, the unwinder and the writer are our thread's alone; whoever needs them sends it.
 */
#ifndef PRELOAD_ERRAND_H
#define PRELOAD_ERRAND_H

#include "symtab/base.h"

/*
 * Runs DO_IT(ARGUMENT) on our thread, which must exist, and waits for its end. Returns 0, or
 * -ETIMEDOUT when it did not begin within LIMIT_NS (then it never will), -ESHUTDOWN when our thread
 * has ended, -ENOMEM. Once begun it is
 * waited for without limit: an errand takes no lock of the host's. Not from our own thread.
 */
int errand_send(void (*do_it)(void *argument), void *argument, uint64_t limit_ns);

/* Our thread: runs what waits. */
void errand_work(void);

/* Our thread is about to end: what waits, and what comes, is refused. */
void errand_close(void);

/* In the child of a fork: what other threads waited for is nobody's now. */
void errand_fork_child(void);

#endif /* PRELOAD_ERRAND_H */
