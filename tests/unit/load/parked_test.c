/* SPDX-License-Identifier: MIT */
/* parked_test.c - how long futures were not polled, whoever looks when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "preload/base/config.h"
#include "preload/base/stats.h"
#include "preload/load/parked.h"

enum { INSTANCES = 8, MS = 1000000 };

static struct config config = { .wall = true };
static uint64_t waited_ns[INSTANCES];
static char futures[8192 * 16]; /* addresses */

static void *future(int number)
{
	return &futures[number * 16 + 16];
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pass(uint64_t ns)
{
	uint64_t end_ns = now_ns() + ns;

	while (now_ns() < end_ns)
		continue;
}

static void add(void *context, uint32_t instance, uint64_t wall_ns)
{
	(void)context;
	assert_true(instance < INSTANCES);
	waited_ns[instance] += wall_ns;
}

static void collect(void)
{
	parked_collect(add, NULL);
}

static int reset(void **unused)
{
	(void)unused;
	config_set_current(&config);
	config.wall = true;
	collect();
	memset(waited_ns, 0, sizeof(waited_ns));
	return 0;
}

static void time_counts_from_poll_to_poll(void **unused)
{
	uint64_t began_ns = now_ns(), parked_ns, polled_ns;

	(void)unused;
	parked_begin(future(0), 3);
	pass(2 * MS);
	collect();
	assert_true(waited_ns[3] >= 2 * MS && waited_ns[3] <= now_ns() - began_ns);
	pass(2 * MS);
	parked_end(future(0));
	parked_ns = now_ns() - began_ns;
	/* While it is polled it does not wait. */
	pass(20 * MS);
	collect();
	assert_true(waited_ns[3] >= 4 * MS && waited_ns[3] <= parked_ns);
	polled_ns = now_ns();
	parked_begin(future(0), 3);
	pass(1 * MS);
	parked_forget(future(0));
	parked_ns += now_ns() - polled_ns;
	/* It is gone, but what it waited is not. */
	collect();
	assert_true(waited_ns[3] >= 5 * MS && waited_ns[3] <= parked_ns);
	parked_ns = waited_ns[3];
	pass(2 * MS);
	collect();
	assert_int_equal(waited_ns[3], parked_ns);
}

/* Of a wait that goes on only what comes after counts. */
static void what_was_is_skipped(void **unused)
{
	uint64_t skipped_ns;

	(void)unused;
	parked_begin(future(5), 5);
	parked_begin(future(6), 6);
	pass(20 * MS);
	parked_end(future(6));
	skipped_ns = now_ns();
	parked_skip();
	pass(1 * MS);
	collect();
	assert_true(waited_ns[5] >= 1 * MS && waited_ns[5] <= now_ns() - skipped_ns);
	assert_int_equal(waited_ns[6], 0);
	parked_forget(future(5));
	parked_forget(future(6));
}

static void an_address_is_used_again(void **unused)
{
	(void)unused;
	parked_begin(future(1), 1);
	pass(1 * MS);
	parked_forget(future(1));
	parked_begin(future(1), 2);
	pass(2 * MS);
	collect();
	assert_true(waited_ns[1] >= 1 * MS);
	assert_true(waited_ns[2] >= 2 * MS);
	parked_forget(future(1));
}

static void what_is_not_known_is_left_alone(void **unused)
{
	(void)unused;
	parked_end(future(2));
	parked_forget(future(2));
	parked_begin(NULL, 4);
	parked_begin(future(2), 0);
	parked_end(NULL);
	parked_forget(NULL);
	pass(1 * MS);
	collect();
	for (int i = 0; i < INSTANCES; i++)
		assert_int_equal(waited_ns[i], 0);
}

static void nothing_without_being_asked_for(void **unused)
{
	(void)unused;
	config.wall = false;
	parked_begin(future(3), 4);
	pass(1 * MS);
	config.wall = true;
	collect();
	assert_int_equal(waited_ns[4], 0);
}

static void more_than_there_is_room_for(void **unused)
{
	uint64_t before = stat_get(STAT_PARKED_TOO_MANY);

	(void)unused;
	for (int i = 0; i < 6000; i++)
		parked_begin(future(i), 5);
	assert_true(stat_get(STAT_PARKED_TOO_MANY) - before >= 6000 - 4096);
	for (int i = 0; i < 6000; i++)
		parked_forget(future(i));
	collect();
	/* All slots were given back. */
	before = stat_get(STAT_PARKED_TOO_MANY);
	for (int i = 0; i < 100; i++) {
		parked_begin(future(i), 5);
		parked_forget(future(i));
	}
	assert_int_equal(stat_get(STAT_PARKED_TOO_MANY), before);
}

static void *poll_often(void *argument)
{
	int number = (int)(intptr_t)argument;

	for (int i = 0; i < 20000; i++) {
		parked_begin(future(number), 6);
		parked_end(future(number));
	}
	parked_forget(future(number));
	return NULL;
}

/* No time is counted twice, whatever the moment at which we come by. */
static void threads_poll_while_we_collect(void **unused)
{
	uint64_t began_ns = now_ns(), took_ns;
	pthread_t threads[2];

	(void)unused;
	for (intptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, poll_often, (void *)(20 + i)),
				 0);
	for (int i = 0; i < 200; i++)
		collect();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	took_ns = now_ns() - began_ns;
	collect();
	assert_in_range(waited_ns[6], 1, 2 * took_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(time_counts_from_poll_to_poll, reset),
		cmocka_unit_test_setup(what_was_is_skipped, reset),
		cmocka_unit_test_setup(an_address_is_used_again, reset),
		cmocka_unit_test_setup(what_is_not_known_is_left_alone, reset),
		cmocka_unit_test_setup(nothing_without_being_asked_for, reset),
		cmocka_unit_test_setup(more_than_there_is_room_for, reset),
		cmocka_unit_test_setup(threads_poll_while_we_collect, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
