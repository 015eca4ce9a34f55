/* SPDX-License-Identifier: MIT */
/*
 * naming_test.c - the texts that a reader of a profile sees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/module_fixture.h"

static void check(struct module *module, uint32_t core, uint32_t function, const char *display,
		  const char *system)
{
	const struct symbol *symbol = symbol_of(module, core, function);

	assert_non_null(symbol);
	assert_string_equal(module_symbol_name(module, symbol), display);
	assert_string_equal(module_symbol_system_name(module, symbol), system);
	/* made once */
	assert_ptr_equal(module_symbol_name(module, symbol), module_symbol_name(module, symbol));
}

static const char long_name[] =
	"_ZN76_$LT$alloc..string..String$u20$as$u20$core..iter..traits..collect..Extend"
	"$GT$6extend17h0123456789abcdefE";

static void check_guest(const char *file)
{
	struct module *module = module_of_file(file, NULL, NULL);
	char expected[128];

	check(module, 0, 2, "leaf", "leaf");
	check(module, 0, 3, "guest::middle::h0123456789abcdef",
	      "_ZN5guest6middle17h0123456789abcdefE");
	check(module, 0, 4, "guest[3c1c0]::outer", "_RNvCs1234_5guest5outer");
	snprintf(expected, sizeof(expected), "%s!wasm-function[6]", module_name(module));
	check(module, 0, 6, expected, expected);
	check(module, 0, 7, long_name, long_name); /* not cut, and its length is wrong: raw */
	check(module, 0, 8, "with space, \xce\xbb", "with space, \xce\xbb");
	module_unref(module);
}

static void names_functions_of_every_version(void **state)
{
	(void)state;
	check_guest("guest-25.cwasm");
	check_guest("guest-36.cwasm");
	check_guest("guest-43.cwasm");
	check_guest("guest-50.cwasm");
	check_guest("guest-49-nosymbols.cwasm");
}

static void wasm_bytes_add_exports(void **state)
{
	struct module *module = module_of_file("guest-50.cwasm", "guest.wasm", "tiny");

	(void)state;
	check(module, 0, 2, "leaf", "leaf");
	check(module, 0, 5, "only exported", "only exported");
	check(module, 0, 6, "tiny!wasm-function[6]", "tiny!wasm-function[6]");
	module_unref(module);
}

static void says_which_core_module_of_a_component(void **state)
{
	struct module *module = module_of_file("component-50.cwasm", NULL, "c");

	(void)state;
	check(module, 2, 0, "c/wasm[2]!wasm-function[0]", "c/wasm[2]!wasm-function[0]");
	check(module, 3, 2, "last:both", "last:both");
	module_unref(module);
	module = module_of_file("component-50.cwasm", "component.wasm", "c");
	check(module, 2, 0, "realloc", "realloc");
	module_unref(module);
}

/* How often the symbols that are not the guest's are shown as TEXT. */
static unsigned int count_glue(struct module *module, const char *text)
{
	const struct symbol *symbol;
	unsigned int count = 0;
	uint64_t offset = 0;

	while (offset < 0x4000) {
		symbol = module_find(module, offset);
		if (symbol != NULL && symbol->kind != SYMBOL_GUEST)
			count += strcmp(module_symbol_name(module, symbol), text) == 0;
		offset = symbol != NULL ? symbol->end : offset + 1;
	}
	return count;
}

static void names_glue_readably(void **state)
{
	struct module *module = module_of_file("guest-25.cwasm", NULL, NULL);

	(void)state;
	assert_int_equal(count_glue(module, "[host to guest]"), 6);
	assert_int_equal(count_glue(module, "[guest to host]"), 4);
	assert_int_equal(count_glue(module, "memory.grow"), 1);
	assert_int_equal(count_glue(module, "table.fill"), 1);
	module_unref(module);
	module = module_of_file("component-36.cwasm", "component.wasm", NULL);
	assert_int_equal(count_glue(module, "[between components]"), 1);
	assert_int_equal(count_glue(module, "[string between components]"), 2);
	module_unref(module);
}

static void shows_a_builtin_that_it_does_not_know(void **state)
{
	struct image_section sections[] = {
		{ .name = ".text", .type = SHT_PROGBITS, .flags = 6 },
		{ .name = ".symtab", .type = SHT_SYMTAB },
		{ .name = ".strtab", .type = SHT_STRTAB },
	};
	struct module *module;
	struct bytes image;

	(void)state;
	bytes_add(&sections[0].body, "0123456789abcdef", 16);
	add_symbol(&sections[1].body, &sections[2].body, "wasmtime_builtin_new\nthing", 0, 8);
	add_symbol(&sections[1].body, &sections[2].body, "some_new_glue", 8, 8);
	image = build_image(sections, ARRAY_SIZE(sections), 1);
	module = module_of_bytes(&image, NULL, NULL);
	assert_non_null(module);
	assert_string_equal(module_symbol_name(module, module_find(module, 0)), "new\\x0athing");
	assert_string_equal(module_symbol_system_name(module, module_find(module, 0)),
			    "wasmtime_builtin_new\\x0athing");
	assert_string_equal(module_symbol_name(module, module_find(module, 8)), "some_new_glue");
	module_unref(module);
	bytes_free(&image);
}

static void short_memory_still_gives_a_text(void **state)
{
	struct module *module;
	const struct symbol *symbol;
	long nth;

	(void)state;
	if (!failing_works)
		skip();
	module = module_of_file("guest-50.cwasm", NULL, NULL);
	symbol = symbol_of(module, 0, 3);
	for (nth = 1; failing_start(nth), module_symbol_name(module, symbol), failing_stop(); nth++)
		assert_true(nth < 100);
	assert_true(nth > 3); /* the image's table, the cache, the text */
	module_unref(module);
	module = module_of_file("guest-50.cwasm", NULL, NULL);
	for (nth = 1; nth <= 3; nth++) {
		failing_start(nth);
		assert_string_equal(module_symbol_name(module, symbol_of(module, 0, 3)),
				    "(out of memory)");
		assert_true(failing_stop());
	}
	symbol = symbol_of(module, 0, 3);
	assert_string_equal(module_symbol_name(module, symbol), "guest::middle::h0123456789abcdef");
	module_unref(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions_of_every_version),
		cmocka_unit_test(wasm_bytes_add_exports),
		cmocka_unit_test(says_which_core_module_of_a_component),
		cmocka_unit_test(names_glue_readably),
		cmocka_unit_test(shows_a_builtin_that_it_does_not_know),
		cmocka_unit_test(short_memory_still_gives_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
