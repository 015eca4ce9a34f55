/* SPDX-License-Identifier: MIT */
/*
 * symtab_test.c - an address resolves to the module that was there when the sample was taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/symtab.h"
#include "tests/unit/symtab/failing.h"

#include <errno.h>

static struct module *a_module(const char *name)
{
	struct module *module = module_new(&(struct module_source){ .given_name = name });

	assert_non_null(module);
	return module;
}

static uint32_t id_at(const struct symtab *symtab, uintptr_t address, uint64_t generation)
{
	const struct symtab_entry *entry = symtab_find(symtab, address, generation);

	return entry != NULL ? entry->id : 0;
}

static void finds_what_was_there_then(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("m");

	(void)state;
	assert_int_equal(symtab_add(symtab, module, 1, 0x1000, 0x100, 5), 0);
	assert_int_equal(symtab_add(symtab, module, 2, 0x2000, 0x100, 6), 0);
	assert_int_equal(id_at(symtab, 0x1000, 5), 1);
	assert_int_equal(id_at(symtab, 0x10ff, UINT64_MAX - 1), 1);
	assert_int_equal(id_at(symtab, 0x1100, 6), 0);
	assert_int_equal(id_at(symtab, 0xfff, 6), 0);
	assert_int_equal(id_at(symtab, 0x1000, 4), 0); /* not yet born */
	assert_int_equal(id_at(symtab, 0x2080, 5), 0);
	symtab_retire(symtab, 1, 9);
	assert_int_equal(id_at(symtab, 0x1000, 8), 1);
	assert_int_equal(id_at(symtab, 0x1000, 9), 0);
	symtab_retire(symtab, 77, 9); /* unknown: ignored */
	symtab_retire(symtab, 1, 20); /* dead already: stays so */
	assert_int_equal(id_at(symtab, 0x1000, 10), 0);
	assert_int_equal(symtab_count(symtab), 2);
	module_unref(module);
	symtab_free(symtab);
}

static void tells_apart_modules_at_one_address(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("m");
	uint32_t id;

	(void)state;
	for (id = 1; id <= 50; id++) {
		assert_int_equal(symtab_add(symtab, module, id, 0x1000, 0x100, 10 * id), 0);
		symtab_retire(symtab, id, 10 * id + 9);
	}
	for (id = 1; id <= 50; id++) {
		assert_int_equal(id_at(symtab, 0x1080, 10 * id), id);
		assert_int_equal(id_at(symtab, 0x1080, 10 * id + 8), id);
		assert_int_equal(id_at(symtab, 0x1080, 10 * id + 9), 0);
	}
	symtab_forget(symtab, 10 * 40 + 9);
	assert_int_equal(symtab_count(symtab), 10);
	assert_int_equal(id_at(symtab, 0x1080, 400), 0);
	assert_int_equal(id_at(symtab, 0x1080, 410), 41);
	module_unref(module);
	symtab_free(symtab);
}

static void a_new_mapping_ends_those_it_covers(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("m");

	(void)state;
	symtab_add(symtab, module, 1, 0x1000, 0x1000, 1);
	symtab_add(symtab, module, 2, 0x2000, 0x1000, 1);
	symtab_add(symtab, module, 3, 0x3000, 0x1000, 1);
	symtab_add(symtab, module, 4, 0x4000, 0x1000, 1);
	assert_int_equal(symtab_add(symtab, module, 5, 0x1800, 0x2000, 7), 0);
	assert_int_equal(id_at(symtab, 0x1000, 6), 1);
	assert_int_equal(id_at(symtab, 0x1000, 7), 0); /* all of it went */
	assert_int_equal(id_at(symtab, 0x1900, 6), 1);
	assert_int_equal(id_at(symtab, 0x1900, 7), 5);
	assert_int_equal(id_at(symtab, 0x2500, 6), 2);
	assert_int_equal(id_at(symtab, 0x2500, 7), 5);
	assert_int_equal(id_at(symtab, 0x3900, 7), 0);
	assert_int_equal(id_at(symtab, 0x4000, 7), 4);
	assert_int_equal(symtab_count(symtab), 5);
	module_unref(module);
	symtab_free(symtab);
}

