/* SPDX-License-Identifier: MIT */
/* frameimage_test.c - code of which only the registered unwind tables are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "symtab/symtab.h"
#include "tests/unit/unwind/tables.h"

enum { TABLES = 0x5000 };

static struct bytes tables;

/* The tables, and nothing else, are there. */
static int read_tables(void *context, uintptr_t address, void *out, size_t size)
{
	(void)context;
	if (address < TABLES || address - TABLES > tables.size ||
	    tables.size - (address - TABLES) < size)
		return -EFAULT;
	memcpy(out, tables.at + (address - TABLES), size);
	return 0;
}

static const struct memory memory = { .read = read_tables };

/* Two functions, out of order. */
static size_t fill(uint8_t encoding, size_t *first)
{
	struct fde fde = { .encoding = encoding, .augmented = true, .size = 0x20, .program = "" };

	tables.size = 0;
	fde.cie = put_cie(&tables, "zR", encoding);
	fde.start = 0x9000;
	*first = put_fde(&tables, &fde, TABLES);
	fde.start = 0x8000;
	put_fde(&tables, &fde, TABLES);
	put_u32(&tables, 0);
	put_u32(&tables, 0);
	return fde.cie;
}

static void test_encodings(void **state)
{
	static const uint8_t encodings[] = { 0x00, 0x1b, 0x1c, 0x04 };
	struct image_layout layout;
	size_t i, first;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(encodings); i++) {
		size_t cie = fill(encodings[i], &first);

		assert_int_equal(image_probe_frames(&memory, TABLES + cie, &layout), 0);
		assert_true(layout.is_bare);
		assert_int_equal(layout.text, 0x8000);
		assert_int_equal(layout.text_size, 0x1020);
		assert_int_equal(layout.eh_frame, TABLES);
		assert_int_equal(layout.eh_frame_size, tables.size - 8);
		/* one FDE alone, with the CIE that it belongs to */
		assert_int_equal(image_probe_frames(&memory, TABLES + first, &layout), 0);
		assert_int_equal(layout.text, 0x9000);
		assert_int_equal(layout.text_size, 0x20);
		assert_int_equal(layout.eh_frame, TABLES);
	}
}

static void test_module(void **state)
{
	struct module_source source = { .given_name = "[jit]" };
	const struct symbol *symbol;
	struct module *module;
	size_t first;

	(void)state;
	fill(0x00, &first);
	assert_int_equal(image_probe_frames(&memory, TABLES, &source.layout), 0);
	source.tables = image_copy(&memory, &source.layout);
	assert_non_null(source.tables);
	module = module_new(&source);
	assert_non_null(module);
	assert_int_equal(module_function_count(module), 2);
	symbol = module_find(module, 0x1004);
	assert_non_null(symbol);
	assert_int_equal(symbol->kind, SYMBOL_GUEST);
	assert_string_equal(module_symbol_name(module, symbol), "[jit 0x9000+0x20]");
	assert_null(module_find(module, 0x500));
	module_unref(module);
}

static void test_nothing(void **state)
{
	struct image_layout layout;
	size_t round, first;

	(void)state;
	fill(0x00, &first);
	assert_int_not_equal(image_probe_frames(&memory, 0x100, &layout), 0);
	assert_int_not_equal(image_probe_frames(&memory, TABLES + tables.size - 8, &layout), 0);
	srand(4);
	for (round = 0; round < 20000; round++) {
		fill(0x1b, &first);
		tables.at[(size_t)rand() % tables.size] = (uint8_t)rand();
		if (image_probe_frames(&memory, TABLES + (round % 2 ? first : 0), &layout) == 0)
			assert_true(layout.text_size > 0 &&
				    layout.text + layout.text_size > layout.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
