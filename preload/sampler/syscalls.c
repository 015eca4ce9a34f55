/* SPDX-License-Identifier: MIT */
/* syscalls.c - what a sleeping thread asked the kernel for. Threads: any. */
#include "preload/sampler/syscalls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { ARGUMENTS = 6 };

/* ---- the line -------------------------------------------------------------------------------- */

/* Moves *AT over one hexadecimal word, which must follow a space. */
static bool read_word(const char **at, uint64_t *value)
{
	char *end;

	if (strncmp(*at, " 0x", 3) != 0)
		return false;
	errno = 0;
	*value = strtoull(*at + 1, &end, 16);
	if (end == *at + 3 || errno != 0)
		return false;
	*at = end;
	return true;
}

static bool read_number(const char **at, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(*at, &end, 10);
	if (end == *at || errno != 0 || *number < -1 || **at == ' ')
		return false;
	*at = end;
	return true;
}

int syscalls_parse(const char *text, struct syscalls_line *line)
{
	uint64_t words[ARGUMENTS + 2], *stack = words;
	const char *at = text;
	size_t count;

	*line = (struct syscalls_line){ .state = SYSCALLS_RUNNING };
	if (strcmp(text, "running\n") == 0)
		return 0;
	if (!read_number(&at, &line->number))
		return -EINVAL;
	count = line->number < 0 ? 2 : ARGUMENTS + 2;
	for (size_t i = 0; i < count; i++)
		if (!read_word(&at, &words[i]))
			return -EINVAL;
	if (strcmp(at, "\n") != 0)
		return -EINVAL;
	line->state = line->number < 0 ? SYSCALLS_OUTSIDE : SYSCALLS_INSIDE;
	if (line->state == SYSCALLS_INSIDE) {
		line->first = words[0];
		stack = words + ARGUMENTS;
	}
	line->stack_pointer = (uintptr_t)stack[0];
	line->pc = (uintptr_t)stack[1];
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Calls that wait. Those whose first argument is the descriptor they wait for say so. */
static const struct waiting_call {
	long number;
	const char *name;
	bool has_descriptor;
} calls[] = {
#define CALL(name) { SYS_##name, #name, false },
#define CALL_ON(name) { SYS_##name, #name, true },
	/* clang-format off */
	CALL_ON(read) CALL_ON(write) CALL_ON(readv) CALL_ON(writev)
	CALL_ON(pread64) CALL_ON(pwrite64) CALL_ON(preadv) CALL_ON(pwritev)
	CALL_ON(preadv2) CALL_ON(pwritev2)
	CALL_ON(accept) CALL_ON(accept4) CALL_ON(connect)
	CALL_ON(recvfrom) CALL_ON(recvmsg) CALL_ON(recvmmsg)
	CALL_ON(sendto) CALL_ON(sendmsg) CALL_ON(sendmmsg) CALL_ON(shutdown)
	CALL_ON(epoll_pwait) CALL_ON(ioctl) CALL_ON(fcntl) CALL_ON(flock)
	CALL_ON(fsync) CALL_ON(fdatasync) CALL_ON(sync_file_range) CALL_ON(syncfs)
	CALL_ON(ftruncate) CALL_ON(fallocate) CALL_ON(getdents64)
	CALL_ON(splice) CALL_ON(tee) CALL_ON(vmsplice) CALL_ON(sendfile) CALL_ON(copy_file_range)
	CALL_ON(close) CALL_ON(openat) CALL_ON(newfstatat) CALL_ON(unlinkat) CALL_ON(renameat2)
	CALL(futex) CALL(nanosleep) CALL(clock_nanosleep)
	CALL(ppoll) CALL(pselect6)
	CALL(rt_sigtimedwait) CALL(rt_sigsuspend) CALL(wait4) CALL(waitid)
	CALL(msgrcv) CALL(msgsnd) CALL(semop) CALL(semtimedop)
	CALL(mq_timedreceive) CALL(mq_timedsend) CALL(io_getevents)
	CALL(msync) CALL(sync) CALL(madvise) CALL(mmap) CALL(munmap) CALL(mprotect)
	CALL(membarrier) CALL(sched_yield) CALL(restart_syscall)
#ifdef SYS_poll /* aarch64 has only the newer forms */
	CALL(poll) CALL(select) CALL(pause) CALL(open)
	CALL_ON(epoll_wait)
#endif
#ifdef SYS_io_uring_enter
	CALL_ON(io_uring_enter)
#endif
#ifdef SYS_epoll_pwait2
	CALL_ON(epoll_pwait2)
#endif
#ifdef SYS_futex_waitv
	CALL(futex_waitv)
#endif
/* clang-format on */
#undef CALL
#undef CALL_ON
};

static const struct waiting_call *find_call(long number)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}

const char *syscalls_describe(const struct syscalls_line *line, char text[SYSCALLS_NAME_SIZE])
{
	const struct waiting_call *call;

	if (line->state != SYSCALLS_INSIDE)
		return "[page fault]";
	call = find_call(line->number);
	if (call != NULL)
		snprintf(text, SYSCALLS_NAME_SIZE, "[%s]", call->name);
	else
		snprintf(text, SYSCALLS_NAME_SIZE, "[syscall %ld]", line->number);
	return text;
}

int syscalls_descriptor(const struct syscalls_line *line)
{
	const struct waiting_call *call =
		line->state == SYSCALLS_INSIDE ? find_call(line->number) : NULL;

	/* A descriptor is an int; AT_FDCWD and the like are negative. */
	if (call == NULL || !call->has_descriptor || (line->first & 0xffffffffu) > INT_MAX)
		return -1;
	return (int)(line->first & 0xffffffffu);
}
