/* SPDX-License-Identifier: MIT */
/*
 * flush.h - somebody waits until what was sampled so far is in the recording.
 *
 * Not an errand: those allocate and lock, and this may be asked for in a signal handler.
 */
#ifndef PRELOAD_FLUSH_H
#define PRELOAD_FLUSH_H

#include "symtab/base.h"

/*
 * Waits for our thread to write, for at most LIMIT_NS; nothing to do when it does not exist or has
 * ended. Not from our own thread; async-signal-safe.
 */
void flush_wait(uint64_t limit_ns);

/* Our thread, before a turn: the number to give to flush_answer() after it. */
int flush_wanted(void);

/* Our thread: has nobody waited since the last answer? Then this turn need not write. */
bool flush_is_answered(int wanted);

/* Our thread: what was wanted before this turn is done. */
void flush_answer(int wanted);

/* In the child of a fork: nobody waits. */
void flush_fork_child(void);

#endif /* PRELOAD_FLUSH_H */
