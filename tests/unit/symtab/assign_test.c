/* SPDX-License-Identifier: MIT */
/*
 * assign_test.c - functions of images without symbols: by the engine's table, by counts, by map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/module_fixture.h"

/* A module of FILE, an image without symbols, whose .wasmtime.info is left out on request. */
static struct module *module_of(const char *file, const char *wasm_file, bool with_info)
{
	struct bytes image = bytes_of_file(file), wasm = { 0 };
	struct memory memory = memory_of(&image);
	struct module_source source = { .engine = "wasmtime", .given_name = "m" };
	struct module *module;
	size_t at;

	for (at = 0; !with_info && at + 14 < image.size; at++)
		if (memcmp(image.bytes + at, ".wasmtime.info", 15) == 0)
			image.bytes[at + 1] = 'x';
	if (wasm_file != NULL) {
		wasm = bytes_of_file(wasm_file);
		source.wasm = wasmbin_parse(wasm.bytes, wasm.size);
	}
	assert_int_equal(image_probe(&memory, (uintptr_t)image.bytes, &source.layout), 0);
	source.tables = image_copy(&memory, &source.layout);
	module = module_new(&source);
	assert_non_null(module);
	wasmbin_unref(source.wasm);
	bytes_free(&image);
	bytes_free(&wasm);
	return module;
}

static void check(const char *file, const char *wasm_file, bool with_info, uint32_t last_core,
		  uint32_t last_function)
{
	struct module *module = module_of(file, wasm_file, with_info);

	assert_int_equal(module_find(module, 0)->kind, SYMBOL_GUEST);
	assert_non_null(symbol_of(module, last_core, last_function));
	assert_null(symbol_of(module, last_core, last_function + 1));
	module_unref(module);
}

static void by_the_engines_table(void **state)
{
	(void)state;
	check("guest-49-nosymbols.cwasm", "guest.wasm", true, 0, 8);
	check("guest-49-nosymbols.cwasm", NULL, true, 0, 8); /* imports from the metadata */
	check("component-49-nosymbols.cwasm", "component.wasm", true, 3, 2);
}

static void by_the_counts_of_the_wasm(void **state)
{
	(void)state;
	check("guest-49-nosymbols.cwasm", "guest.wasm", false, 0, 8);
	check("component-49-nosymbols.cwasm", "component.wasm", false, 3, 2);
}

static void by_the_map_without_an_index(void **state)
{
	struct module *module = module_of("guest-49-nosymbols.cwasm", NULL, false);
	const struct symbol *symbol = module_find(module, 0);

	(void)state;
	assert_int_equal(module_function_count(module), 7);
	assert_int_equal(symbol->kind, SYMBOL_GUEST);
	assert_int_equal(symbol->function, UINT32_MAX);
	assert_string_equal(module_symbol_name(module, symbol), "m!wasm-code[0x0]");
	module_unref(module);
}

static void a_component_alone_has_no_indices(void **state)
{
	struct module *module = module_of("component-49-nosymbols.cwasm", NULL, true);
	const struct symbol *symbol = module_find(module, 0);

	(void)state;
	assert_int_equal(symbol->kind, SYMBOL_GUEST);
	assert_int_equal(symbol->function, UINT32_MAX);
	module_unref(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_engines_table),
		cmocka_unit_test(by_the_counts_of_the_wasm),
		cmocka_unit_test(by_the_map_without_an_index),
		cmocka_unit_test(a_component_alone_has_no_indices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
