/* SPDX-License-Identifier: MIT */
/*
 * headcount.h - libc's count of threads, in which ours is left out.
 *
 * A program whose threads all leave by pthread_exit() ends by exit(0), which libc calls on the last
 * of them (pthread_exit(3)). With our thread in its count none would be the last.
 */
#ifndef PRELOAD_HEADCOUNT_H
#define PRELOAD_HEADCOUNT_H

#include "symtab/base.h"

/*
 * Our thread was made just now, by the calling thread, which is one of the host's: takes it out of
 * the count. To be called each time, once, for headcount_leave() waits for it. Nothing happens
 * where libc does not say what its count looks like, which glibc does since 2.34.
 */
void headcount_leave_out(void);

/*
 * Our thread, when it has nothing left to do: returns when it may return to libc, which counts it
 * again. Does not while the host's last thread is ending the process; and ends the thread, and with
 * it the process, where the others are gone and libc cannot know.
 */
void headcount_leave(void);

/*
 * Our thread: no thread of the host is left. So it is where libc counts us, and where threads ended
 * by a system call of their own. Asks /proc; false where that does not answer.
 */
bool headcount_is_alone(void);

/* In the child of a fork, where libc has begun to count anew. The loader is not asked from now on.
 */
void headcount_fork_child(void);

#endif /* PRELOAD_HEADCOUNT_H */
