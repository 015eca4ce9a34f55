/* SPDX-License-Identifier: MIT */
/*
 * set_test.c - a prepared set: what is in it, by which name, and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "symtab/symtab.h"

enum { THREADS = 4, CLONES = 100000 };

static struct symtab *three_modules(void)
{
	static const char *const names[] = { "one", "two", "three" };
	struct symtab *symtab = symtab_new();

	for (uint32_t i = 0; i < 3; i++) {
		struct module *module =
			module_new(&(struct module_source){ .given_name = names[i] });

		assert_int_equal(symtab_add(symtab, module, i + 1, 0x1000 * (i + 1), 0x100, 1), 0);
		module_unref(module);
	}
	return symtab;
}

static void test_only_what_is_listed(void **unused)
{
	const uint32_t loadings[] = { 3, 1 };
	struct symtab *symtab = three_modules();
	struct module_set *set = set_new(symtab, loadings, NULL, 2);
	const char *name = NULL;

	(void)unused;
	assert_int_equal(set_count(set), 2);
	assert_true(set_has(set, 1, &name));
	assert_string_equal(name, "one");
	assert_true(set_has(set, 3, &name));
	assert_string_equal(name, "three");
	assert_false(set_has(set, 2, &name));
	assert_false(set_has(set, 0, &name));
	set_unref(set);
	symtab_free(symtab);
}

static void test_called_as_the_embedder_says(void **unused)
{
	const uint32_t loadings[] = { 1, 2 };
	const char *const names[] = { NULL, "mine" };
	struct symtab *symtab = three_modules();
	struct module_set *set = set_new(symtab, loadings, names, 2);
	const char *name;

	(void)unused;
	assert_true(set_has(set, 1, &name));
	assert_string_equal(name, "one");
	assert_true(set_has(set, 2, &name));
	assert_string_equal(name, "mine");
	set_unref(set);
	symtab_free(symtab);
}

static void test_listed_twice_counts_once_and_unknown_is_skipped(void **unused)
{
	const uint32_t loadings[] = { 2, 77, 2, 0, 1 };
	const char *const names[] = { "first", "x", "second", "y", "z" };
	struct symtab *symtab = three_modules();
	struct module_set *set = set_new(symtab, loadings, names, 5);

	(void)unused;
	assert_int_equal(set_count(set), 2);
	set_unref(set);
	set = set_new(symtab, NULL, NULL, 0);
	assert_int_equal(set_count(set), 0);
	set_unref(set);
	set_unref(NULL);
	symtab_free(symtab);
}

static void test_it_outlives_the_table(void **unused)
{
	const uint32_t loadings[] = { 2 };
	struct symtab *symtab = three_modules();
	struct module_set *set = set_new(symtab, loadings, NULL, 1);
	const char *name;

	(void)unused;
	symtab_retire(symtab, 2, 2);
	symtab_forget(symtab, 2);
	symtab_free(symtab);
	assert_true(set_has(set, 2, &name));
	assert_string_equal(name,
			    "two"); /* the module's own text: the sanitizer would see it freed */
	set_unref(set);
}

static void test_a_dead_loading_can_still_be_listed(void **unused)
{
	const uint32_t loadings[] = { 2 };
	struct symtab *symtab = three_modules();
	struct module_set *set;

	(void)unused;
	symtab_retire(symtab, 2, 5);
	set = set_new(symtab, loadings, NULL, 1);
	assert_int_equal(set_count(set), 1);
	set_unref(set);
	symtab_free(symtab);
}

static void *clone_and_drop(void *set)
{
	for (int i = 0; i < CLONES; i++)
		set_unref(set_ref(set));
	set_unref(set);
	return NULL;
}

static void test_threads_clone_it(void **unused)
{
	const uint32_t loadings[] = { 1, 2, 3 };
	struct symtab *symtab = three_modules();
	struct module_set *set = set_new(symtab, loadings, NULL, 3);
	pthread_t threads[THREADS];

	(void)unused;
	symtab_free(symtab);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, clone_and_drop, set_ref(set)),
				 0);
	set_unref(set); /* the last thread frees it */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_listed),
		cmocka_unit_test(test_called_as_the_embedder_says),
		cmocka_unit_test(test_listed_twice_counts_once_and_unknown_is_skipped),
		cmocka_unit_test(test_it_outlives_the_table),
		cmocka_unit_test(test_a_dead_loading_can_still_be_listed),
		cmocka_unit_test(test_threads_clone_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
