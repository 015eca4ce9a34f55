/* SPDX-License-Identifier: MIT */
/* codeimage_test.c - functions that somebody listed become a module's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "symtab/codeimage.h"
#include "symtab/symtab.h"

enum { BASE = 0x10000 };

static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
static uint8_t code[0x200];

static int read_code(void *context, uintptr_t address, void *out, size_t size)
{
	(void)context;
	if (address < BASE || address - BASE > sizeof(code) ||
	    size > sizeof(code) - (address - BASE))
		return -EFAULT;
	memcpy(out, code + (address - BASE), size);
	return 0;
}

static const struct memory memory = { read_code, NULL };

static struct module *make(const struct code_function *functions, size_t count,
			   struct image_layout *layout)
{
	struct image_tables *tables = codeimage_make(&memory, functions, count, layout);
	struct module_source source = { .engine = "wamr", .given_name = "m", .tables = tables };

	if (tables == NULL)
		return NULL;
	source.layout = *layout;
	return module_new(&source);
}

static void expect_name(struct module *module, uint64_t offset, const char *name)
{
	const struct symbol *symbol = module_find(module, offset);

	assert_non_null(symbol);
	assert_int_equal(symbol->kind, SYMBOL_GUEST);
	assert_string_equal(module_symbol_name(module, symbol), name);
}

static void functions_have_names_and_numbers(void **state)
{
	static const struct code_function functions[] = {
		{ BASE + 0x100, 0x80, 3, "second", 6 },
		{ BASE, 0x40, 2, "first\0rest", 10 },
		{ BASE + 0x40, 0xc0, 7, NULL, 0 },
	};
	struct image_layout layout;
	struct module *module;

	(void)state;
	memset(code, 0x90, sizeof(code));
	module = make(functions, ARRAY_SIZE(functions), &layout);
	assert_non_null(module);
	assert_int_equal(layout.text, BASE);
	assert_int_equal(layout.text_size, 0x180);
	assert_true(layout.is_bare);
	assert_false(layout.has_frame_pointers);
	assert_int_equal(module_function_count(module), 3);
	expect_name(module, 0x3f, "first");
	expect_name(module, 0x40, "m!wasm-function[7]");
	expect_name(module, 0x100, "second");
	assert_int_equal(module_find(module, 0x120)->function, 3);
	assert_null(module_find(module, 0x180));
	assert_false(module_identity_is_wasm(module));
	module_unref(module);
}

static void frame_pointers_are_seen_in_all_or_none(void **state)
{
	struct code_function functions[100];
	struct image_layout layout;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		functions[i] = (struct code_function){ BASE + 5 * i, 5, (uint32_t)i, NULL, 0 };
		memcpy(code + 5 * i, prologue, sizeof(prologue));
	}
	image_tables_free(codeimage_make(&memory, functions, ARRAY_SIZE(functions), &layout));
	assert_true(layout.has_frame_pointers);
	code[5 * 50] = 0x53;
	image_tables_free(codeimage_make(&memory, functions, ARRAY_SIZE(functions), &layout));
	assert_false(layout.has_frame_pointers);
}

static void nonsense_is_refused(void **state)
{
	static const struct code_function bad[] = {
		{ BASE, 0, 0, NULL, 0 },
		{ UINTPTR_MAX - 1, 8, 0, NULL, 0 },
		{ BASE, SIZE_MAX, 0, NULL, 0 },
	};
	static const struct code_function far[] = {
		{ BASE, 1, 0, NULL, 0 },
		{ BASE + ((uintptr_t)1 << 40), 1, 1, NULL, 0 },
	};
	struct image_layout layout;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		errno = 0;
		assert_null(codeimage_make(&memory, &bad[i], 1, &layout));
		assert_int_equal(errno, EINVAL);
	}
	assert_null(codeimage_make(&memory, far, 2, &layout));
	assert_null(codeimage_make(&memory, far, 0, &layout));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_names_and_numbers),
		cmocka_unit_test(frame_pointers_are_seen_in_all_or_none),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
