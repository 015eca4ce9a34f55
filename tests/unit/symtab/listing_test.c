/* SPDX-License-Identifier: MIT */
/* listing_test.c - modules whose functions are told one by one, and their place in the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symtab/codemap.h"
#include "symtab/symtab.h"
#include "tests/unit/symtab/failing.h"

static struct module *new_module(const char *identity)
{
	return module_new_listed(&(struct module_listing){
		.engine = "engine",
		.engine_version = "1.2",
		.name = "scripts",
		.identity = identity,
	});
}

static struct listed_function function(const char *full, const char *shown, uint32_t index)
{
	return (struct listed_function){
		.kind = SYMBOL_GUEST,
		.full_name = full,
		.shown_name = shown,
		.index = index,
		.size = 100,
	};
}

static void is_a_module_as_others(void **state)
{
	struct module *module = new_module("a"), *same = new_module("a"), *other = new_module("b");

	(void)state;
	assert_true(module_is_listed(module));
	assert_string_equal(module_name(module), "scripts");
	assert_int_equal(module_name_origin(module), NAME_GIVEN);
	assert_string_equal(module_engine(module), "engine");
	assert_string_equal(module_engine_version(module), "1.2");
	assert_int_equal(strlen(module_identity(module)), 64);
	assert_string_equal(module_identity(module), module_identity(same));
	assert_string_not_equal(module_identity(module), module_identity(other));
	assert_int_equal(module_function_count(module), 0);
	assert_null(module_find(module, 0));
	module_unref(module);
	module_unref(same);
	module_unref(other);
}

static void names_and_places(void **state)
{
	struct module *module = new_module("a");
	struct listed_function quick = function("_ZN1a1bEv-7-quick", "_ZN1a1bEv", 7);
	struct listed_function good = function("_ZN1a1bEv-7-good", "_ZN1a1bEv", 7);
	const struct symbol *symbol;
	uint32_t first, second, again;

	(void)state;
	assert_int_equal(module_list(module, &quick, &first), 0);
	assert_int_equal(module_list(module, &good, &second), 0);
	assert_int_equal(module_list(module, &quick, &again), 0);
	assert_int_equal(first, again);
	assert_int_not_equal(first, second);
	assert_int_equal(module_symbol_count(module), 2);
	symbol = module_symbol(module, second);
	assert_int_equal(symbol->function, 7);
	assert_string_equal(module_symbol_name(module, symbol), "a::b()");
	assert_string_equal(module_symbol_system_name(module, symbol), "_ZN1a1bEv-7-good");
	assert_ptr_equal(module_find(module, symbol->start + 99), symbol);
	assert_null(module_find(module, symbol->end));
	module_unref(module);
}

static void nameless_and_empty(void **state)
{
	struct module *module = new_module("a");
	struct listed_function nameless = function("wasm-function[3]-3-good", "", 3);
	uint32_t id;

	(void)state;
	nameless.size = 0;
	assert_int_equal(module_list(module, &nameless, &id), 0);
	assert_string_equal(module_symbol_name(module, module_symbol(module, id)),
			    "scripts!wasm-function[3]");
	assert_ptr_equal(module_find(module, module_symbol(module, id)->start),
			 module_symbol(module, id));
	module_unref(module);
}

/* Names that were asked for early stay while the module grows. */
static void grows(void **state)
{
	struct module *module = new_module("a");
	char name[32];
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct listed_function one = function(name, name, i);

		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(module_list(module, &one, &id), 0);
		assert_int_equal(id, i);
		if (i % 50 == 0)
			assert_string_equal(module_symbol_name(module, module_symbol(module, id)),
					    name);
	}
	for (uint32_t i = 0; i < 5000; i += 49) {
		const struct symbol *symbol = module_symbol(module, i);

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(module_symbol_name(module, symbol), name);
		assert_ptr_equal(module_find(module, symbol->start), symbol);
	}
	assert_int_equal(module_function_count(module), 5000);
	module_unref(module);
}

static void is_bounded(void **state)
{
	struct module *module = new_module("a");
	char name[32];
	int error = 0;
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; error == 0; i++) {
		struct listed_function one = function(name, name, i);

		snprintf(name, sizeof(name), "f%u", i);
		error = module_list(module, &one, &id);
	}
	assert_int_equal(error, -E2BIG);
	assert_int_equal(module_symbol_count(module), 65536);
	module_unref(module);
}

static void an_address_translates_while_its_code_is_there(void **state)
{
	struct symtab *symtab = symtab_new();
	struct module *module = new_module("a");
	struct listed_function one = function("one", "one", UINT32_MAX);
	const struct symtab_entry *entry;
	struct code code = { .start = 0x5000, .size = 100, .born_ns = 10 };
	uint64_t place;
	uint32_t id;

	(void)state;
	assert_int_equal(symtab_translate(symtab, 0x5000, 20), 0x5000);
	assert_int_equal(symtab_add_listed(symtab, module, 3), 0);
	assert_int_equal(module_list(module, &one, &id), 0);
	code.place = symtab_place(3, module_symbol(module, id));
	assert_int_equal(codemap_add(symtab_codes(symtab), &code), 0);
	place = symtab_translate(symtab, 0x5010, 20);
	entry = symtab_find(symtab, place, 1);
	assert_non_null(entry);
	assert_int_equal(entry->id, 3);
	assert_false(symtab_is_space(entry));
	assert_ptr_equal(module_find(module, place - entry->text), module_symbol(module, id));
	assert_int_equal(symtab_translate(symtab, 0x5064, 20), 0x5064);
	/* it moves: the same function, at the same place of its module */
	assert_int_equal(codemap_move(symtab_codes(symtab), 0x5000, 0x9000, 30), 0);
	assert_int_equal(symtab_translate(symtab, 0x9010, 40), place);
	assert_int_equal(symtab_translate(symtab, 0x5010, 40), 0x5010);
	assert_int_equal(symtab_translate_data(symtab, 0x9000 - 54, 40), code.place);
	assert_int_equal(symtab_translate_data(symtab, 0x9000 - 200, 40), 0);
	/* memory in which such code may be */
	assert_int_equal(symtab_add(symtab, module, 4, 0x5000, 0x1000, 1), 0);
	assert_true(symtab_is_space(symtab_find(symtab, 0x5010, 1)));
	symtab_free(symtab);
	module_unref(module);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	if (!failing_works)
		skip();
	for (long nth = 1;; nth++) {
		struct module *module;
		char name[32];
		uint32_t id;

		failing_start(nth);
		module = new_module("a");
		for (uint32_t i = 0; module != NULL && i < 200; i++) {
			struct listed_function one = function(name, name, i);

			snprintf(name, sizeof(name), "f%u", i);
			/* the next one may find memory again */
			if (module_list(module, &one, &id) == 0)
				assert_int_equal(module_symbol(module, id)->function, i);
		}
		if (!failing_stop()) {
			module_unref(module);
			break;
		}
		module_unref(module);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_module_as_others),
		cmocka_unit_test(names_and_places),
		cmocka_unit_test(nameless_and_empty),
		cmocka_unit_test(grows),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(an_address_translates_while_its_code_is_there),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