/* Dead entries of different sizes over each other: all must be looked at. */
static void finds_large_dead_entries_behind_small_ones(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("m");
	uint32_t id;

	(void)state;
	symtab_add(symtab, module, 1, 0x1000, 0x100000, 1);
	symtab_retire(symtab, 1, 2);
	for (id = 2; id < 100; id++) {
		symtab_add(symtab, module, id, 0x1000 + 0x100 * id, 0x100, 3);
		symtab_retire(symtab, id, 4);
	}
	assert_int_equal(id_at(symtab, 0x1000 + 0x100 * 50, 1), 1);
	assert_int_equal(id_at(symtab, 0x1000 + 0x100 * 50, 3), 50);
	assert_int_equal(id_at(symtab, 0x1000 + 0xfffff, 1), 1);
	assert_int_equal(id_at(symtab, 0x1000 + 0x100000, 1), 0);
	symtab_forget(symtab, 2);
	assert_int_equal(id_at(symtab, 0x1000 + 0x100 * 50, 1), 0);
	assert_int_equal(id_at(symtab, 0x1000 + 0x100 * 50, 3), 50);
	module_unref(module);
	symtab_free(symtab);
}

static void holds_a_reference(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("kept");

	(void)state;
	symtab_add(symtab, module, 1, 0x1000, 0x100, 1);
	module_unref(module);
	assert_string_equal(module_name(symtab_find(symtab, 0x1000, 1)->module), "kept");
	symtab_retire(symtab, 1, 2);
	assert_string_equal(module_name(symtab_find(symtab, 0x1000, 1)->module), "kept");
	symtab_forget(symtab, 2); /* the last reference: a sanitizer would see a second free */
	assert_int_equal(symtab_count(symtab), 0);
	symtab_free(symtab);
	symtab_free(NULL);
}

static void an_empty_or_top_range_holds_nothing_wrong(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = a_module("m");

	(void)state;
	symtab_add(symtab, module, 1, 0x1000, 0, 1);
	symtab_add(symtab, module, 2, UINTPTR_MAX - 0xff, 0x100, 1);
	assert_int_equal(id_at(symtab, 0x1000, 1), 0);
	assert_int_equal(id_at(symtab, UINTPTR_MAX, 1), 2);
	assert_int_equal(id_at(symtab, 0, 1), 0);
	module_unref(module);
	symtab_free(symtab);
}

static void short_memory_changes_nothing(void **state)
{
	struct symtab *symtab;
	struct module *module;
	uint32_t id;

	(void)state;
	if (!failing_works)
		skip();
	symtab = symtab_new();
	module = a_module("m");
	for (id = 1; id <= 16; id++)
		assert_int_equal(symtab_add(symtab, module, id, 0x1000 * id, 0x1000, 1), 0);
	failing_start(1);
	assert_int_equal(symtab_add(symtab, module, 17, 0x1000, 0x10000, 2), -ENOMEM);
	assert_true(failing_stop());
	failing_start(2);
	assert_int_equal(symtab_add(symtab, module, 17, 0x1000, 0x10000, 2), -ENOMEM);
	assert_true(failing_stop());
	for (id = 1; id <= 16; id++)
		assert_int_equal(id_at(symtab, 0x1000 * id, 5), id);
	assert_int_equal(symtab_add(symtab, module, 17, 0x1000, 0x10000, 2), 0);
	assert_int_equal(id_at(symtab, 0x1000, 5), 17);
	assert_int_equal(id_at(symtab, 0x1000, 1), 1);
	module_unref(module);
	symtab_free(symtab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_there_then),
		cmocka_unit_test(tells_apart_modules_at_one_address),
		cmocka_unit_test(a_new_mapping_ends_those_it_covers),
		cmocka_unit_test(finds_large_dead_entries_behind_small_ones),
		cmocka_unit_test(holds_a_reference),
		cmocka_unit_test(an_empty_or_top_range_holds_nothing_wrong),
		cmocka_unit_test(short_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
