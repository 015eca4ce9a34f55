/* SPDX-License-Identifier: MIT */
/* sharedname_test.c - names without the neighbours' part in them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/share/sharedname.h"

#define IDENTITY "3f9a2c00112233445566778899aabbccddeeff00112233445566778899aabbcc"

static void modules_have_one_name(void **state)
{
	static const char *const shown[] = {
		"app",
		"app@3f9a2c",
		"app@3f9a2c@3f9a2c",
		"app{tenant=acme}",
		"app@3f9a2c{tenant=acme,tier=free}",
		"app{tenant=a{b=c}d}",
	};
	struct arena arena = { .limit = 1 << 20 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		assert_string_equal(sharedname_module(&arena, shown[i], IDENTITY), "app@3f9a2c");
	/* hashes of others, and brackets without labels, are the module's own */
	assert_string_equal(sharedname_module(&arena, "app@123456", IDENTITY), "app@123456@3f9a2c");
	assert_string_equal(sharedname_module(&arena, "app{}", IDENTITY), "app{}@3f9a2c");
	assert_string_equal(sharedname_module(&arena, "{a=b}", IDENTITY), "{a=b}@3f9a2c");
	assert_string_equal(sharedname_module(&arena, "app", ""), "app");
	assert_string_equal(sharedname_module(&arena, "", IDENTITY), "@3f9a2c");
	arena_free(&arena);
}

static void functions_lose_others_names(void **state)
{
	struct arena arena = { .limit = 1 << 20 };

	(void)state;
#define TOLD(name, core) sharedname_function(&arena, name, "app@3f9a2c", core)
	assert_string_equal(TOLD("rival!wasm-function[12]", 0), "app@3f9a2c!wasm-function[12]");
	assert_string_equal(TOLD("rival/x!wasm-function[7]", 2),
			    "app@3f9a2c/wasm[2]!wasm-function[7]");
	assert_string_equal(TOLD("rival!wasm-code[0x1f]", UINT32_MAX),
			    "app@3f9a2c!wasm-code[0x1f]");
	assert_string_equal(TOLD("[jit 0x7f0012340000+0x1000]", 0), "[jit]");
	assert_string_equal(TOLD("a!b", 0), "a!b");
	assert_string_equal(TOLD("a!wasm-function[1]x", 0), "a!wasm-function[1]x");
#undef TOLD
	arena_free(&arena);
}

static void instances_have_numbers(void **state)
{
	uint64_t loading, number;

	(void)state;
	assert_true(sharedname_instance("app#3", &loading, &number));
	assert_int_equal(loading, 1);
	assert_int_equal(number, 3);
	assert_true(sharedname_instance("a#1#12.345", &loading, &number));
	assert_int_equal(loading, 12);
	assert_int_equal(number, 345);
	assert_true(sharedname_instance("app#2.7 (likely)", &loading, &number));
	assert_int_equal(loading, 2);
	assert_int_equal(number, 7);
	assert_false(sharedname_instance("app#7 (likelier)", &loading, &number));
	assert_false(sharedname_instance("app (module only)", &loading, &number));
	assert_false(sharedname_instance("app#* (likely)", &loading, &number));
	assert_false(sharedname_instance("app#*", &loading, &number));
	assert_false(sharedname_instance("app", &loading, &number));
	assert_false(sharedname_instance("app#3.", &loading, &number));
	assert_false(sharedname_instance("app#3x", &loading, &number));
	assert_false(sharedname_instance("app#99999999999999999999", &loading, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_one_name),
		cmocka_unit_test(functions_lose_others_names),
		cmocka_unit_test(instances_have_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
