/* SPDX-License-Identifier: MIT */
/* calls_test.c - counted host calls become rows of groups, and the longest ones intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/base/clock.h"
#include "preload/base/stats.h"
#include "preload/load/hostcalls.h"
#include "preload/profile/calls.h"
#include "tests/unit/profile/fakes.h"

static struct texts texts;
static struct groups groups;
static struct calls calls;
static struct config config;

static int set_up(void **state)
{
	(void)state;
	hostcalls_fork_child();
	memset(&calls, 0, sizeof(calls));
	memset(&groups, 0, sizeof(groups));
	memset(&texts, 0, sizeof(texts));
	return texts_init(&texts, 1 << 20) != 0 || groups_init(&groups, &texts, &config) != 0;
}

static int tear_down(void **state)
{
	(void)state;
	calls_fini(&calls);
	groups_fini(&groups);
	texts_fini(&texts);
	return 0;
}

static void call(const char *name, uint64_t ns)
{
	hostcalls_count(hostcalls_name("env", 3, name, strlen(name)), 0,
			clock_ns(CLOCK_MONOTONIC) - ns);
}

static struct chunk fill(size_t known, uint64_t start_ns)
{
	struct chunk chunk = { 0 };

	calls_collect(&calls, &groups, NULL);
	calls_fill(&calls, &groups, &chunk, known, start_ns);
	return chunk;
}

/* Totals so far, told when they changed. */
static void test_sums(void **state)
{
	struct chunk chunk;

	(void)state;
	for (int i = 0; i < 3; i++)
		call("log", 1000);
	chunk = fill(SIZE_MAX, 0);
	assert_int_equal(chunk.hostcall_count, 1);
	assert_string_equal(texts.rows[chunk.hostcalls[0].name], "env.log");
	assert_int_equal(chunk.hostcalls[0].count, 3);
	assert_true(chunk.hostcalls[0].total_ns >= 3000);
	assert_int_equal(chunk.interval_count, 3);
	assert_int_equal(fill(SIZE_MAX, 0).hostcall_count, 0);
	call("log", 1000);
	call("read", 1000);
	chunk = fill(SIZE_MAX, 0);
	assert_int_equal(chunk.hostcall_count, 2);
	assert_int_equal(chunk.hostcalls[0].count, 4);
	assert_int_equal(chunk.hostcalls[1].count, 1);
	/* another recording begins at nothing */
	calls_restart(&calls);
	call("read", 1000);
	chunk = fill(SIZE_MAX, 0);
	assert_int_equal(chunk.hostcall_count, 1);
	assert_int_equal(chunk.hostcalls[0].count, 1);
}

/* Not before a chunk has the texts. */
static void test_waits_for_texts(void **state)
{
	(void)state;
	call("log", 1000);
	assert_int_equal(fill(0, 0).hostcall_count, 0);
	assert_true(calls_need_texts(&calls, &groups, 0));
	assert_false(calls_need_texts(&calls, &groups, SIZE_MAX));
	assert_int_equal(fill(SIZE_MAX, 0).hostcall_count, 1);
	assert_false(calls_need_texts(&calls, &groups, 0));
}

/* Of many calls the longest are kept; what began before the recording is cut to it. */
static void test_intervals(void **state)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct chunk chunk;

	(void)state;
	for (int i = 0; i < 3 * CALLS_SPANS; i++)
		call("short", 100);
	call("long", UINT64_C(5000000000));
	chunk = fill(SIZE_MAX, now_ns - 1000000000);
	/* calls that take equally long share the room that there is for them */
	assert_in_range(chunk.interval_count, 100, CALLS_SPANS);
	assert_string_equal(chunk.intervals[0].name, "env.long");
	assert_int_equal(chunk.intervals[0].start_ns, 0);
	assert_in_range(chunk.intervals[0].duration_ns, 1000000000, 2000000000);
	assert_int_equal(chunk.interval_count + calls.dropped, 3 * CALLS_SPANS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_waits_for_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_intervals, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
