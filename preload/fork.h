/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what happens to us when the host forks.
 */
#ifndef PRELOAD_FORK_H
#define PRELOAD_FORK_H

/* In the constructor. */
void fork_watch(void);

#endif /* PRELOAD_FORK_H */
