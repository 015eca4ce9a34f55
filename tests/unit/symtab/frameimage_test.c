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

enum { TABLES = 0x5000, CODE = 0x8000, CODE_BYTES = 0x1020 };

static struct bytes tables;
static uint8_t code[CODE_BYTES];
static bool has_code;

/* The tables, and the code if it is there, and nothing else. */
static int read_tables(void *context, uintptr_t address, void *out, size_t size)
{
	(void)context;
	if (has_code && address >= CODE && address - CODE <= CODE_BYTES &&
	    CODE_BYTES - (address - CODE) >= size) {
		memcpy(out, code + (address - CODE), size);
		return 0;
	}
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
	static const uint8_t encodings[] = { 0x00, 0x1b, 0x1c, 0x04, 0x02, 0x12 };
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

static void test_frame_pointers(void **state)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	struct image_layout layout;
	size_t first;

	(void)state;
	fill(0x1b, &first);
	assert_int_equal(image_probe_frames(&memory, TABLES, &layout), 0);
	assert_false(layout.has_frame_pointers); /* nothing to be read there */
	has_code = true;
	memset(code, 0x90, sizeof(code));
	memcpy(code, prologue, sizeof(prologue));
	assert_int_equal(image_probe_frames(&memory, TABLES, &layout), 0);
	assert_false(layout.has_frame_pointers); /* one of two */
	memcpy(code + 0x1000, prologue, sizeof(prologue));
	assert_int_equal(image_probe_frames(&memory, TABLES, &layout), 0);
	assert_true(layout.has_frame_pointers);
	assert_int_equal(layout.frame_count, 2);
	has_code = false;
}

/* Two imports, the second a function, and two functions: "near" is the first. */
static const uint8_t wasm[] = {
	0,    'a', 's',	 'm',  1, 0,   0, 0,   1,   4,	 1,   0x60, 0, 0, 2, 14, 2,   1,   'e', 1,
	'g',  3,   0x7f, 0,    1, 'e', 1, 'f', 0,   0,	 3,   3,    2, 0, 0, 10, 7,   2,   2,	0,
	0x0b, 2,   0,	 0x0b, 0, 14,  4, 'n', 'a', 'm', 'e', 1,    7, 1, 1, 4,	 'n', 'e', 'a', 'r',
};

static struct module *module_with(const char *engine, const uint8_t *bytes, size_t size)
{
	struct module_source source = { .engine = engine };
	struct module *module;
	size_t first;

	fill(0x00, &first);
	assert_int_equal(image_probe_frames(&memory, TABLES, &source.layout), 0);
	source.tables = image_copy(&memory, &source.layout);
	source.wasm = bytes != NULL ? wasmbin_parse(bytes, size) : NULL;
	module = module_new(&source);
	assert_non_null(module);
	assert_false(module_has_entries(module));
	wasmbin_unref(source.wasm);
	return module;
}

static void expect_name(struct module *module, uint64_t offset, uint32_t function, const char *name)
{
	const struct symbol *symbol = module_find(module, offset);

	assert_non_null(symbol);
	assert_int_equal(symbol->function, function);
	assert_non_null(strstr(module_symbol_name(module, symbol), name));
}

/* The FDEs are out of order; functions are numbered by their addresses. */
static void test_wasm(void **state)
{
	struct module *module = module_with("wasmer", wasm, sizeof(wasm));

	(void)state;
	expect_name(module, 0x0, 1, "near");
	expect_name(module, 0x1000, 2, "!wasm-function[2]");
	assert_true(module_identity_is_wasm(module));
	assert_string_equal(module_engine(module), "wasmer");
	module_unref(module);
	/* bytes that nobody showed */
	module = module_with("wasmer", NULL, 0);
	expect_name(module, 0x0, 0, "!wasm-function[0]");
	expect_name(module, 0x1000, 1, "!wasm-function[1]");
	module_unref(module);
}

/* Another number of functions than the bytes define: which is which is not known. */
static void test_other_wasm(void **state)
{
	uint8_t one[sizeof(wasm)];
	struct module *module;

	(void)state;
	memcpy(one, wasm, 30);
	memcpy(one + 30, "\3\2\1\0\12\4\1\2\0\13", 10);
	module = module_with("wasmer", one, 40);
	expect_name(module, 0x0, UINT32_MAX, "[jit 0x8000+0x20]");
	expect_name(module, 0x1000, UINT32_MAX, "[jit 0x9000+0x20]");
	module_unref(module);
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { MANY = 50000, PAGE = 4096 };

static uint8_t *many;
static size_t many_size;

static int read_many(void *context, uintptr_t address, void *out, size_t size)
{
	size_t pages = (many_size + PAGE - 1) / PAGE * PAGE;

	(*(unsigned int *)context)++;
	if (address < TABLES || address - TABLES > pages || pages - (address - TABLES) < size)
		return -EFAULT;
	memcpy(out, many + (address - TABLES), size);
	return 0;
}

/* What lies behind the tables may not be there, and the host's thread waits. */
static void test_many(void **state)
{
	unsigned int reads = 0;
	const struct memory large = { .read = read_many, .context = &reads };
	struct fde fde = { .augmented = true, .size = 0x10, .program = "" };
	struct image_layout layout;

	(void)state;
	many = calloc(1, MANY * sizeof(tables.at) / 16);
	assert_non_null(many);
	many_size = 0;
	for (size_t i = 0; i < MANY; i++) {
		size_t cie_size, size;
		uint32_t distance;

		tables.size = 0;
		fde.cie = put_cie(&tables, "zR", 0x00);
		cie_size = tables.size;
		fde.start = 0x100000 + 0x10 * i;
		put_fde(&tables, &fde, TABLES);
		if (i == 0)
			many_size = cie_size;
		size = tables.size - cie_size;
		/* they all have the first CIE */
		distance = (uint32_t)(many_size + 4);
		memcpy(tables.at + cie_size + 4, &distance, sizeof(distance));
		if (i == 0)
			memcpy(many, tables.at, cie_size);
		memcpy(many + many_size, tables.at + cie_size, size);
		many_size += size;
	}
	many_size += 4;
	assert_int_equal(image_probe_frames(&large, TABLES, &layout), 0);
	assert_int_equal(layout.frame_count, MANY);
	assert_int_equal(layout.text, 0x100000);
	assert_int_equal(layout.text_size, 0x10 * MANY);
	assert_int_equal(layout.eh_frame_size, many_size - 4);
	/* the functions that are looked at are single reads */
	assert_true(reads < 200);
	free(many);
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
		cmocka_unit_test(test_encodings),      cmocka_unit_test(test_module),
		cmocka_unit_test(test_frame_pointers), cmocka_unit_test(test_wasm),
		cmocka_unit_test(test_other_wasm),     cmocka_unit_test(test_many),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
