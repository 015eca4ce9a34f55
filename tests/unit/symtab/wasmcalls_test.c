/* SPDX-License-Identifier: MIT */
/* wasmcalls_test.c - which import a call in a wasm binary goes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "symtab/symtab.h"

static const uint8_t binary[] = {
	0x00, 0x61, 0x73, 0x6d, 1, 0,	0,   0,		/* preamble */
	1,    4,    1,	  0x60, 0, 0,			/* type () -> () */
	2,    28,   3,					/* imports */
	3,    'e',  'n',  'v',	3, 'l', 'o', 'g', 0, 0, /* 0: env.log */
	3,    'e',  'n',  'v',	1, 'm', 2,   0,	  1,	/* a memory */
	3,    'e',  'n',  '\n', 1, 'g', 0,   0, /* 1: a name that may not be shown as it is */
	3,    2,    1,	  0,			/* one function: 2 */
	10,   16,   1,	  14,	0,		/* its body */
	0x10, 0,				/* call 0 */
	0x10, 0x81, 0,				/* call 1, in two bytes */
	0x10, 2,				/* call 2: itself */
	0x41, 0x10, /* i32.const 16: its operand looks like a call, of what follows */
	0x1a,	    /* drop */
	0x10, 0,    /* call 0 */
	0x0b,
};
enum { CODE = 8 + 6 + 30 + 4 + 5 };

static void test_calls(void **state)
{
	struct wasmbin *bin = wasmbin_parse(binary, sizeof(binary));
	char name[32];

	(void)state;
	assert_non_null(bin);
	assert_int_equal(wasmbin_imported_functions(bin, 0), 2);
	assert_int_equal(wasmbin_called_import(bin, CODE, name, sizeof(name)), 7);
	assert_string_equal(name, "env.log");
	assert_true(wasmbin_called_import(bin, CODE + 2, name, sizeof(name)) > 0);
	assert_string_equal(name, "en\\x0a.g");
	assert_int_equal(wasmbin_called_import(bin, CODE + 5, name, sizeof(name)), 0);
	assert_int_equal(wasmbin_called_import(bin, CODE + 7, name, sizeof(name)), 0);
	assert_int_equal(wasmbin_called_import(bin, CODE + 10, name, sizeof(name)), 7);
	assert_int_equal(wasmbin_called_import(bin, 0, name, sizeof(name)), 0);
	assert_int_equal(wasmbin_called_import(bin, UINT64_MAX, name, sizeof(name)), 0);
	wasmbin_unref(bin);
}

/* Cut anywhere, with any byte changed: positions that are found give names that can be shown. */
static void test_damage(void **state)
{
	uint8_t bytes[sizeof(binary)];
	size_t i, round;

	(void)state;
	srand(3);
	for (round = 0; round < 20000; round++) {
		size_t size = round < sizeof(binary) ? round : sizeof(binary);
		struct wasmbin *bin;

		memcpy(bytes, binary, sizeof(binary));
		bytes[8 + (size_t)rand() % (sizeof(bytes) - 8)] = (uint8_t)rand();
		bin = wasmbin_parse(bytes, size);
		for (i = 0; bin != NULL && i < sizeof(binary); i++) {
			char name[16];

			if (wasmbin_called_import(bin, i, name, sizeof(name)) > 0)
				assert_in_range(strlen(name), 1, sizeof(name) - 1);
		}
		wasmbin_unref(bin);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
