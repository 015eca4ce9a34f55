/* SPDX-License-Identifier: MIT */
/* say_test.c - numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/say.h"

static void writes_numbers_in_threes(void **state)
{
	char text[SAY_COUNT_SIZE];

	(void)state;
	assert_string_equal(say_count(text, 0), "0");
	assert_string_equal(say_count(text, 999), "999");
	assert_string_equal(say_count(text, 4210), "4,210");
	assert_string_equal(say_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_numbers_in_threes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
