/* SPDX-License-Identifier: MIT */
/*
 * leavers.c - a host whose threads all leave one by one, the main thread first or last: libc ends
 * it by exit(0) on the last of them. Arguments: the guest, who is last (main, thread, return,
 * raw), CPU ms of each of three threads.
 *
 * What it prints stays in stdio's buffer until then. `raw`: threads that end by a system call of
 * their own, past libc, so that nothing is flushed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

static const char *last;
static pthread_t main_thread;
static unsigned int cpu_ms;

static void at_exit(void)
{
	printf("handlers run on %s\n",
	       pthread_equal(pthread_self(), main_thread) ? "the main thread" : "another");
}

static void leave(void)
{
	if (strcmp(last, "raw") == 0)
		syscall(SYS_exit, 7);
	if (strcmp(last, "return") != 0)
		pthread_exit(NULL);
}

/* The first joins nobody; the second outlives it. */
static void *work(void *other)
{
	guest_burn(cpu_ms);
	if (other != NULL)
		pthread_join(*(pthread_t *)other, NULL);
	if (strcmp(last, "main") != 0)
		pthread_join(main_thread, NULL);
	leave();
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t threads[2];

	guest_expect(argc == 4, "usage: leavers GUEST WAY CPU_MS");
	last = argv[2];
	cpu_ms = (unsigned int)atoi(argv[3]);
	main_thread = pthread_self();
	guest_load_without_threads(argv[1]);
	atexit(at_exit);
	printf("three threads\n");
	for (int i = 0; i < 2; i++)
		guest_expect(pthread_create(&threads[i], NULL, work, i == 0 ? NULL : &threads[0]) ==
				     0,
			     "a thread");
	guest_burn(cpu_ms);
	if (strcmp(last, "main") == 0)
		pthread_join(threads[1], NULL);
	if (strcmp(last, "raw") == 0)
		syscall(SYS_exit, 7);
	pthread_exit(NULL);
}
