/* SPDX-License-Identifier: MIT */
/* binfile_test.c - a binary in a file is what it was when it was loaded, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/load/binfile.h"
#include "preload/load/bytes.h"
#include "preload/load/load.h"
#include "symtab/symtab.h"

/* A module whose only section is its name: `a`. */
static const uint8_t module[] = "\0asm\1\0\0\0\0\011\004name\0\002\001a";
enum { MODULE_SIZE = sizeof(module) - 1 };

static char path[] = "/tmp/binfile-XXXXXX";

/* BEFORE bytes of something else, the module, the same again. */
static int write_file(size_t before)
{
	FILE *file;

	if (strcmp(path, "/tmp/binfile-XXXXXX") == 0 && close(mkstemp(path)) != 0)
		return -1;
	file = fopen(path, "wb");
	if (file == NULL)
		return -1;
	for (size_t i = 0; i < before; i++)
		fputc('x', file);
	fwrite(module, 1, MODULE_SIZE, file);
	for (size_t i = 0; i < before; i++)
		fputc('x', file);
	return fclose(file);
}

static void expect_module(struct wasmbin *wasm)
{
	assert_non_null(wasm);
	assert_string_equal(wasmbin_name(wasm), "a");
	wasmbin_unref(wasm);
}

static void test_a_whole_file(void **unused)
{
	struct binfile *file;

	(void)unused;
	assert_int_equal(write_file(0), 0);
	file = binfile_new(path, 0, 0);
	assert_non_null(file);
	expect_module(binfile_parse(file));
	binfile_unref(binfile_ref(file));
	expect_module(binfile_parse(file));
	binfile_unref(file);
	binfile_unref(NULL);
}

static void test_a_part_of_one(void **unused)
{
	struct binfile *file;

	(void)unused;
	assert_int_equal(write_file(100), 0);
	file = binfile_new(path, 100, MODULE_SIZE);
	assert_non_null(file);
	expect_module(binfile_parse(file));
	binfile_unref(file);
	file = binfile_new(path, 0, MODULE_SIZE);
	assert_null(binfile_parse(file));
	binfile_unref(file);
	/* more than there is */
	assert_null(binfile_new(path, 201, MODULE_SIZE));
	assert_null(binfile_new(path, UINT64_MAX, 2));
	assert_null(binfile_new(path, 1, SIZE_MAX));
}

static void test_a_file_that_changed(void **unused)
{
	struct binfile *file;

	(void)unused;
	assert_int_equal(write_file(0), 0);
	file = binfile_new(path, 0, 0);
	assert_non_null(file);
	assert_int_equal(write_file(1), 0);
	assert_null(binfile_parse(file));
	assert_int_equal(unlink(path), 0);
	assert_null(binfile_parse(file));
	binfile_unref(file);
	assert_null(binfile_new(path, 0, 0));
}

static void test_what_is_no_file(void **unused)
{
	(void)unused;
	assert_null(binfile_new("/tmp", 0, 0));
	assert_null(binfile_new("/dev/zero", 0, 100));
	assert_null(binfile_new("/dev/null", 0, 0));
	assert_null(binfile_new(NULL, 0, 0));
	assert_null(load_bytes_in_file("/nonexistent", 0, 0));
}

/* The bytes of one load call are handed over as often as code is made of them. */
static void test_bytes_are_copied(void **unused)
{
	struct load_bytes *bytes[2], *copy;

	(void)unused;
	assert_int_equal(write_file(0), 0);
	bytes[0] = load_bytes_in_file(path, 0, 0);
	bytes[1] = load_bytes_begin(module, MODULE_SIZE);
	for (int i = 0; i < 2; i++) {
		load_bytes_end(bytes[i]);
		copy = load_bytes_copy(bytes[i]);
		assert_non_null(copy);
		expect_module(bytes_parsed(copy));
		load_bytes_free(copy);
		copy = load_bytes_copy(bytes[i]);
		expect_module(bytes_parsed(bytes[i]));
		load_bytes_free(bytes[i]);
		expect_module(bytes_parsed(copy));
		load_bytes_free(copy);
	}
	assert_null(load_bytes_copy(NULL));
}

static int remove_file(void **unused)
{
	(void)unused;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_file),	    cmocka_unit_test(test_a_part_of_one),
		cmocka_unit_test(test_a_file_that_changed), cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_bytes_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, remove_file);
}
