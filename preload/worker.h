/* SPDX-License-Identifier: MIT */
/*
 * worker.h - our one thread in the host.
 */
#ifndef PRELOAD_WORKER_H
#define PRELOAD_WORKER_H

#include "symtab/base.h"

/* Makes our thread if there is none; also in the child of a fork. Any thread. Keeps errno. */
void worker_start(void);

/* From now on our thread looks for images that nobody announces. */
void worker_watch(void);

/* From now on it drains rings and writes the recording. */
void worker_sample(void);

/* Our thread: sampling has stopped; takes in what is in the rings, and ends the recording. */
void worker_rest(void);

/*
 * Asks it for the last drain and to finish the recording, and waits for at most LIMIT_NS. Nothing
 * to do without a thread. The thread is gone or hung afterwards; it is never waited for again.
 */
void worker_finish(uint64_t limit_ns);

/*
 * In the child of a fork: forgets our thread, and, when that stood still (turn.h), the parent's
 * recording.
 */
void worker_fork_child(bool was_stopped);

#endif /* PRELOAD_WORKER_H */
