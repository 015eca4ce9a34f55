/* SPDX-License-Identifier: MIT */
/*
 * wake_test.c - no wake is lost, in a futex or in poll, and the host's signals stay the host's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "preload/wake.h"

enum { WAKES = 1000 };

#define SECOND_NS UINT64_C(1000000000)

static int pipe_ends[2];
static atomic_int jobs, done;
static atomic_bool is_over, polls;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Takes up jobs; sleeps without limit in between, so that one lost wake is a hang. */
static void *our_thread(void *unused)
{
	const struct pollfd descriptor = { .fd = pipe_ends[0], .events = POLLIN };
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!atomic_load(&is_over)) {
		int seen = wake_seen();

		if (atomic_load(&done) < atomic_load(&jobs))
			atomic_fetch_add(&done, 1);
		else
			wake_wait(seen, UINT64_MAX, &descriptor, atomic_load(&polls));
	}
	return unused;
}

static void wait_until_done(void)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + 60 * SECOND_NS;

	while (atomic_load(&done) < atomic_load(&jobs)) {
		assert_true(now_ns(CLOCK_MONOTONIC) < end);
		sched_yield();
	}
}

static void *wake_often(void *unused)
{
	for (int i = 0; i < WAKES / 2; i++) {
		atomic_fetch_add(&jobs, 1);
		wake_up();
		if (i % 64 == 0)
			wait_until_done();
	}
	return unused;
}

static void no_wake_is_lost(void **state)
{
	pthread_t ours, other;

	(void)state;
	wake_fork_child(); /* another thread is ours now: a signalfd knows the one that reads it */
	atomic_store(&is_over, false);
	atomic_store(&jobs, 0);
	atomic_store(&done, 0);
	pthread_create(&ours, NULL, our_thread, NULL);
	pthread_create(&other, NULL, wake_often, NULL);
	wake_often(NULL);
	pthread_join(other, NULL);
	wait_until_done();
	assert_int_equal(atomic_load(&done), WAKES);
	atomic_store(&is_over, true);
	wake_up();
	pthread_join(ours, NULL);
}

static void by_futex(void **state)
{
	atomic_store(&polls, false);
	no_wake_is_lost(state);
}

static void by_poll(void **state)
{
	atomic_store(&polls, true);
	no_wake_is_lost(state);
}

/* All threads of a host may block the signal, one sent to the process then waits for sigwait(). */
static void signals_of_the_host_stay(void **state)
{
	const struct pollfd descriptor = { .fd = pipe_ends[0], .events = POLLIN };
	const struct timespec none = { 0 };
	uint64_t start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	sigset_t urgent, before;

	(void)state;
	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, &before);
	kill(getpid(), SIGURG);
	while (now_ns(CLOCK_MONOTONIC) - start < SECOND_NS)
		wake_wait(wake_seen(), UINT64_MAX, &descriptor, 1);
	/* It kept us awake some times, and not for ever. */
	assert_true(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu < SECOND_NS / 4);
	assert_int_equal(sigtimedwait(&urgent, NULL, &none), SIGURG);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void limits_are_kept(void **state)
{
	const struct pollfd descriptor = { .fd = pipe_ends[0], .events = POLLIN };
	uint64_t start = now_ns(CLOCK_MONOTONIC);

	(void)state;
	wake_wait(wake_seen(), SECOND_NS / 50, &descriptor, 1);
	wake_wait(wake_seen(), SECOND_NS / 50, NULL, 0);
	assert_true(now_ns(CLOCK_MONOTONIC) - start >= SECOND_NS / 25);
	/* Woken since: no sleep at all. */
	wake_up();
	wake_wait(wake_seen() - 1, UINT64_MAX, &descriptor, 1);
	wake_wait(wake_seen() - 1, UINT64_MAX, NULL, 0);
	/* Something to read. */
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	wake_wait(wake_seen(), UINT64_MAX, &descriptor, 1);
}

static int open_pipe(void **state)
{
	(void)state;
	return pipe(pipe_ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_futex),
		cmocka_unit_test(by_poll),
		cmocka_unit_test(signals_of_the_host_stay),
		cmocka_unit_test(limits_are_kept),
	};

	return cmocka_run_group_tests(tests, open_pipe, NULL);
}
