/* SPDX-License-Identifier: MIT */
/* skeleton_test.c - what is kept for source lines, where it was; limits; no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symtab.h"
#include "tests/unit/lines/fixture.h"
#include "tests/unit/symtab/failing.h"

#include <errno.h>

enum { IMPORT = 2, FUNCTION = 3, CODE = 10, NO_LIMIT = 1 << 30 };

static int put(void *context, const void *bytes, size_t size)
{
	bytes_add(context, bytes, size);
	return 0;
}

static int refuse(void *context, const void *bytes, size_t size)
{
	(void)bytes, (void)size;
	return --*(int *)context == 0 ? -EIO : 0;
}

static struct bytes skeleton_of(const struct bytes *file)
{
	struct wasmbin *bin = wasmbin_parse(file->bytes, file->size);
	struct bytes skeleton = { 0 };

	assert_non_null(bin);
	assert_int_equal(wasmbin_debug_size(bin), 0);
	assert_int_equal(wasmbin_keep_debug(bin, file->bytes, file->size, NO_LIMIT), 0);
	assert_int_equal(wasmbin_debug_size(bin), file->size);
	assert_int_equal(wasmbin_debug_write(bin, put, &skeleton), 0);
	wasmbin_unref(bin);
	return skeleton;
}

/* The section is the same in both, or zero in the skeleton. */
static void expect_section(const struct bytes *file, const struct bytes *skeleton, unsigned int id,
			   const char *name, bool is_kept)
{
	size_t size, at = fixture_section(file, id, name, &size);

	assert_int_not_equal(size, 0);
	for (size_t i = at; i < at + size; i++)
		assert_int_equal(skeleton->bytes[i], is_kept ? file->bytes[i] : 0);
}

static void keeps_what_lines_need(void **state)
{
	struct bytes file = fixture_read("inline-4.wasm"), skeleton = skeleton_of(&file);
	struct wasmbin *whole = wasmbin_parse_bodies(file.bytes, file.size);
	struct wasmbin *bones = wasmbin_parse_bodies(skeleton.bytes, skeleton.size);
	uint64_t start, end, bone_start, bone_end;

	(void)state;
	assert_int_equal(skeleton.size, file.size);
	expect_section(&file, &skeleton, FUNCTION, NULL, true);
	expect_section(&file, &skeleton, 0, ".debug_info", true);
	expect_section(&file, &skeleton, 0, ".debug_abbrev", true);
	expect_section(&file, &skeleton, 0, ".debug_line", true);
	expect_section(&file, &skeleton, 0, ".debug_str", true);
	expect_section(&file, &skeleton, 0, ".debug_ranges", true);
	assert_int_equal(wasmbin_defined_functions(bones, 0), 2);
	for (uint32_t function = 0; function < 2; function++) {
		assert_true(wasmbin_body(whole, 0, function, &start, &end));
		assert_true(wasmbin_body(bones, 0, function, &bone_start, &bone_end));
		assert_int_equal(start, bone_start);
		assert_int_equal(end, bone_end);
		for (uint64_t at = start; at < end; at++)
			assert_int_equal(skeleton.bytes[at], 0);
	}
	wasmbin_unref(whole);
	wasmbin_unref(bones);
	free(file.bytes);
	free(skeleton.bytes);
}

/* Names, data, and variables' places make no lines. */
static void leaves_the_rest_out(void **state)
{
	struct bytes file = fixture_read("inline-4.wasm"), skeleton = skeleton_of(&file);
	size_t size, at = fixture_section(&file, 0, ".debug_loc", &size), zeros = 0;

	(void)state;
	for (size_t i = at; i < at + size; i++)
		assert_int_equal(skeleton.bytes[i], 0);
	for (size_t i = 0; i < skeleton.size; i++)
		zeros += skeleton.bytes[i] == 0 && file.bytes[i] != 0;
	assert_true(zeros > 400);
	free(file.bytes);
	free(skeleton.bytes);
}

