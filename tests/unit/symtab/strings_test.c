/* SPDX-License-Identifier: MIT */
/*
 * strings_test.c - texts keep their place while the block grows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/strings.h"

#include <errno.h>

#include <stdio.h>
#include <string.h>

static void finds_every_text_again(void **state)
{
	struct strings strings = { 0 };
	struct span spans[1000];
	char text[32];
	int i, length;

	(void)state;
	for (i = 0; i < 1000; i++) {
		length = snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(strings_add(&strings, text, (size_t)length, &spans[i]), 0);
	}
	strings_trim(&strings);
	for (i = 0; i < 1000; i++) {
		length = snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(spans[i].length, length);
		assert_memory_equal(strings.bytes + spans[i].offset, text, (size_t)length);
	}
	strings_fini(&strings);
}

static void extends_the_last(void **state)
{
	struct strings strings = { 0 };
	struct span span;

	(void)state;
	assert_int_equal(strings_add(&strings, NULL, 0, &span), 0);
	assert_int_equal(span.length, 0);
	assert_int_equal(strings_add(&strings, "env", 3, &span), 0);
	assert_int_equal(strings_extend(&strings, ".call", 5, &span), 0);
	assert_int_equal(span.length, 8);
	assert_memory_equal(strings.bytes + span.offset, "env.call", 8);
	strings_fini(&strings);
	strings_trim(&strings);
}

static void refuses_more_than_4_gib(void **state)
{
	struct strings strings = { .used = UINT32_MAX - 1 };
	struct span span;

	(void)state;
	assert_int_equal(strings_add(&strings, "ab", 2, &span), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_every_text_again),
		cmocka_unit_test(extends_the_last),
		cmocka_unit_test(refuses_more_than_4_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
