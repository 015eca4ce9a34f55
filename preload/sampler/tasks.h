/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - what /proc and the C library know about the threads of this process.
 *
 * The functions that open files are for our thread only, whose descriptors the host cannot see.
 */
#ifndef PRELOAD_SAMPLER_TASKS_H
#define PRELOAD_SAMPLER_TASKS_H

#include <sys/types.h>

#include "symtab/base.h"

struct task {
	char state;	     /* as in stat: R, S, Z ... */
	uint64_t start_time; /* field 22: clock ticks since boot */
};

/* Calls VISIT for each thread of the process. Returns 0, negative errno. */
int tasks_each(void (*visit)(void *context, pid_t tid), void *context);

/*
 * Reads /proc/self/task/TID/FILE into TEXT, cut to SIZE with a NUL. Returns the length, -EACCES or
 * -EPERM when that is not allowed, -ESRCH when the thread has ended, or another negative errno.
 */
int tasks_read_file(pid_t tid, const char *file, char *text, size_t size);

/* 0, -ESRCH when there is no such thread, -EINVAL when its line makes no sense. */
int tasks_read(pid_t tid, struct task *task);

/*
 * Which signals thread TID blocks now: bit N - 1 for signal N (SigBlk in its status, proc(5)). 0
 * also when that cannot be read.
 */
uint64_t tasks_blocked(pid_t tid);

/* From the text of a status file. */
uint64_t tasks_parse_blocked(const char *text);

static inline bool tasks_has(uint64_t mask, int signo)
{
	return (mask >> (signo - 1) & 1) != 0;
}

/* The thread's name, cut to SIZE with a NUL; NAME is left alone when it cannot be read. */
void tasks_read_name(pid_t tid, char *name, size_t size);

/* From the text of a stat file; a name may hold spaces and parentheses. Returns 0 or -EINVAL. */
int tasks_parse_stat(const char *text, struct task *task);

bool tasks_is_alive(pid_t tid);

/*
 * The calling thread's own stack, on whatever stack it runs now; any thread, keeps errno. False
 * when it is not known.
 */
bool tasks_own_stack(uintptr_t *start, uintptr_t *end);

/* The stack of the process's first thread; the same, from any thread. */
bool tasks_main_stack(uintptr_t *start, uintptr_t *end);

#endif /* PRELOAD_SAMPLER_TASKS_H */
