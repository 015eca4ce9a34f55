/* SPDX-License-Identifier: MIT */
/* hostcalls_test.c - every call is counted once, for the module that called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"
#include "preload/load/spans.h"

enum { THREADS = 4, PER_THREAD = 50000, SUMS = 64 };

struct seen {
	struct hostcalls_sum sums[SUMS];
	size_t count;
};

static void see(void *context, const struct hostcalls_sum *sum)
{
	struct seen *seen = context;

	assert_true(seen->count < SUMS);
	seen->sums[seen->count++] = *sum;
}

static int empty(void **state)
{
	(void)state;
	hostcalls_fork_child();
	return 0;
}

static uint32_t name_of(const char *module, const char *name)
{
	return hostcalls_name(module, strlen(module), name, strlen(name));
}

static void test_names(void **state)
{
	uint32_t log = name_of("env", "log");

	(void)state;
	assert_true(log > HOSTCALLS_OTHER);
	assert_int_equal(name_of("env", "log"), log);
	assert_int_not_equal(name_of("env", "lag"), log);
	assert_string_equal(hostcalls_text(log), "env.log");
	assert_string_equal(hostcalls_text(hostcalls_name(NULL, 0, "log", 3)), "log");
	assert_string_equal(hostcalls_text(HOSTCALLS_NO_NAME), "(host function)");
	assert_string_equal(hostcalls_text(UINT32_MAX), "(other)");
	assert_string_equal(hostcalls_text(HOSTCALLS_NAMES - 1), "(other)");
}

static void test_counts(void **state)
{
	uint32_t name = name_of("env", "count");
	struct seen seen = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		hostcalls_count(name, 5, clock_ns(CLOCK_MONOTONIC) - 1000);
	hostcalls_count(name, 6, clock_ns(CLOCK_MONOTONIC) - 1000000);
	/* a clock that stepped back is no call of 500 years */
	hostcalls_count(HOSTCALLS_NO_NAME, 0, UINT64_MAX);
	hostcalls_collect(see, &seen);
	assert_int_equal(seen.count, 3);
	for (size_t i = 0; i < seen.count; i++) {
		const struct hostcalls_sum *sum = &seen.sums[i];

		if (sum->loading == 0) {
			assert_int_equal(sum->name, HOSTCALLS_NO_NAME);
			assert_int_equal(sum->total_ns, 0);
			continue;
		}
		assert_int_equal(sum->name, name);
		assert_int_equal(sum->count, sum->loading == 5 ? 3 : 1);
		assert_true(sum->total_ns >= (sum->loading == 5 ? 3000 : 1000000));
		assert_true(sum->longest_ns >= sum->total_ns / sum->count);
		assert_true(sum->longest_ns <= sum->total_ns);
	}
	seen.count = 0;
	hostcalls_collect(see, &seen);
	assert_int_equal(seen.count, 0);
}

static bool on_span(void *context, const struct span *span)
{
	(void)span;
	++*(int *)context;
	return true;
}

static void test_forgets(void **state)
{
	uint32_t name = name_of("env", "forget");
	struct seen seen = { 0 };
	int spans = 0;

	(void)state;
	hostcalls_count(name, 5, clock_ns(CLOCK_MONOTONIC) - 1000);
	hostcalls_forget();
	hostcalls_count(name, 5, clock_ns(CLOCK_MONOTONIC) - 1000);
	hostcalls_collect(see, &seen);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.sums[0].count, 1);
	assert_int_equal(spans_collect(on_span, &spans), 0);
	assert_int_equal(spans, 1);
}

/* The innermost guest's module, as soon as that is known. */
static void test_caller(void **state)
{
	static struct thread block;
	uint32_t instance = instance_for((struct instance_key){ 1, 2 }, 0);
	struct activation activation;

	(void)state;
	assert_int_equal(hostcalls_caller(), 0);
	sig_self = &block;
	assert_int_equal(hostcalls_caller(), 0);
	activation = guest_enter(instance, (uintptr_t)&block, 0, NULL, 0);
	assert_int_equal(hostcalls_caller(), 0);
	instance_for((struct instance_key){ 1, 2 }, 9);
	assert_int_equal(hostcalls_caller(), 9);
	assert_int_equal(hostcalls_caller(), 9);
	guest_leave(activation);
	assert_int_equal(hostcalls_caller(), 0);
	sig_self = NULL;
}

static void test_too_many_names(void **state)
{
	char text[32];
	uint32_t other = 0;

	(void)state;
	for (int i = 0; i < 3 * HOSTCALLS_NAMES; i++) {
		int length = snprintf(text, sizeof(text), "f%d", i);

		other += hostcalls_name("many", 4, text, (size_t)length) == HOSTCALLS_OTHER;
	}
	assert_true(other >= 2 * HOSTCALLS_NAMES);
	assert_string_equal(hostcalls_text(HOSTCALLS_OTHER), "(other)");
}

static void *count_many(void *name)
{
	for (uint32_t i = 0; i < PER_THREAD; i++)
		hostcalls_count(*(uint32_t *)name, i % 3, clock_ns(CLOCK_MONOTONIC));
	return NULL;
}

static void test_threads(void **state)
{
	uint32_t name = name_of("env", "log");
	pthread_t threads[THREADS];
	struct seen seen = { 0 };
	uint64_t count = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_many, &name), 0);
	for (int i = 0; i < 10; i++)
		hostcalls_collect(see, &seen);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	hostcalls_collect(see, &seen);
	for (size_t i = 0; i < seen.count; i++)
		count += seen.sums[i].count;
	assert_int_equal(count, THREADS * PER_THREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, empty),
		cmocka_unit_test_setup(test_counts, empty),
		cmocka_unit_test_setup(test_forgets, empty),
		cmocka_unit_test_setup(test_caller, empty),
		cmocka_unit_test_setup(test_threads, empty),
		cmocka_unit_test_setup(test_too_many_names, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
