/* SPDX-License-Identifier: MIT */
/* spans_test.c - of many calls the longest are kept, and the others counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/load/spans.h"

enum { THREADS = 4, PER_THREAD = 20000 };

struct seen {
	size_t count, most;
	uint64_t durations[1024];
	struct span last;
};

static bool see(void *context, const struct span *span)
{
	struct seen *seen = context;

	if (seen->count == seen->most)
		return false;
	seen->durations[seen->count++] = span->duration_ns;
	seen->last = *span;
	return true;
}

static int empty(void **state)
{
	(void)state;
	spans_collect(NULL, NULL);
	return 0;
}

static void test_one(void **state)
{
	struct seen seen = { .most = 10 };

	(void)state;
	spans_add(7, 1000, 250);
	assert_int_equal(spans_collect(see, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last.name, 7);
	assert_int_equal(seen.last.start_ns, 1000);
	assert_int_equal(seen.last.duration_ns, 250);
	assert_int_equal(seen.last.thread_id, syscall(SYS_gettid));
	/* each is told once */
	assert_int_equal(spans_collect(see, &seen), 0);
	assert_int_equal(seen.count, 1);
}

/* However many short ones came before and after, the long ones are there, and come first. */
static void test_longest(void **state)
{
	struct seen seen = { .most = 5 };
	uint64_t left;

	(void)state;
	for (int i = 0; i < 100000; i++)
		spans_add(1, 0, 900 + (uint64_t)i % 100);
	for (uint64_t i = 0; i < 5; i++)
		spans_add(2, 0, 1000000 << i);
	for (int i = 0; i < 1000; i++)
		spans_add(1, 0, 0);
	left = spans_collect(see, &seen);
	assert_int_equal(seen.count, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(seen.durations[i], 1000000 << (4 - i));
	assert_int_equal(left, 101000);
}

static void test_extremes(void **state)
{
	struct seen seen = { .most = 10 };

	(void)state;
	spans_add(1, UINT64_MAX, UINT64_MAX);
	spans_add(1, 0, 0);
	spans_add(1, 0, UINT64_C(1) << 63);
	assert_int_equal(spans_collect(see, &seen), 0);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.last.duration_ns, 0);
}

static void *add_many(void *unused)
{
	for (uint64_t i = 0; i < PER_THREAD; i++)
		spans_add(3, i, i % 5000);
	return unused;
}

/* While threads add, none is told twice and none is lost sight of. */
static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	uint64_t told = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
	for (int i = 0; i < 50; i++) {
		struct seen seen = { .most = 1024 };

		told += spans_collect(see, &seen);
		told += seen.count;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		struct seen seen = { .most = 1024 };

		told += spans_collect(see, &seen);
		told += seen.count;
	}
	assert_int_equal(told, THREADS * PER_THREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one, empty),
		cmocka_unit_test_setup(test_longest, empty),
		cmocka_unit_test_setup(test_extremes, empty),
		cmocka_unit_test_setup(test_threads, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
