/* SPDX-License-Identifier: MIT */
/*
 * builtin_test.c - builtins are shown under the instruction that they serve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/builtin.h"

#include <string.h>

static const char *instruction(const char *symbol)
{
	return builtin_instruction(symbol, strlen(symbol));
}

static void knows_instructions_of_all_versions(void **state)
{
	(void)state;
	assert_string_equal(instruction("wasmtime_builtin_memory_grow"), "memory.grow");
	assert_string_equal(instruction("wasmtime_builtin_memory32_grow"), "memory.grow");
	assert_string_equal(instruction("wasmtime_builtin_table_fill_func_ref"), "table.fill");
	assert_string_equal(instruction("wasmtime_builtin_table_fill_gc_ref"), "table.fill");
	assert_string_equal(instruction("wasmtime_builtin_table_get_lazy_init_func_ref"),
			    "table.get");
	assert_string_equal(instruction("wasmtime_builtin_memory_atomic_wait32"),
			    "memory.atomic.wait32");
	assert_string_equal(instruction("wasmtime_patchable_builtin_breakpoint"), "(breakpoint)");
}

static void does_not_guess(void **state)
{
	(void)state;
	assert_null(instruction("wasmtime_builtin_memory_grown"));
	assert_null(instruction("wasmtime_builtin_"));
	assert_null(instruction("memory_grow"));
	assert_int_equal(builtin_prefix("wasmtime_builtin_new_thing", 26), 17);
	assert_int_equal(builtin_prefix("wasmtime_builtin_", 17), 0);
	/* only what LENGTH covers is read */
	assert_null(builtin_instruction("wasmtime_builtin_memory_grow", 23));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_instructions_of_all_versions),
		cmocka_unit_test(does_not_guess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
