/* SPDX-License-Identifier: MIT */
/*
 * turn.h - our thread's turns, and how a fork makes it stand still between two of them.
 */
#ifndef PRELOAD_TURN_H
#define PRELOAD_TURN_H

#include "symtab/base.h"

/* Makes our thread by CREATE (0 or an errno) if there is none. Any thread. 0 or CREATE's errno. */
int turn_start(int (*create)(void));

/* Our thread was made, in this process. Any thread. */
bool turn_has_thread(void);

/* Our thread: around all it does but sleeping. */
void turn_begin(void);
void turn_end(void);

/*
 * Around a fork, on the forking thread: prepare stops our thread between two turns, for at most a
 * fifth of a second (returns false: it did not stop, and the child is not profiled), and keeps
 * others from making it; parent, on every path, lets it go on; child forgets it.
 */
bool turn_fork_prepare(void);
void turn_fork_parent(void);
void turn_fork_child(void);

#endif /* PRELOAD_TURN_H */
