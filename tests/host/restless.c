/* SPDX-License-Identifier: MIT */
/*
 * restless.c - a host function that waits in every way that a signal can end with EINTR, and counts
 * how often one did. Each thread has its own descriptors.
 */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

enum { SHORT_NS = 20000, SHORT_US = 200, SHORT_MS = 1 };

static atomic_ullong calls, interrupted;
static atomic_bool was_used;

/* Of one thread, opened at its first call and closed with it. */
struct ways {
	int timer, listener, nothing, epoll;
};

static void count(long result)
{
	atomic_fetch_add(&calls, 1);
	if (result == -1 && errno == EINTR)
		atomic_fetch_add(&interrupted, 1);
}

static void open_ways(struct ways *ways)
{
	struct timeval timeout = { .tv_usec = SHORT_US };
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct epoll_event event = { .events = EPOLLIN };

	ways->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	ways->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ways->nothing = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	ways->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (bind(ways->listener, (struct sockaddr *)&any, sizeof(any)) != 0 ||
	    listen(ways->listener, 1) != 0 ||
	    setsockopt(ways->listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0 ||
	    epoll_ctl(ways->epoll, EPOLL_CTL_ADD, ways->nothing, &event) != 0) {
		perror("host: restless");
		exit(1);
	}
}

static void close_ways(const struct ways *ways)
{
	close(ways->timer);
	close(ways->listener);
	close(ways->nothing);
	close(ways->epoll);
}

static void wait_each_way(const struct ways *ways)
{
	const struct timespec brief = { .tv_nsec = SHORT_NS };
	const struct itimerspec once = { .it_value = brief };
	struct pollfd wanted = { .fd = ways->nothing, .events = POLLIN };
	struct epoll_event event;
	uint64_t expirations;
	uint32_t word = 0;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMAX);
	timerfd_settime(ways->timer, 0, &once, NULL);
	count(read(ways->timer, &expirations, sizeof(expirations)));
	count(accept(ways->listener, NULL, NULL));
	count(poll(&wanted, 1, SHORT_MS));
	count(epoll_wait(ways->epoll, &event, 1, SHORT_MS));
	count(nanosleep(&brief, NULL));
	count(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &brief, NULL, 0));
	count(sigtimedwait(&signals, NULL, &brief));
}

wasm_trap_t *restless_wait(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			   size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	struct ways ways;

	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	atomic_store(&was_used, true);
	open_ways(&ways);
	for (int32_t i = 0; i < args[0].of.i32; i++)
		wait_each_way(&ways);
	close_ways(&ways);
	return NULL;
}

void restless_print(void)
{
	if (atomic_load(&was_used))
		printf("restless: %llu calls, %llu interrupted\n", atomic_load(&calls),
		       atomic_load(&interrupted));
}
