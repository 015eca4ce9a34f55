/* SPDX-License-Identifier: MIT */
/*
 * headcount.c - one less in libc's count of threads while ours runs.
 *
 * The count is glibc's __nptl_nthreads: up in pthread_create(), down where a thread's function has
 * returned (nptl/pthread_create.c) or the main thread's pthread_exit() ends
 * (sysdeps/nptl/libc_start_call_main.h), which is where exit(0) follows at zero; it has no other
 * use. It is exported for debuggers, with a description of its form (nptl_db/structs.def), since
 * 2.34. Threads: as headcount.h says.
 */
#include "preload/headcount.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/hook/hook.h"
#include "preload/sampler/tasks.h"

enum { DECISION_US = 1000 };
enum { UNDECIDED, COUNTED, LEFT_OUT };

static struct {
	atomic_int ours;    /* UNDECIDED until headcount_leave_out() */
	atomic_uint *count; /* libc's; written before `ours` */
	bool is_looked_up, is_forked;
} self;

static bool is_in(uintptr_t start, uintptr_t end, const void *address, size_t size)
{
	return (uintptr_t)address >= start && (uintptr_t)address + size <= end;
}

/* libc's count, if it is one unsigned int in libc itself, as it says; else NULL. */
static atomic_uint *find_count(void)
{
	static const uint32_t form[] = { 32, 1, 0 }; /* bits, elements, offset */
	const void *libc = hook_next_symbol("gnu_get_libc_version");
	const void *told = hook_next_symbol("_thread_db___nptl_nthreads");
	void *count = hook_next_symbol("__nptl_nthreads");
	uintptr_t start, end;

	if (libc == NULL || told == NULL || count == NULL ||
	    !hook_object_range(libc, &start, &end) || !is_in(start, end, told, sizeof(form)) ||
	    !is_in(start, end, count, sizeof(atomic_uint)) || memcmp(told, form, sizeof(form)) != 0)
		return NULL;
	return count;
}

/* The caller's thread and ours are in it; what says otherwise is not what we take it for. */
static bool take_out(atomic_uint *count)
{
	unsigned int seen = atomic_load(count);

	while (seen >= 2)
		if (atomic_compare_exchange_weak(count, &seen, seen - 1))
			return true;
	return false;
}

void headcount_leave_out(void)
{
	/* Not in a child: the loader's lock may be one that the parent held. */
	if (!self.is_looked_up && !self.is_forked)
		self.count = find_count();
	self.is_looked_up = true;
	atomic_store(&self.ours, self.count != NULL && take_out(self.count) ? LEFT_OUT : COUNTED);
}

enum { STATE = 3, EXIT_CODE = 52 }; /* fields of proc_pid_stat(5), counted from 1 */

/* Field NUMBER, from 3 on, of TEXT; NULL if there is none. The second, a name, may hold anything.
 */
static const char *field(const char *text, int number)
{
	const char *at = strrchr(text, ')');

	for (int i = 2; i < number && at != NULL; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? at + 1 : NULL;
}

/* The main thread stays as a zombie until all others are gone. Its wait status, or -1: not gone. */
static int main_thread_ended(void)
{
	char text[1024];
	const char *at;

	if (tasks_read_file((pid_t)syscall(SYS_getpid), "stat", text, sizeof(text)) < 0)
		return -1;
	at = field(text, STATE);
	if (at == NULL || *at != 'Z')
		return -1;
	at = field(text, EXIT_CODE);
	return at != NULL ? atoi(at) : 0;
}

bool headcount_is_alone(void)
{
	struct stat tasks;

	/* Two links of any directory, and one for each thread (proc_task_getattr, fs/proc/base.c).
	 */
	return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 2 + 2 &&
	       main_thread_ended() >= 0;
}

/* Counted again, unless at zero: then exit(0) has begun, and we would begin it once more. */
static bool take_back(atomic_uint *count)
{
	unsigned int seen = atomic_load(count);

	while (seen != 0)
		if (atomic_compare_exchange_weak(count, &seen, seen + 1))
			return true;
	return false;
}

void headcount_leave(void)
{
	int status;

	/* We may be done before the thread that made us gets on. */
	while (atomic_load(&self.ours) == UNDECIDED)
		usleep(DECISION_US);
	if (atomic_load(&self.ours) == COUNTED)
		return;
	if (!take_back(self.count))
		for (;;)
			pause();
	status = main_thread_ended();
	/* Threads that libc still counts have ended past it, and it will not exit. Since Linux
	 * 5.18 the status is the last thread's (synchronize_group_exit, kernel/exit.c): ours. */
	if (status >= 0 && headcount_is_alone())
		syscall(SYS_exit, WEXITSTATUS(status));
}

void headcount_fork_child(void)
{
	atomic_store(&self.ours, UNDECIDED);
	self.is_forked = true;
}
