/* SPDX-License-Identifier: MIT */
/*
 * instance_test.c - who is who, for how long, and at what cost in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>

#include "preload/load/instance.h"

static struct instance_key key(uint64_t store, uint64_t in_store)
{
	return (struct instance_key){ .store = store, .key = in_store };
}

static void test_same_key_same_id(void **unused)
{
	uint32_t a = instance_for(key(1, 0x1000), 7), b = instance_for(key(1, 0x2000), 7);

	(void)unused;
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_equal(instance_for(key(1, 0x1000), 0), a);
	assert_int_equal(instance_find(key(1, 0x2000)), b);
	assert_int_equal(instance_find(key(1, 0x3000)), 0);
	/* The same address in another store is another instance. */
	assert_int_not_equal(instance_for(key(2, 0x1000), 7), a);
	assert_int_equal(instance_count(7), 3);
}

static void test_serials_count_within_the_module(void **unused)
{
	struct instance_info first, second, late;
	uint32_t unknown;

	(void)unused;
	assert_true(instance_get(instance_for(key(10, 1), 20), &first));
	assert_true(instance_get(instance_for(key(10, 2), 20), &second));
	assert_int_equal(first.serial, 1);
	assert_int_equal(second.serial, 2);
	/* Made before its module was known: completed later, by the same key. */
	unknown = instance_for(key(10, 3), 0);
	assert_int_equal(instance_for(key(10, 3), 20), unknown);
	assert_true(instance_get(unknown, &late));
	assert_int_equal(late.loading, 20);
	assert_int_equal(late.serial, 3);
}

static void test_an_alias_is_the_same_instance(void **unused)
{
	uint32_t id = instance_for(key(30, 1), 31);

	(void)unused;
	instance_alias(key(30, 0xf00d), id);
	assert_int_equal(instance_find(key(30, 0xf00d)), id);
	assert_int_equal(instance_for(key(30, 0xf00d), 0), id);
	assert_int_equal(instance_count(31), 1);
}

static void test_facts_outlive_the_store_until_drained(void **unused)
{
	struct instance_info info;
	uint32_t id = instance_for(key(40, 1), 41);

	(void)unused;
	instance_forget_store(40);
	assert_true(instance_get(id, &info));
	instance_reclaim(); /* a ring may still hold its samples */
	assert_true(instance_get(id, &info));
	instance_reclaim();
	assert_false(instance_get(id, &info));
}

static void test_many_short_lives_take_no_memory(void **unused)
{
	size_t before = 0;

	(void)unused;
	for (uint64_t store = 1000; store < 201000; store++) {
		assert_int_not_equal(instance_for(key(store, 1), 50), 0);
		instance_alias(key(store, 2), instance_find(key(store, 1)));
		instance_forget_store(store);
		if (store % 100 == 0)
			instance_reclaim();
		if (store == 11000)
			before = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks <= before + 4096);
	assert_int_equal(instance_count(50), 200000);
}

static void *make_instances(void *store)
{
	for (uint64_t i = 1; i <= 20000; i++) {
		if (instance_for(key((uintptr_t)store, i), 60) == 0)
			return store;
	}
	return NULL;
}

static void test_threads_at_once(void **unused)
{
	pthread_t threads[4];
	void *failed;

	(void)unused;
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, make_instances, (void *)(i + 500000));
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(instance_count(60), 80000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_key_same_id),
		cmocka_unit_test(test_serials_count_within_the_module),
		cmocka_unit_test(test_an_alias_is_the_same_instance),
		cmocka_unit_test(test_facts_outlive_the_store_until_drained),
		cmocka_unit_test(test_many_short_lives_take_no_memory),
		cmocka_unit_test(test_threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
