/* SPDX-License-Identifier: MIT */
/* tasks.c - /proc/self/task, and stack bounds. */
#include "preload/sampler/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same functions as their default versions, 2.32 and 2.34, which would raise our floor. */
__asm__(".symver pthread_getattr_np,pthread_getattr_np@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstack,pthread_attr_getstack@GLIBC_2.2.5");

/* Set by ld.so since glibc 2.1: the first word above main's frames. */
extern void *__libc_stack_end;

enum {
	/*
	 * Of the main thread's stack we believe no more than this, whatever the limit says: mmap
	 * keeps at least 128 MiB clear below the stack's top.
	 */
	MAX_MAIN_STACK = 64 << 20,
	PAGE = 4096,
};

int tasks_each(void (*visit)(void *context, pid_t tid), void *context)
{
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buffer[4096] __attribute__((aligned(8)));
	long size;

	if (fd < 0)
		return -errno;
	while ((size = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < size;) {
			const struct dirent64 *entry = (const void *)(buffer + at);
			pid_t tid = atoi(entry->d_name);

			if (tid > 0)
				visit(context, tid);
			at += entry->d_reclen;
		}
	}
	close(fd);
	return 0;
}

int tasks_read_file(pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	int fd, result;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	result = (int)read(fd, text, size - 1);
	/* A thread may end between open and read. */
	if (result < 0)
		result = errno == EACCES || errno == EPERM ? -errno : -ESRCH;
	close(fd);
	text[result < 0 ? 0 : result] = '\0';
	return result;
}

int tasks_parse_stat(const char *text, struct task *task)
{
	/* Fields are counted from 1; the second, the name, ends at the last parenthesis. */
	enum { STATE = 3, START_TIME = 22 };
	const char *at = strrchr(text, ')');
	char *end;

	if (at == NULL || at[1] != ' ' || at[2] == '\0')
		return -EINVAL;
	at += 2;
	task->state = *at;
	for (int field = STATE; field < START_TIME; field++) {
		at = strchr(at, ' ');
		if (at == NULL)
			return -EINVAL;
		at++;
	}
	errno = 0;
	task->start_time = strtoull(at, &end, 10);
	return end == at || errno != 0 ? -EINVAL : 0;
}

int tasks_read(pid_t tid, struct task *task)
{
	char text[1024];
	int size = tasks_read_file(tid, "stat", text, sizeof(text));

	if (size <= 0)
		return -ESRCH;
	return tasks_parse_stat(text, task);
}

uint64_t tasks_parse_blocked(const char *text)
{
	const char *line = strstr(text, "\nSigBlk:");

	return line != NULL ? strtoull(line + 8, NULL, 16) : 0;
}

uint64_t tasks_blocked(pid_t tid)
{
	char text[4096]; /* a status has some 1,500 bytes; SigBlk comes before what may be long */

	return tasks_read_file(tid, "status", text, sizeof(text)) > 0 ? tasks_parse_blocked(text)
								      : 0;
}

void tasks_read_name(pid_t tid, char *name, size_t size)
{
	char text[64];
	int length = tasks_read_file(tid, "comm", text, sizeof(text));

	if (length <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, size, "%s", text);
}

bool tasks_is_alive(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

/* pthread_getattr_np would read all of /proc/self/maps: 18 ms where it has 60,000 lines. */
bool tasks_main_stack(uintptr_t *start, uintptr_t *end)
{
	uintptr_t size = MAX_MAIN_STACK;
	struct rlimit limit;

	if (__libc_stack_end == NULL)
		return false;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
		size = limit.rlim_cur;
	*end = ((uintptr_t)__libc_stack_end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	*start = *end - size;
	return true;
}

bool tasks_own_stack(uintptr_t *start, uintptr_t *end)
{
	int saved_errno = errno;
	bool known = false;
	pthread_attr_t attr;
	void *address;
	size_t size;

	if (syscall(SYS_gettid) == getpid()) {
		known = tasks_main_stack(start, end);
	} else if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		known = pthread_attr_getstack(&attr, &address, &size) == 0 && address != NULL;
		if (known) {
			*start = (uintptr_t)address;
			*end = (uintptr_t)address + size;
		}
		pthread_attr_destroy(&attr);
	}
	errno = saved_errno;
	return known;
}
