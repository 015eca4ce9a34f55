/* SPDX-License-Identifier: MIT */
/*
 * modinfo_test.c - the module's own name and imports out of an engine's metadata.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/modinfo.h"
#include "tests/unit/symtab/fixture.h"

static void check_file(const char *name, unsigned long version)
{
	struct bytes file = bytes_of_file(name);
	struct memory memory = memory_of(&file);
	struct image_layout layout;
	struct image_tables *tables;
	struct modinfo found;

	assert_int_equal(image_probe(&memory, (uintptr_t)file.bytes, &layout), 0);
	tables = image_copy(&memory, &layout);
	assert_non_null(tables);
	assert_int_equal(modinfo_read(&tables->info, version, &found), 0);
	assert_string_equal(found.name, "tiny-guest");
	assert_int_equal(found.imports_are_known, version >= 43);
	assert_int_equal(found.imported_functions, version >= 43 ? 2 : 0);
	modinfo_fini(&found);
	assert_int_equal(modinfo_read(&tables->info, 0, &found), 0);
	assert_null(found.name);
	image_tables_free(tables);
	bytes_free(&file);
}

static void reads_real_images(void **state)
{
	(void)state;
	check_file("guest-25.cwasm", 25);
	check_file("guest-36.cwasm", 36);
	check_file("guest-43.cwasm", 43);
	check_file("guest-50.cwasm", 50);
}

static char *read_name(const char *bytes, size_t size, unsigned long version)
{
	struct blob info = { .bytes = malloc(size), .size = size };
	struct modinfo found;

	memcpy(info.bytes, bytes, size);
	assert_int_equal(modinfo_read(&info, version, &found), 0);
	blob_free(&info);
	return found.name;
}

static void knows_the_format_between(void **state)
{
	char *name = read_name("\0\1\2ab", 5, 40);

	(void)state;
	assert_string_equal(name, "ab");
	free(name);
}

static void takes_no_nonsense(void **state)
{
	(void)state;
	assert_null(read_name("\0", 1, 25));			    /* none given */
	assert_null(read_name("\1\0", 2, 25));			    /* empty */
	assert_null(read_name("\1\5abc", 5, 25));		    /* cut */
	assert_null(read_name("\2\1a", 3, 25));			    /* not an option */
	assert_null(read_name("\1\1\2ab", 5, 40));		    /* not module 0 */
	assert_null(read_name("\0\1\1a\1\2", 6, 50));		    /* atom 2 of 1 */
	assert_null(read_name("\0\1\1a\1\0", 6, 50));		    /* atom 0 */
	assert_null(read_name("\0\xff\xff\xff\xff\x0f\1a", 8, 50)); /* a count beyond the end */
	assert_null(read_name("\0\0\0", 3, 50));
}

static void believes_imports_only_in_order(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool is_known;
		uint32_t functions;
	} cases[] = {
		{ "\0\1\1a\0"
		  "\0",
		  6, true, 0 },
		{ "\0\1\1a\0"
		  "\2\0\1\1\0\0\0\1\1\0\1",
		  16, true, 2 },
		{ "\0\1\1a\0"
		  "\2\0\1\1\2\0\0\1\1\0\0",
		  16, true, 1 }, /* a memory first */
		{ "\0\1\1a\0"
		  "\1\0\1\1\0\1",
		  11, false, 0 }, /* begins at 1 */
		{ "\0\1\1a\0"
		  "\1\0\1\2\0\0",
		  11, false, 0 }, /* no such text */
		{ "\0\1\1a\0"
		  "\1\1\1\1\0\0",
		  11, false, 0 }, /* not an import */
		{ "\0\1\1a\0"
		  "\3\0\1\1\0\0",
		  11, false, 0 }, /* cut */
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct blob info = { .bytes = malloc(cases[i].size), .size = cases[i].size };
		struct modinfo found;

		memcpy(info.bytes, cases[i].bytes, cases[i].size);
		assert_int_equal(modinfo_read(&info, 50, &found), 0);
		assert_int_equal(found.imports_are_known, cases[i].is_known);
		if (cases[i].is_known)
			assert_int_equal(found.imported_functions, cases[i].functions);
		modinfo_fini(&found);
		blob_free(&info);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_real_images),
		cmocka_unit_test(knows_the_format_between),
		cmocka_unit_test(takes_no_nonsense),
		cmocka_unit_test(believes_imports_only_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
