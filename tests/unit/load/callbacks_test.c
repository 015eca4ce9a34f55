/* SPDX-License-Identifier: MIT */
/* callbacks_test.c - names under which the host gave its functions to an engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/load/callbacks.h"

static void add(uintptr_t function, const char *module, const char *name)
{
	callbacks_add(function, module, strlen(module), name, strlen(name));
}

static void test_names(void **state)
{
	char name[CALLBACKS_NAME];

	(void)state;
	assert_false(callbacks_find(0x1000, name));
	add(0x1000, "env", "log");
	add(0x2000, "env", "read");
	assert_true(callbacks_find(0x1000, name));
	assert_string_equal(name, "env.log");
	assert_true(callbacks_find(0x2000, name));
	assert_string_equal(name, "env.read");
	assert_false(callbacks_find(0x1001, name));
	/* the same again is no contradiction */
	add(0x1000, "env", "log");
	assert_true(callbacks_find(0x1000, name));
}

/* One function under two names (a binding's trampoline): which is meant cannot be told. */
static void test_ambiguous(void **state)
{
	char name[CALLBACKS_NAME];

	(void)state;
	add(0x3000, "env", "a");
	add(0x3000, "env", "b");
	assert_false(callbacks_find(0x3000, name));
	add(0x3000, "env", "a");
	assert_false(callbacks_find(0x3000, name));
	add(0, "env", "null");
	assert_false(callbacks_find(0, name));
}

static void test_odd_names(void **state)
{
	char name[CALLBACKS_NAME], longer[300];

	(void)state;
	callbacks_add(0x4000, "e\nv", 3, "\0x", 2);
	assert_true(callbacks_find(0x4000, name));
	assert_string_equal(name, "e?v.?x");
	memset(longer, 'y', sizeof(longer));
	callbacks_add(0x5000, longer, sizeof(longer), longer, sizeof(longer));
	assert_true(callbacks_find(0x5000, name));
	assert_int_equal(strlen(name), CALLBACKS_NAME - 1);
}

static void test_bounded(void **state)
{
	char name[CALLBACKS_NAME];
	uintptr_t function;

	(void)state;
	for (function = 0x100000; function < 0x100000 + 5000; function++)
		add(function, "env", "many");
	assert_true(callbacks_find(0x100000, name));
	assert_false(callbacks_find(0x100000 + 4999, name));
	assert_true(callbacks_find(0x1000, name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
