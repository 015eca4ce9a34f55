/* SPDX-License-Identifier: MIT */
/*
 * wake.h - how our thread sleeps, and how it is woken.
 *
 * By a futex, which handlers can reach too; and, while there are descriptors to wait for, in
 * poll(): those are in our thread's own table, where no other thread can write to an eventfd, so
 * the waker queues a signal to our thread, which a signalfd there takes up.
 */
#ifndef PRELOAD_WAKE_H
#define PRELOAD_WAKE_H

#include <poll.h>

#include "symtab/base.h"

enum { WAKE_DESCRIPTORS_MAX = 16 };

/* The word that handlers count up, and wake by FUTEX_WAKE: seen at once unless our thread polls. */
atomic_int *wake_word(void);

/* Wakes it, whatever it sleeps in. Any thread; async-signal-safe; keeps errno. */
void wake_up(void);

/* Our thread, before it looks at its work: what wake_wait() is to be given. */
int wake_seen(void);

/*
 * Our thread: sleeps until somebody has woken it since SEEN, for LIMIT_NS at most (UINT64_MAX: for
 * ever), or until one of COUNT DESCRIPTORS is ready, WAKE_DESCRIPTORS_MAX at most; 0: by the futex.
 */
void wake_wait(int seen, uint64_t limit_ns, const struct pollfd *descriptors, size_t count);

/* In the child of a fork: nobody sleeps. */
void wake_fork_child(void);

#endif /* PRELOAD_WAKE_H */
