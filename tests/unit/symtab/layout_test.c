/* SPDX-License-Identifier: MIT */
/*
 * layout_test.c - where functions are, written and read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/layout.h"
#include "tests/unit/symtab/failing.h"
#include "tests/unit/symtab/module_fixture.h"

static const char *const images[] = { "guest-25.cwasm", "guest-50.cwasm",
				      "guest-49-nosymbols.cwasm", "component-50.cwasm" };

/* Every function's first and last position lie in what the layout says of it, and it has all. */
static void says_what_the_image_says(void **state)
{
	size_t i, size;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(images); i++) {
		struct module *module = module_of_file(images[i], NULL, NULL);
		uint8_t *bytes = module_layout(module, &size);
		struct layout layout = layout_of(bytes, size);
		struct layout_entry entry;
		uint32_t count = 0;

		assert_non_null(bytes);
		while (layout_next(&layout, &entry)) {
			const struct symbol *symbol = symbol_of(module, entry.core, entry.function);
			uint64_t first, last;

			assert_non_null(symbol);
			assert_true(entry.has_extent);
			assert_true(module_wasm_offset(module, symbol->start, &first));
			assert_true(module_wasm_offset(module, symbol->end - 1, &last));
			assert_in_range(first, entry.low, entry.high);
			assert_in_range(last, entry.low, entry.high);
			count++;
		}
		assert_int_equal(count, module_function_count(module));
		free(bytes);
		module_unref(module);
	}
}

static void is_small(void **state)
{
	struct module *module = module_of_file("guest-50.cwasm", NULL, NULL);
	uint8_t *bytes;
	size_t size;

	(void)state;
	bytes = module_layout(module, &size);
	assert_in_range(size, 1, 3 * 7); /* of 7 functions */
	free(bytes);
	module_unref(module);
	module = module_new(&(struct module_source){ .given_name = NULL });
	assert_null(module_layout(module, &size));
	assert_int_equal(size, 0);
	module_unref(module);
}

static size_t count_entries(const uint8_t *bytes, size_t size)
{
	struct layout layout = layout_of(bytes, size);
	struct layout_entry entry;
	size_t count = 0;

	while (layout_next(&layout, &entry))
		count++;
	return count;
}

static void reads_runs(void **state)
{
	/* functions 2 (from 100 to 105) and 3 (unknown) of core module 0, 0 of 1 (from 7 to 7) */
	static const uint8_t bytes[] = { 0, 2, 2, 0xc9, 1, 5, 0, 1, 0, 1, 15, 0 };
	struct layout layout = layout_of(bytes, sizeof(bytes));
	struct layout_entry entry;

	(void)state;
	assert_true(layout_next(&layout, &entry));
	assert_int_equal(entry.function, 2);
	assert_int_equal(entry.low, 100);
	assert_int_equal(entry.high, 105);
	assert_true(layout_next(&layout, &entry));
	assert_int_equal(entry.function, 3);
	assert_false(entry.has_extent);
	assert_true(layout_next(&layout, &entry));
	assert_int_equal(entry.core, 1);
	assert_int_equal(entry.function, 0);
	assert_int_equal(entry.low, 7);
	assert_int_equal(entry.high, 7);
	assert_false(layout_next(&layout, &entry));
}

static void ends_at_damage(void **state)
{
	static const uint8_t many[] = { 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0 };
	static const uint8_t empty_runs[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t overlong[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	(void)state;
	assert_int_equal(count_entries(NULL, 0), 0);
	assert_int_equal(count_entries(many, sizeof(many)), 3);
	assert_int_equal(count_entries(empty_runs, sizeof(empty_runs)), 0);
	assert_int_equal(count_entries(overlong, sizeof(overlong)), 0);
}

static void reports_short_memory(void **state)
{
	struct module *module;
	uint8_t *bytes;
	size_t size;

	(void)state;
	if (!failing_works)
		skip();
	module = module_of_file("guest-50.cwasm", NULL, NULL);
	failing_start(1);
	bytes = module_layout(module, &size);
	assert_true(failing_stop());
	assert_null(bytes);
	/* it cannot be made smaller: then it is larger than need be */
	failing_start(2);
	bytes = module_layout(module, &size);
	assert_true(failing_stop());
	assert_non_null(bytes);
	assert_int_equal(count_entries(bytes, size), 7);
	free(bytes);
	module_unref(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_the_image_says),
		cmocka_unit_test(is_small),
		cmocka_unit_test(reads_runs),
		cmocka_unit_test(ends_at_damage),
		cmocka_unit_test(reports_short_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
