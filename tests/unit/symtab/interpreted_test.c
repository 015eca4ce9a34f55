/* SPDX-License-Identifier: MIT */
/* interpreted_test.c - functions of a module that has no code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symtab.h"

/* One import, and two functions, of which the first is "near". */
static const uint8_t wasm[] = {
	0,    'a', 's', 'm', 1,	  0,   0,   0,	 1, 4, 1,  0x60, 0, 0,	 2,   7,    1,	 1,
	'e',  1,   'f', 0,   0,	  3,   3,   2,	 0, 0, 10, 7,	 2, 2,	 0,   0x0b, 2,	 0,
	0x0b, 0,   14,	4,   'n', 'a', 'm', 'e', 1, 7, 1,  1,	 4, 'n', 'e', 'a',  'r',
};

static struct module *make(struct wasmbin *bin)
{
	return module_new(&(struct module_source){ .engine = "wamr", .wasm = bin });
}

static void functions_are_those_that_are_defined(void **state)
{
	struct wasmbin *bin = wasmbin_parse(wasm, sizeof(wasm));
	struct module *module = make(bin);
	const struct symbol *symbol;

	(void)state;
	assert_null(wasmbin_problem(bin));
	wasmbin_unref(bin);
	assert_null(module_interpreted_symbol(module, 0));
	assert_null(module_interpreted_symbol(module, 3));
	assert_null(module_interpreted_symbol(module, UINT32_MAX));
	symbol = module_interpreted_symbol(module, 1);
	assert_non_null(symbol);
	assert_string_equal(module_symbol_name(module, symbol), "near");
	assert_ptr_equal(module_find(module, symbol->start), symbol);
	symbol = module_interpreted_symbol(module, 2);
	assert_int_equal(symbol->function, 2);
	assert_int_not_equal(symbol->start, module_interpreted_symbol(module, 1)->start);
	module_unref(module);
}

static void without_bytes_there_are_none(void **state)
{
	struct module *module = make(NULL);

	(void)state;
	assert_null(module_interpreted_symbol(module, 0));
	module_unref(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_that_are_defined),
		cmocka_unit_test(without_bytes_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
