/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - how the library ends; it starts by itself.
 */
#ifndef PRELOAD_LIFECYCLE_H
#define PRELOAD_LIFECYCLE_H

#include "symtab/base.h"

/*
 * The process is about to end: no more samples, a last drain, the recording gets its final name.
 * Waits for at most two seconds. In a child that shares our memory (vfork) it does nothing.
 * Any thread, once; later calls return at once. Keeps errno.
 */
void lifecycle_end(void);

/* In the child of a fork, when our thread had stopped cleanly: sampling starts again. */
void lifecycle_restart_in_child(void);

#endif /* PRELOAD_LIFECYCLE_H */
