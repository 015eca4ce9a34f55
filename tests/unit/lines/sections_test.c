/* SPDX-License-Identifier: MIT */
/* sections_test.c - where files have code and debug sections; cut files; no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/lines/sections.h"
#include "symtab/symtab.h"
#include "tests/unit/lines/fixture.h"
#include "tests/unit/symtab/failing.h"

#include <errno.h>

static const uint8_t component_preamble[] = { 0, 'a', 's', 'm', 0x0d, 0, 1, 0 };
static const uint8_t module_preamble[] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };

static void finds_code_and_debug_sections(void **state)
{
	struct bytes file = fixture_read("inline-5.wasm");
	struct sections sections;
	size_t size;

	(void)state;
	assert_int_equal(sections_read(&sections, file.bytes, file.size), 0);
	assert_int_equal(sections.core_count, 1);
	assert_int_equal(sections.cores[0].code.at, fixture_section(&file, 10, NULL, &size));
	assert_int_equal(sections.cores[0].code.size, size);
	for (int i = 0; i < DEBUG_COUNT; i++) {
		const struct extent *found = &sections.cores[0].debug[i];

		if (i == DEBUG_RANGES) { /* of version 4 */
			assert_int_equal(found->size, 0);
			continue;
		}
		assert_int_equal(found->at, fixture_section(&file, 0, sections_names[i], &size));
		assert_int_equal(found->size, size);
	}
	sections_free(&sections);
	free(file.bytes);
}

/* COUNT core modules around a nested component with one more in the middle. */
static struct bytes component_of(const struct bytes *module, size_t count)
{
	struct bytes file = { 0 }, inner = { 0 };

	bytes_add(&inner, component_preamble, sizeof(component_preamble));
	bytes_section(&inner, 1, module);
	bytes_add(&file, component_preamble, sizeof(component_preamble));
	for (size_t i = 0; i < count; i++) {
		if (i == count / 2)
			bytes_section(&file, 4, &inner);
		bytes_section(&file, 1, module);
	}
	free(inner.bytes);
	return file;
}

/* Other parts of the program number core modules too: the same ones must have the same numbers. */
static void numbers_core_modules_as_wasmbin_does(void **state)
{
	struct bytes module = fixture_read("inline-4.wasm"), file = component_of(&module, 5);
	struct wasmbin *bin = wasmbin_parse_bodies(file.bytes, file.size);
	struct sections sections;

	(void)state;
	assert_int_equal(sections_read(&sections, file.bytes, file.size), 0);
	assert_int_equal(sections.core_count, 6);
	assert_int_equal(wasmbin_core_count(bin), 6);
	for (uint32_t i = 0; i < 6; i++) {
		struct identity identity;
		uint64_t start, end;

		wasmbin_core_identity(bin, i, &identity);
		assert_int_equal(identity.code_offset, sections.cores[i].code.at);
		assert_true(wasmbin_body(bin, i, 0, &start, &end));
		assert_in_range(start, sections.cores[i].code.at,
				sections.cores[i].code.at + sections.cores[i].code.size);
	}
	sections_free(&sections);
	wasmbin_unref(bin);
	free(file.bytes);
	free(module.bytes);
}

static void survives_every_cut(void **state)
{
	struct bytes module = fixture_read("shapes.wasm"), file = component_of(&module, 2);

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		uint8_t *copy = malloc(size != 0 ? size : 1);
		struct sections sections;
		int error;

		memcpy(copy, file.bytes, size);
		error = sections_read(&sections, copy, size);
		assert_int_equal(error, size < 8 ? -EINVAL : 0);
		for (uint32_t i = 0; i < sections.core_count; i++) {
			const struct sections_core *core = &sections.cores[i];

			assert_true(core->code.at + core->code.size <= size);
			for (int k = 0; k < DEBUG_COUNT; k++)
				assert_true(core->debug[k].at + core->debug[k].size <= size);
		}
		sections_free(&sections);
		free(copy);
	}
	free(file.bytes);
	free(module.bytes);
}

/* Components in components: deeper than any compiler nests, than our stack reaches. */
static void nesting_is_bounded(void **state)
{
	struct bytes file = { 0 };
	struct sections sections;

	(void)state;
	bytes_add(&file, component_preamble, sizeof(component_preamble));
	for (int i = 0; i < 2000; i++) {
		struct bytes outer = { 0 };

		bytes_add(&outer, component_preamble, sizeof(component_preamble));
		bytes_section(&outer, 4, &file);
		free(file.bytes);
		file = outer;
	}
	assert_int_equal(sections_read(&sections, file.bytes, file.size), 0);
	assert_int_equal(sections.core_count, 0);
	sections_free(&sections);
	free(file.bytes);
}

static void refuses_other_preambles(void **state)
{
	static const uint8_t future[] = { 0, 'a', 's', 'm', 2, 0, 0, 0 };
	struct sections sections;

	(void)state;
	assert_int_equal(sections_read(&sections, future, sizeof(future)), -EINVAL);
	assert_int_equal(sections_read(&sections, (const uint8_t *)"(module)", 8), -EINVAL);
	assert_int_equal(sections_read(&sections, module_preamble, 7), -EINVAL);
	assert_int_equal(sections_read(&sections, module_preamble, 8), 0);
	assert_int_equal(sections.core_count, 1);
	sections_free(&sections);
}

static void survives_without_memory(void **state)
{
	struct bytes module, file;
	long nth = 0;
	bool did_fail;

	(void)state;
	if (!failing_works)
		skip();
	module = fixture_read("inline-4.wasm");
	file = component_of(&module, 4);
	do {
		struct sections sections;
		int error;

		failing_start(++nth);
		error = sections_read(&sections, file.bytes, file.size);
		did_fail = failing_stop();
		assert_int_equal(error, did_fail ? -ENOMEM : 0);
		sections_free(&sections);
	} while (did_fail);
	assert_true(nth > 1);
	free(file.bytes);
	free(module.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_code_and_debug_sections),
		cmocka_unit_test(numbers_core_modules_as_wasmbin_does),
		cmocka_unit_test(survives_every_cut),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(refuses_other_preambles),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
