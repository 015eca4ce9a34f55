/* SPDX-License-Identifier: MIT */
/*
 * exec.c - before a process becomes another program: its samples are written, and no tick is left.
 *
 * A pending signal outlives an exec, and its default ends the new program: the kernel takes back
 * the ticks of timers (flush_itimer_signals in fs/exec.c), but not perf_event's. The recording
 * stays as it is written: whole, and without its last form, for the call may fail. Signals: all of
 * these may be called in a handler, and in the child of a vfork, which shares our memory: there
 * only what the kernel keeps for itself is touched.
 */
#include "preload/exec.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/flush.h"
#include "preload/hook/hook.h"
#include "preload/sampler/mask.h"
#include "preload/sampler/signal.h"
#include "preload/sig/handler.h"

#define FLUSH_NS UINT64_C(1000000000)

enum { FEW_ARGUMENTS = 64 };

EXPORT int execve(const char *path, char *const argv[], char *const envp[]);
EXPORT int execv(const char *path, char *const argv[]);
EXPORT int execvp(const char *file, char *const argv[]);
EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]);
EXPORT int fexecve(int fd, char *const argv[], char *const envp[]);
EXPORT int execveat(int directory, const char *path, char *const argv[], char *const envp[],
		    int flags);
EXPORT int execl(const char *path, const char *argument, ...);
EXPORT int execlp(const char *file, const char *argument, ...);
EXPORT int execle(const char *path, const char *argument, ...);

static atomic_ullong samples_of_parents;

void exec_fork_child(void)
{
	atomic_store(&samples_of_parents, stat_get(STAT_SAMPLES));
}

/* True when after_failed_exec() is to follow. */
static bool before_exec(void)
{
	if (!atomic_load(&state.sampling) || !hook_begin())
		return false;
	if (handler_setup.pid == (pid_t)syscall(SYS_getpid)) {
		mask_pause();
		if (stat_get(STAT_SAMPLES) != atomic_load(&samples_of_parents))
			flush_wait(FLUSH_NS);
	}
	signal_before_exec();
	hook_end();
	return true;
}

static int after_failed_exec(bool was_prepared, int result)
{
	int saved_errno = errno;
	sigset_t mask;

	if (!was_prepared || !hook_begin())
		return result;
	signal_after_failed_exec();
	/* Signals blocked before the call: the clock stood still, and is to stay so. */
	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, _NSIG / 8) == 0)
		mask_resume_unless(&mask);
	hook_end();
	errno = saved_errno;
	return result;
}

HOOK_PLAIN(execve);
int execve(const char *path, char *const argv[], char *const envp[])
{
	__typeof__(&execve) real = REAL(execve);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(path, argv, envp));
}

HOOK_PLAIN(execv);
int execv(const char *path, char *const argv[])
{
	__typeof__(&execv) real = REAL(execv);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(path, argv));
}

HOOK_PLAIN(execvp);
int execvp(const char *file, char *const argv[])
{
	__typeof__(&execvp) real = REAL(execvp);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(file, argv));
}

HOOK_PLAIN(execvpe);
int execvpe(const char *file, char *const argv[], char *const envp[])
{
	__typeof__(&execvpe) real = REAL(execvpe);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(file, argv, envp));
}

HOOK_PLAIN(fexecve);
int fexecve(int fd, char *const argv[], char *const envp[])
{
	__typeof__(&fexecve) real = REAL(fexecve);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(fd, argv, envp));
}

HOOK_PLAIN(execveat);
int execveat(int directory, const char *path, char *const argv[], char *const envp[], int flags)
{
	__typeof__(&execveat) real = REAL(execveat);
	bool was_prepared = before_exec();

	return after_failed_exec(was_prepared, real(directory, path, argv, envp, flags));
}

/* ---- those that take their arguments one by one, as the others do them ------------------------
 */

struct list {
	char **argv; /* FEW, or memory of its own */
	size_t size; /* of that memory; 0: it is FEW */
	char *const *envp;
	char *few[FEW_ARGUMENTS];
};

/* malloc may be under way, below the handler that we run in. */
static int make_room(struct list *list, size_t count)
{
	list->argv = list->few;
	list->size = 0;
	if (count < FEW_ARGUMENTS)
		return 0;
	list->size = (count + 1) * sizeof(*list->argv);
	list->argv =
		mmap(NULL, list->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return list->argv != MAP_FAILED ? 0 : -ENOMEM;
}

/* Takes what follows ARGUMENT; *REST is left behind the NULL that ends it. */
static int collect(struct list *list, const char *argument, va_list *rest)
{
	size_t count = argument != NULL;
	va_list counted;
	int error;

	va_copy(counted, *rest);
	while (argument != NULL && va_arg(counted, char *) != NULL)
		count++;
	va_end(counted);
	error = make_room(list, count);
	if (error != 0) {
		errno = -error;
		return -1;
	}
	list->argv[0] = (char *)argument;
	for (size_t i = 1; argument != NULL && i <= count; i++)
		list->argv[i] = va_arg(*rest, char *);
	return 0;
}

static int let_go(const struct list *list, int result)
{
	int saved_errno = errno;

	if (list->size != 0)
		munmap(list->argv, list->size);
	errno = saved_errno;
	return result;
}

HOOK_PLAIN(execl);
int execl(const char *path, const char *argument, ...)
{
	struct list list;
	va_list rest;
	int result;

	va_start(rest, argument);
	result = collect(&list, argument, &rest);
	va_end(rest);
	return result != 0 ? result : let_go(&list, execv(path, list.argv));
}

HOOK_PLAIN(execlp);
int execlp(const char *file, const char *argument, ...)
{
	struct list list;
	va_list rest;
	int result;

	va_start(rest, argument);
	result = collect(&list, argument, &rest);
	va_end(rest);
	return result != 0 ? result : let_go(&list, execvp(file, list.argv));
}

HOOK_PLAIN(execle);
int execle(const char *path, const char *argument, ...)
{
	struct list list;
	va_list rest;
	int result;

	va_start(rest, argument);
	result = collect(&list, argument, &rest);
	list.envp = va_arg(rest, char *const *);
	va_end(rest);
	return result != 0 ? result : let_go(&list, execve(path, list.argv, list.envp));
}
