/* SPDX-License-Identifier: MIT */
/* pointer_map_test.c - what was put is found, until it is taken or the table is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "preload/runtime/pointer_map.h"

enum { CAPACITY = 256 };

static struct pointer_entry entries[CAPACITY];
static const struct pointer_map map = { entries, CAPACITY };

static int set_up(void **context)
{
	(void)context;
	memset(entries, 0, sizeof(entries));
	return 0;
}

static const void *key(uintptr_t n)
{
	return (const void *)(0x10000 + 16 * n);
}

static void put(uintptr_t n, uintptr_t value)
{
	uintptr_t values[POINTER_MAP_VALUES] = { value, [POINTER_MAP_VALUES - 1] = ~value };

	assert_true(pointer_map_put(&map, key(n), values));
}

static void found_until_taken(void **context)
{
	uintptr_t values[POINTER_MAP_VALUES];

	(void)context;
	for (uintptr_t i = 0; i < 100; i++)
		put(i, i * 3);
	put(7, 1000);
	for (uintptr_t i = 0; i < 100; i++) {
		assert_true(pointer_map_get(&map, key(i), values));
		assert_int_equal(values[0], i == 7 ? 1000 : i * 3);
		assert_int_equal(values[POINTER_MAP_VALUES - 1], ~values[0]);
	}
	assert_false(pointer_map_get(&map, key(100), values));
	assert_int_equal(values[0], 0);
	assert_true(pointer_map_take(&map, key(7), values));
	assert_int_equal(values[0], 1000);
	assert_false(pointer_map_take(&map, key(7), values));
	assert_false(pointer_map_get(&map, NULL, values));
	assert_false(pointer_map_take(&map, NULL, values));
}

/* Half full, so that many an entry was pushed further by one that then goes. */
static void others_stay_when_some_are_taken(void **context)
{
	uintptr_t values[POINTER_MAP_VALUES];

	(void)context;
	for (uintptr_t i = 0; i < CAPACITY / 2; i++)
		put(i * i, i);
	for (uintptr_t i = 0; i < CAPACITY / 2; i += 2)
		assert_true(pointer_map_take(&map, key(i * i), values));
	for (uintptr_t i = 0; i < CAPACITY / 2; i++) {
		assert_int_equal(pointer_map_get(&map, key(i * i), values), i % 2);
		assert_int_equal(values[0], i % 2 ? i : 0);
	}
}

static uint32_t visits;

static void take(const void *visited)
{
	uintptr_t values[POINTER_MAP_VALUES];

	visits++;
	assert_true(pointer_map_take(&map, visited, values));
	assert_int_equal(values[0], 1);
}

/* What was taken has its value still, and is nobody's. */
static void those_of_a_value_are_visited(void **context)
{
	uintptr_t values[POINTER_MAP_VALUES];

	(void)context;
	for (uintptr_t i = 0; i < 100; i++)
		put(i, i % 2);
	for (uintptr_t i = 1; i < 100; i += 4)
		assert_true(pointer_map_take(&map, key(i), values));
	visits = 0;
	pointer_map_each(&map, 0, 1, take);
	assert_int_equal(visits, 25);
	pointer_map_each(&map, 0, 1, take);
	assert_int_equal(visits, 25);
	assert_true(pointer_map_get(&map, key(2), values));
}

static void a_full_table_refuses_and_recovers(void **context)
{
	uintptr_t values[POINTER_MAP_VALUES] = { 1 }, stored = 0;

	(void)context;
	for (uintptr_t i = 0; i < 10 * CAPACITY; i++)
		stored += pointer_map_put(&map, key(i), values);
	assert_in_range(stored, CAPACITY / 2, CAPACITY);
	for (uintptr_t i = 0; i < 10 * CAPACITY; i++)
		stored -= pointer_map_take(&map, key(i), values);
	assert_int_equal(stored, 0);
	put(1, 1);
}

static void *churn(void *number)
{
	uintptr_t first = (uintptr_t)number * 1000, values[POINTER_MAP_VALUES];

	for (uintptr_t i = 0; i < 20000; i++) {
		uintptr_t n = first + i % 8;

		memset(values, 0, sizeof(values));
		values[0] = n;
		if (!pointer_map_put(&map, key(n), values))
			continue;
		if (!pointer_map_get(&map, key(n), values) || values[0] != n ||
		    !pointer_map_take(&map, key(n), values) || values[0] != n)
			return (void *)1;
	}
	return NULL;
}

static void threads_with_their_own_keys(void **context)
{
	pthread_t threads[4];

	(void)context;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
	for (int i = 0; i < 4; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(found_until_taken, set_up),
		cmocka_unit_test_setup(others_stay_when_some_are_taken, set_up),
		cmocka_unit_test_setup(those_of_a_value_are_visited, set_up),
		cmocka_unit_test_setup(a_full_table_refuses_and_recovers, set_up),
		cmocka_unit_test_setup(threads_with_their_own_keys, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
