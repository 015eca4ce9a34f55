/* SPDX-License-Identifier: MIT */
/* pairs_test.c - numbers given to pairs stay with them while the table grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/pairs.h"

static void numbers_in_order_of_first_sight(void **state)
{
	struct pairs pairs = { 0 };

	(void)state;
	assert_int_equal(pairs_find(&pairs, 1, 2), PAIRS_NONE);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(pairs_id(&pairs, i % 317, i / 317), i);
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(pairs_id(&pairs, i % 317, i / 317), i);
		assert_int_equal(pairs_find(&pairs, i % 317, i / 317), i);
	}
	assert_int_equal(pairs.count, 100000);
	assert_int_equal(pairs_find(&pairs, 317, 0), PAIRS_NONE);
	pairs_free(&pairs);
}

static void tells_the_halves_apart(void **state)
{
	struct pairs pairs = { 0 };

	(void)state;
	assert_int_equal(pairs_id(&pairs, 1, 2), 0);
	assert_int_equal(pairs_id(&pairs, 2, 1), 1);
	assert_int_equal(pairs_id(&pairs, 0, 0), 2);
	assert_int_equal(pairs_id(&pairs, UINT64_MAX, UINT64_MAX), 3);
	assert_int_equal(pairs_find(&pairs, 0, 0), 2);
	pairs_free(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_in_order_of_first_sight),
		cmocka_unit_test(tells_the_halves_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
