/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h - /proc/self/task/TID/syscall, and the names of system calls that wait.
 */
#ifndef PRELOAD_SAMPLER_SYSCALLS_H
#define PRELOAD_SAMPLER_SYSCALLS_H

#include "symtab/base.h"

enum syscalls_state {
	SYSCALLS_RUNNING, /* on a CPU, or ready for one */
	SYSCALLS_OUTSIDE, /* asleep, but in no call: a page is being read */
	SYSCALLS_INSIDE,
};

struct syscalls_line {
	enum syscalls_state state;
	long number;		     /* SYSCALLS_INSIDE */
	uint64_t first;		     /* SYSCALLS_INSIDE: the first argument */
	uintptr_t stack_pointer, pc; /* but SYSCALLS_RUNNING */
};

/* proc_pid_syscall(5): "running", "-1 SP PC" or "NR ARG*6 SP PC". Returns 0 or -EINVAL. */
int syscalls_parse(const char *text, struct syscalls_line *line);

enum { SYSCALLS_NAME_SIZE = 32 };

/* How a stack shows the wait: "[futex]", "[syscall 999]", "[page fault]"; in TEXT. */
const char *syscalls_describe(const struct syscalls_line *line, char text[SYSCALLS_NAME_SIZE]);

/* The descriptor that the call waits for; -1: none, or the call has no single one. */
int syscalls_descriptor(const struct syscalls_line *line);

#endif /* PRELOAD_SAMPLER_SYSCALLS_H */