static void keeps_core_modules_of_components(void **state)
{
	static const uint8_t preamble[] = { 0, 'a', 's', 'm', 0x0d, 0, 1, 0 };
	struct bytes module = fixture_read("shapes.wasm"), plain = skeleton_of(&module);
	struct bytes inner = { 0 }, outer = { 0 }, skeleton;

	(void)state;
	bytes_add(&inner, preamble, sizeof(preamble));
	bytes_section(&inner, 1, &module);
	bytes_add(&outer, preamble, sizeof(preamble));
	bytes_custom(&outer, "unknown", "many other things", 17);
	bytes_section(&outer, 1, &module);
	bytes_section(&outer, 4, &inner);
	skeleton = skeleton_of(&outer);
	assert_int_equal(skeleton.size, outer.size);
	assert_memory_equal(skeleton.bytes + outer.size - module.size, plain.bytes, plain.size);
	assert_memory_equal(skeleton.bytes, preamble, sizeof(preamble));
	assert_null(memmem(skeleton.bytes, skeleton.size, "many other", 10));
	free(module.bytes);
	free(plain.bytes);
	free(inner.bytes);
	free(outer.bytes);
	free(skeleton.bytes);
}

static void keeps_nothing_without_debug_sections_or_room(void **state)
{
	static const uint8_t module[] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
	struct bytes file = fixture_read("inline-5.wasm");
	struct wasmbin *bin = wasmbin_parse(module, sizeof(module));
	int calls;

	(void)state;
	assert_int_equal(wasmbin_keep_debug(bin, module, sizeof(module), NO_LIMIT), -ENOENT);
	assert_int_equal(wasmbin_debug_size(bin), 0);
	wasmbin_unref(bin);
	bin = wasmbin_parse(file.bytes, file.size);
	for (size_t limit = 0; limit < 1000; limit++)
		assert_int_equal(wasmbin_keep_debug(bin, file.bytes, file.size, limit), -E2BIG);
	assert_int_equal(wasmbin_keep_debug(bin, file.bytes, file.size, NO_LIMIT), 0);
	for (calls = 1; calls < 5; calls++) {
		int left = calls;

		assert_int_equal(wasmbin_debug_write(bin, refuse, &left), -EIO);
	}
	wasmbin_unref(bin);
	free(file.bytes);
}

static void survives_every_cut(void **state)
{
	struct bytes file = fixture_read("inline-5.wasm");

	(void)state;
	for (size_t size = 8; size < file.size; size++) {
		uint8_t *copy = malloc(size);
		struct wasmbin *bin;
		struct bytes skeleton = { 0 };

		memcpy(copy, file.bytes, size);
		bin = wasmbin_parse(copy, size);
		assert_non_null(bin);
		if (wasmbin_keep_debug(bin, copy, size, NO_LIMIT) == 0) {
			assert_int_equal(wasmbin_debug_write(bin, put, &skeleton), 0);
			assert_int_equal(skeleton.size, size);
		}
		wasmbin_unref(bin);
		free(skeleton.bytes);
		free(copy);
	}
	free(file.bytes);
}

static void survives_without_memory(void **state)
{
	struct bytes file;
	struct wasmbin *bin;
	long nth = 0;
	int error;

	(void)state;
	if (!failing_works)
		skip();
	file = fixture_read("inline-4.wasm");
	bin = wasmbin_parse(file.bytes, file.size);
	do {
		failing_start(++nth);
		error = wasmbin_keep_debug(bin, file.bytes, file.size, NO_LIMIT);
		assert_int_equal(error, failing_stop() ? -ENOMEM : 0);
	} while (error != 0);
	assert_true(nth > 3);
	wasmbin_unref(bin);
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_lines_need),
		cmocka_unit_test(leaves_the_rest_out),
		cmocka_unit_test(keeps_core_modules_of_components),
		cmocka_unit_test(keeps_nothing_without_debug_sections_or_room),
		cmocka_unit_test(survives_every_cut),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
