/* SPDX-License-Identifier: MIT */
/*
 * spy.c - preloaded beside the profiler: ends the program when a handler of the profiler's reaches
 * what may not be called there. Such a handler is known by its mask: all but the synchronous
 * signals are blocked, and SIGSEGV is not.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);

static bool in_handler(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
	return (mask >> (SIGPROF - 1) & 1) != 0 && (mask >> (SIGUSR1 - 1) & 1) != 0 &&
	       (mask >> (SIGTERM - 1) & 1) != 0 && (mask >> (SIGSEGV - 1) & 1) == 0;
}

static void look(const char *what)
{
	if (!in_handler())
		return;
	(void)!write(STDERR_FILENO, "spy: in a handler: ", 19);
	(void)!write(STDERR_FILENO, what, strlen(what));
	(void)!write(STDERR_FILENO, "\n", 1);
	syscall(SYS_exit_group, 90);
}

void *malloc(size_t size)
{
	look("malloc");
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	look("calloc");
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	look("realloc");
	return __libc_realloc(old, size);
}

void free(void *memory)
{
	look("free");
	__libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (real == NULL)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	look("pthread_mutex_lock");
	return real(mutex);
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (real == NULL)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	look("dl_iterate_phdr");
	return real(visit, context);
}
