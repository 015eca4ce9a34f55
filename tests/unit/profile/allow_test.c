/* SPDX-License-Identifier: MIT */
/*
 * allow_test.c - the list of modules: globs, blanks, and lists that list nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "preload/profile/allow.h"

static void test_no_list_allows_all(void **unused)
{
	(void)unused;
	assert_true(allow_module(NULL, "a.wasm"));
	assert_true(allow_module("", "a.wasm"));
	assert_true(allow_module(" , ,", "a.wasm"));
}

static void test_globs(void **unused)
{
	(void)unused;
	assert_true(allow_module("a.wasm", "a.wasm"));
	assert_false(allow_module("a.wasm", "xa.wasm"));
	assert_false(allow_module("a", "a.wasm"));
	assert_true(allow_module("a*", "a.wasm"));
	assert_true(allow_module("*", "dir/a.wasm"));
	assert_true(allow_module("[ab].wasm", "b.wasm"));
	assert_true(allow_module("x,a.wasm", "a.wasm"));
	assert_true(allow_module("x , a.wasm , y", "a.wasm"));
	assert_false(allow_module("x,y", "a.wasm"));
	assert_true(allow_module("my module", "my module"));
	assert_false(allow_module("[", "a.wasm"));
}

static void test_hostile_lists(void **unused)
{
	char list[4000];

	(void)unused;
	memset(list, '*', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	assert_false(allow_module(list, "a.wasm")); /* longer than a glob may be */
	strcpy(list + 2000, ",a.wasm");
	assert_true(allow_module(list, "a.wasm"));
	assert_false(allow_module("a.wasm", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_list_allows_all),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_hostile_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
