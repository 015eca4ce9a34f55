/* SPDX-License-Identifier: MIT */
/*
 * publish_test.c - what the handler walks with is whole at any time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "preload/load/publish.h"
#include "preload/sig/thread.h"

static struct range range(uint32_t id, uintptr_t start, uintptr_t end)
{
	return (struct range){ .start = start, .end = end, .id = id };
}

static void add(uint32_t id, uintptr_t start, uintptr_t end)
{
	struct range added = range(id, start, end);

	assert_int_not_equal(publish_add(&added), 0);
}

static int clear(void **unused)
{
	(void)unused;
	for (uint32_t id = 1; id < 200; id++)
		publish_remove(id);
	return 0;
}

static void check_sorted(void)
{
	const struct ranges *ranges = ranges_current();

	for (size_t i = 0; i < ranges->count; i++) {
		assert_true(ranges->range[i].start < ranges->range[i].end);
		if (i > 0)
			assert_true(ranges->range[i - 1].end <= ranges->range[i].start);
	}
}

static void test_sorted_whatever_the_order(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t id = i * 37 % 100 + 1; /* 37 and 100 share no factor */

		add(id, id * 100, id * 100 + 100);
		check_sorted();
	}
	assert_int_equal(ranges_current()->count, 100);
	assert_int_equal(ranges_find(ranges_current(), 5050)->id, 50);
	publish_remove(50);
	assert_null(ranges_find(ranges_current(), 5050));
	assert_int_equal(ranges_find(ranges_current(), 5100)->id, 51);
}

static void test_overlapped_code_is_gone(void **unused)
{
	(void)unused;
	add(1, 100, 200);
	add(2, 200, 300);
	add(3, 300, 400);
	add(4, 150, 301);
	check_sorted();
	assert_int_equal(ranges_current()->count, 1);
	assert_int_equal(ranges_find(ranges_current(), 250)->id, 4);
	assert_null(ranges_find(ranges_current(), 120));
	assert_null(ranges_find(ranges_current(), 350));
}

static void test_generations_rise(void **unused)
{
	uint64_t before = publish_generation();

	(void)unused;
	add(1, 100, 200);
	assert_int_equal(publish_generation(), before + 1);
	assert_int_equal(ranges_current()->generation, before + 1);
}

static void test_nothing_in_use_is_freed(void **unused)
{
	static struct thread block;
	const struct ranges *held;

	(void)unused;
	thread_table.blocks = &block;
	thread_table.capacity = 1;
	atomic_store(&thread_table.count, 1);
	add(1, 100, 200);
	held = ranges_current();
	atomic_store(&block.generation, held->generation); /* a handler is in there */
	add(2, 300, 400);
	publish_reclaim();
	assert_int_equal(held->count, 1); /* the sanitizer would see a freed array */
	assert_int_equal(held->range[0].id, 1);
	atomic_store(&block.generation, 0);
	publish_reclaim();
	atomic_store(&thread_table.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sorted_whatever_the_order, clear),
		cmocka_unit_test_setup(test_overlapped_code_is_gone, clear),
		cmocka_unit_test_setup(test_generations_rise, clear),
		cmocka_unit_test_setup(test_nothing_in_use_is_freed, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
