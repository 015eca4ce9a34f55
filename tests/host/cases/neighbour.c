/* SPDX-License-Identifier: MIT */
/*
 * neighbour.c - another preloaded library, which wraps what the profiler wraps too, in the way that
 * most do: the next definition by RTLD_NEXT, found by the dlsym that is next in turn.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))next(#name))

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *argument)
{
	return NEXT(pthread_create)(thread, attributes, body, argument);
}

int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	return NEXT(sigaction)(signo, action, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return NEXT(pthread_sigmask)(how, set, old);
}

int dlclose(void *handle)
{
	return NEXT(dlclose)(handle);
}

int execve(const char *path, char *const words[], char *const environment[])
{
	return NEXT(execve)(path, words, environment);
}

void __register_frame(const void *begin);
void __register_frame(const void *begin)
{
	NEXT(__register_frame)(begin);
}

void __deregister_frame(const void *begin);
void __deregister_frame(const void *begin)
{
	NEXT(__deregister_frame)(begin);
}
