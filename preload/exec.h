/* SPDX-License-Identifier: MIT */
/*
 * exec.h - the process becomes another program.
 */
#ifndef PRELOAD_EXEC_H
#define PRELOAD_EXEC_H

/* In the child of a fork: what the parent sampled is the parent's to write. */
void exec_fork_child(void);

#endif /* PRELOAD_EXEC_H */
