/* SPDX-License-Identifier: MIT */
/*
 * map_test.c - the map against a plain array, through growth and removal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "preload/load/map.h"

enum { KEYS = 4096, STEPS = 200000 };

static void test_empty(void **unused)
{
	struct map map = { 0 };

	(void)unused;
	assert_int_equal(map_get(&map, 1, 2), 0);
	assert_int_equal(map_remove(&map, 1, 2), 0);
}

static void test_against_an_array(void **unused)
{
	static uint32_t truth[KEYS];
	struct map map = { 0 };
	size_t count = 0;

	(void)unused;
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		uint32_t key = (uint32_t)rand() % KEYS, value = (uint32_t)rand() % 1000 + 1;
		/* Aligned addresses, as handles are: the low bits say nothing. */
		uint64_t a = key * UINT64_C(4096), b = key % 7;

		if (rand() % 2 != 0) {
			assert_int_equal(map_put(&map, a, b, value), 0);
			count += truth[key] == 0;
			truth[key] = value;
		} else {
			assert_int_equal(map_remove(&map, a, b), truth[key]);
			count -= truth[key] != 0;
			truth[key] = 0;
		}
		assert_int_equal(map.count, count);
	}
	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(map_get(&map, key * UINT64_C(4096), key % 7), truth[key]);
	assert_true(map.capacity <= 4 * KEYS);
	free(map.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_against_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
