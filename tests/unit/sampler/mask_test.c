/* SPDX-License-Identifier: MIT */
/* mask_test.c - a thread that blocks the clock's signal sees none of it, and its clock comes back.
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

#include "preload/base/clock.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/hook/hook.h"
#include "preload/sampler/mask.h"
#include "preload/sampler/sampler.h"
#include "preload/sig/handler.h"
#include "preload/sig/thread.h"

enum { RING_MEMORY = 16 << 20, BLOCKED_MS = 60, OPEN_MS = 100, DEADLINE_S = 20 };

static atomic_bool is_over;

/* In the place of our thread: a turn a millisecond. */
static void *take_turns(void *unused)
{
	hook_begin();
	while (!atomic_load(&is_over)) {
		sampler_work(clock_ns(CLOCK_MONOTONIC));
		usleep(1000);
	}
	return unused;
}

static void burn(unsigned int ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * UINT64_C(1000000);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

static bool signals_come(void)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + DEADLINE_S * UINT64_C(1000000000);
	unsigned long long before = stat_get(STAT_SIGNALS);

	while (stat_get(STAT_SIGNALS) < before + 3)
		if (clock_ns(CLOCK_MONOTONIC) > end)
			return false;
	return true;
}

static bool is_pending(int signo)
{
	sigset_t pending;

	sigemptyset(&pending);
	sigpending(&pending);
	return sigismember(&pending, signo) == 1;
}

/* On a thread of our own: cmocka's assertions are for the test's. */
#define CHECK(condition)                              \
	do {                                          \
		if (!(condition) && failed_line == 0) \
			failed_line = __LINE__;       \
	} while (0)

static volatile int failed_line;

static void block_and_open(int signo)
{
	unsigned long long before;
	sigset_t all, mask;

	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &mask) == 0);
	before = stat_get(STAT_SIGNALS);
	burn(BLOCKED_MS);
	CHECK(!is_pending(signo));
	CHECK(stat_get(STAT_SIGNALS) == before);
	CHECK(sigprocmask(SIG_SETMASK, &mask, NULL) == 0);
	CHECK(signals_come());
}

static void *masks(void *unused)
{
	struct thread *thread = state.adopt_thread();
	int signo = sampler_info().signal;
	sigset_t all;

	CHECK(thread != NULL);
	CHECK(signals_come());
	for (int i = 0; i < 5; i++)
		block_and_open(signo);
	/* What fails changes nothing, and tells errno as ever. */
	sigfillset(&all);
	errno = 0;
	CHECK(sigprocmask(77, &all, NULL) == -1);
	CHECK(errno == EINVAL);
	CHECK(pthread_sigmask(77, &all, NULL) == EINVAL);
	CHECK(signals_come());
	/* As exec does. */
	mask_pause();
	CHECK(!is_pending(signo));
	mask_resume();
	CHECK(signals_come());
	sampler_thread_ends();
	return unused;
}

static void run_at(uint32_t hz)
{
	pthread_t turns, thread;

	atomic_store(&is_over, false);
	assert_int_equal(sampler_start(hz, RING_MEMORY), 0);
	/* Not a host's: before threads are given clocks. */
	assert_int_equal(pthread_create(&turns, NULL, take_turns, NULL), 0);
	atomic_store(&state.on, true);
	atomic_store(&state.sampling, true);
	assert_int_equal(pthread_create(&thread, NULL, masks, NULL), 0);
	pthread_join(thread, NULL);
	sampler_stop();
	atomic_store(&is_over, true);
	pthread_join(turns, NULL);
	assert_int_equal(failed_line, 0);
	atomic_store(&state.sampling, false);
	atomic_store(&state.on, false);
}

static void by_timers(void **unused)
{
	(void)unused;
	run_at(100);
}

static void by_perf_events(void **unused)
{
	(void)unused;
	run_at(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_timers),
		cmocka_unit_test(by_perf_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
