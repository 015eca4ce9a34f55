/* SPDX-License-Identifier: MIT */
/* askers_test.c - each is asked once, several at a time, and none when time is up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "preload/cmd/fleet/askers.h"

enum { MANY = 1000 };

#define LONG_NS (UINT64_C(60) * 1000 * 1000 * 1000)

static atomic_int asked[MANY];

static void note(void *context, size_t number)
{
	atomic_fetch_add(&asked[number], 1);
	atomic_fetch_add((atomic_int *)context, 1);
}

static void each_is_asked_once(void **unused)
{
	static const size_t counts[] = { 0, 1, 2, ASKERS_MAX - 1, ASKERS_MAX, MANY };

	(void)unused;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		atomic_int all = 0;

		memset(asked, 0, sizeof(asked));
		askers_run(counts[i], LONG_NS, note, &all);
		assert_int_equal(atomic_load(&all), counts[i]);
		for (size_t number = 0; number < MANY; number++)
			assert_int_equal(atomic_load(&asked[number]), number < counts[i]);
	}
}

/* Who is asked waits until all the others are asked too: one after another they never would. */
static void wait_for_all(void *context, size_t number)
{
	(void)number;
	pthread_barrier_wait(context);
}

static void several_are_asked_at_a_time(void **unused)
{
	pthread_barrier_t all;

	(void)unused;
	alarm(60);
	pthread_barrier_init(&all, NULL, ASKERS_MAX);
	askers_run(ASKERS_MAX, LONG_NS, wait_for_all, &all);
	pthread_barrier_destroy(&all);
	alarm(0);
}

static void take_time(void *context, size_t number)
{
	note(context, number);
	usleep(20000);
}

static void none_is_begun_when_time_is_up(void **unused)
{
	atomic_int all = 0;

	(void)unused;
	memset(asked, 0, sizeof(asked));
	askers_run(MANY, 0, note, &all);
	assert_int_equal(atomic_load(&all), 0);
	askers_run(MANY, 10000000, take_time, &all);
	/* Each thread begins one, if that, and may come late. */
	assert_true(atomic_load(&all) <= ASKERS_MAX);
	for (size_t number = 0; number < MANY; number++)
		assert_int_equal(atomic_load(&asked[number]), number < (size_t)atomic_load(&all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_asked_once),
		cmocka_unit_test(several_are_asked_at_a_time),
		cmocka_unit_test(none_is_begun_when_time_is_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
