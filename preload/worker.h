/* SPDX-License-Identifier: MIT */
/*
 * worker.h - our one thread in the host.
 */
#ifndef PRELOAD_WORKER_H
#define PRELOAD_WORKER_H

#include "symtab/base.h"

struct sample;

/* Makes our thread if there is none; also in the child of a fork. Any thread. Keeps errno. */
void worker_start(void);

/* From now on our thread looks for images that nobody announces. */
void worker_watch(void);

/* From now on it drains rings and writes the recording. */
void worker_sample(void);

/* On our thread, within an errand: takes in what was announced; the same if SAMPLE is of newer
 * code. */
void worker_take_in_loads(void);
void worker_prepare_sample(const struct sample *sample);

/* Wakes it. Async-signal-safe. */
void worker_wake(void);

/* The word that the handler wakes it by. */
atomic_int *worker_wake_word(void);

/*
 * Asks it for the last drain and to finish the recording, and waits for at most LIMIT_NS. Nothing
 * to do without a thread. The thread is gone or hung afterwards; it is never waited for again.
 */
void worker_finish(uint64_t limit_ns);

/*
 * Around a fork: prepare stops our thread between two turns, for at most a fifth of a second
 * (returns false: it did not stop, and the child is not profiled); parent, on every path, lets it
 * go on; child forgets it and the parent's recording.
 */
bool worker_fork_prepare(void);
void worker_fork_parent(void);
void worker_fork_child(bool was_stopped);

#endif /* PRELOAD_WORKER_H */
