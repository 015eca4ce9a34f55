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

/*
 * In the child of a fork: sampling starts again; or, when our thread could not be stopped in the
 * parent and what it was changing is half changed here, never again, with one line that says so.
 */
void lifecycle_restart_in_child(void);
void lifecycle_give_up_in_child(void);

#endif /* PRELOAD_LIFECYCLE_H */
