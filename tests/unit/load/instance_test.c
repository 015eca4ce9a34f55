/* SPDX-License-Identifier: MIT */
/*
 * instance_test.c - who is who, for how long, and at what cost in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
	assert_true(instance_get(id, &info));
	assert_int_equal(info.ended_ns, 0);
	instance_forget_store(40);
	assert_true(instance_get(id, &info));
	assert_true(info.ended_ns >= info.created_ns);
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

/* ---- labels ---------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* `key=value,key=value` of ID at TIME_NS. */
static const char *labels_at(uint32_t id, uint64_t time_ns)
{
	static char text[INSTANCE_LABELS_MAX * 400];
	struct instance_labels labels;
	size_t used = 0;

	instance_labels_at(id, time_ns, &labels);
	*text = '\0';
	for (size_t i = 0; i < labels.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%s",
					 i > 0 ? "," : "", labels.rows[i].key,
					 labels.rows[i].value);
	assert_true((labels.count != 0) <= (labels.number != 0));
	return text;
}

static void test_labels_hold_from_when_they_were_given(void **unused)
{
	uint32_t id = instance_for(key(70, 1), 71);
	struct instance_info info;
	uint64_t times[5];

	(void)unused;
	assert_true(instance_get(id, &info));
	assert_false(info.has_labels);
	times[0] = now_ns();
	assert_int_equal(instance_label(id, "tenant", "acme"), 0);
	times[1] = now_ns();
	assert_int_equal(instance_label(id, "a", "b"), 0);
	times[2] = now_ns();
	assert_int_equal(instance_label(id, "tenant", "beta"), 0);
	times[3] = now_ns();
	assert_int_equal(instance_label(id, "a", ""), 0);
	assert_int_equal(instance_label(id, "tenant", ""), 0);
	times[4] = now_ns();
	assert_true(instance_get(id, &info));
	assert_true(info.has_labels);
	assert_string_equal(labels_at(id, times[0]), "");
	assert_string_equal(labels_at(id, times[1]), "tenant=acme");
	assert_string_equal(labels_at(id, times[2]), "a=b,tenant=acme");
	assert_string_equal(labels_at(id, times[3]), "a=b,tenant=beta");
	assert_string_equal(labels_at(id, times[4]), "");
	assert_int_equal(instance_label(UINT32_MAX - 1, "a", "b"), -ENOENT);
}

static void test_versions_go_once_drained(void **unused)
{
	uint32_t id = instance_for(key(72, 1), 71);
	uint64_t first;

	(void)unused;
	assert_int_equal(instance_label(id, "n", "first"), 0);
	first = now_ns();
	assert_int_equal(instance_label(id, "n", "second"), 0);
	instance_reclaim();
	instance_label(id, "n", "third"); /* samples of before the reclaim may still wait */
	assert_string_equal(labels_at(id, first), "n=first");
	instance_reclaim();
	instance_label(id, "n", "fourth");
	assert_string_equal(labels_at(id, first), "");
	assert_string_equal(labels_at(id, now_ns()), "n=fourth");
}

static void test_relabelling_takes_no_memory(void **unused)
{
	uint32_t id = instance_for(key(73, 1), 71);
	char value[16];
	size_t before = 0;

	(void)unused;
	for (int i = 0; i < 10000; i++) {
		snprintf(value, sizeof(value), "%d", i % 5000);
		assert_int_equal(instance_label(id, "request", value), 0);
		if (i == 5000)
			before = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, before + 4096);
	assert_string_equal(labels_at(id, now_ns()), "request=4999");
}

static void test_all_labels_are_bounded(void **unused)
{
	char value[INSTANCE_LABEL_VALUE_SIZE];
	uint32_t given = 0;
	int error = 0;

	(void)unused;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	while (error == 0 && given < 100000) {
		error = instance_label(instance_for(key(74, given + 1), 71), "key", value);
		given += error == 0;
	}
	assert_int_equal(error, -ENOMEM);
	assert_in_range(given, 40000, 60000);
	instance_forget_store(74);
	instance_reclaim();
	instance_reclaim();
	assert_int_equal(instance_label(instance_for(key(75, 1), 71), "key", value), 0);
}

static void test_a_stores_labels(void **unused)
{
	uint32_t first = instance_for(key(76, 1), 71), second, third;

	(void)unused;
	assert_int_equal(instance_label_store(77, "t", "x"), -ENOENT);
	instance_alias(key(76, 99), first);
	assert_int_equal(instance_label(first, "own", "1"), 0);
	assert_int_equal(instance_label_store(76, "t", "x"), 0);
	second = instance_for(key(76, 2), 71);
	assert_string_equal(labels_at(first, now_ns()), "own=1,t=x");
	assert_string_equal(labels_at(second, now_ns()), "t=x");
	assert_int_equal(instance_label_store(76, "t", "y"), 0);
	assert_int_equal(instance_label(second, "t", "z"), 0);
	third = instance_for(key(76, 3), 71);
	assert_string_equal(labels_at(first, now_ns()), "own=1,t=y");
	assert_string_equal(labels_at(second, now_ns()), "t=z");
	assert_string_equal(labels_at(third, now_ns()), "t=y");
	assert_int_equal(instance_find(key(76, 99)), first);
	instance_forget_store(76);
	assert_int_equal(instance_label_store(76, "t", "x"), -ENOENT);
	assert_string_equal(labels_at(third, now_ns()), "t=y"); /* samples of it may wait */
	instance_for(key(76, 4), 71);
	assert_string_equal(labels_at(instance_find(key(76, 4)), now_ns()), "");
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
		cmocka_unit_test(test_labels_hold_from_when_they_were_given),
		cmocka_unit_test(test_versions_go_once_drained),
		cmocka_unit_test(test_relabelling_takes_no_memory),
		cmocka_unit_test(test_all_labels_are_bounded),
		cmocka_unit_test(test_a_stores_labels),
		cmocka_unit_test(test_threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
