/* SPDX-License-Identifier: MIT */
/* names_test.c - equal texts have one number, and the texts are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/names.h"

#include <stdio.h>

static void keeps_texts_by_number(void **state)
{
	struct names names = { 0 };
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		assert_int_equal(names_id(&names, text), i);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		assert_int_equal(names_id(&names, text), i);
		assert_string_equal(names.texts[i], text);
	}
	assert_int_equal(names_id(&names, ""), 20000);
	names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_texts_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
