/* SPDX-License-Identifier: MIT */
/* code_test.c - code that a wrapper described function by function: born, named, gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "preload/load/load.h"
#include "preload/sig/ranges.h"
#include "symtab/codeimage.h"
#include "symtab/symtab.h"
#include "tests/unit/load/observer.h"

static uint8_t code[256] __attribute__((aligned(64)));

static uint32_t announce(const char *name)
{
	const struct code_function functions[] = {
		{ (uintptr_t)code, 64, 1, name, name != NULL ? strlen(name) : 0 },
		{ (uintptr_t)code + 64, 192, 2, "other", 5 },
	};

	return load_announce(&(struct load_event){
		.engine = "wamr",
		.version = "2.4.3",
		.handle = code,
		.given_name = "m",
		.code = load_code_new(functions, ARRAY_SIZE(functions)),
	});
}

static const struct symtab_entry *entry(void)
{
	return symtab_find(load_symtab(), (uintptr_t)code, ranges_current()->generation);
}

static void functions_are_named_until_the_code_is_gone(void **state)
{
	uint32_t loading = announce("first");
	struct module *module;

	(void)state;
	assert_int_not_equal(loading, 0);
	assert_int_equal(load_of_handle(code), loading);
	assert_false(load_is_interpreted(loading));
	assert_non_null(ranges_find(ranges_current(), (uintptr_t)code + 255));
	load_work(&observer);
	module = entry()->module;
	assert_string_equal(module_engine(module), "wamr");
	assert_string_equal(module_engine_version(module), "2.4.3");
	assert_string_equal(module_symbol_name(module, module_find(module, 3)), "first");
	assert_string_equal(module_symbol_name(module, module_find(module, 64)), "other");
	load_forget(code);
	load_retire(loading);
	assert_null(ranges_find(ranges_current(), (uintptr_t)code));
	load_work(&observer);
	assert_null(entry());
	assert_int_equal(retired, 1);
}

/* Without a word in between: the memory has another module's code. */
static void another_at_the_same_place_takes_over(void **state)
{
	uint32_t first = announce("first"), second;

	(void)state;
	load_work(&observer);
	code[3] ^= 1;
	second = announce(NULL);
	assert_int_not_equal(first, second);
	load_work(&observer);
	assert_string_equal(module_symbol_name(entry()->module, module_find(entry()->module, 3)),
			    "m!wasm-function[1]");
	load_retire(second);
	load_work(&observer);
}

static void what_is_no_code_is_no_loading(void **state)
{
	const struct code_function none = { (uintptr_t)code, 0, 0, NULL, 0 };

	(void)state;
	assert_null(load_code_new(&none, 1));
	assert_null(load_code_new(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_named_until_the_code_is_gone),
		cmocka_unit_test(another_at_the_same_place_takes_over),
		cmocka_unit_test(what_is_no_code_is_no_loading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
