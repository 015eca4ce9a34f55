/* SPDX-License-Identifier: MIT */
/*
 * lookup_test.c - keys are found again among many, also among those whose hashes are the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/lookup.h"

enum { KEYS = 50000 };

static uint64_t keys[KEYS];

static bool key_is(const void *table, uint32_t number, const void *key)
{
	return ((const uint64_t *)table)[number] == *(const uint64_t *)key;
}

/* HASH: of a key. */
static void expect_all(uint64_t (*hash)(uint64_t key), uint32_t count)
{
	struct lookup lookup = { 0 };
	uint64_t missing = UINT64_MAX;

	assert_int_equal(lookup_find(&lookup, 1, key_is, keys, &missing), LOOKUP_NONE);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = (uint64_t)i * i;
		assert_int_equal(lookup_add(&lookup, hash(keys[i]), i), 0);
	}
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(lookup_find(&lookup, hash(keys[i]), key_is, keys, &keys[i]), i);
	assert_int_equal(lookup_find(&lookup, hash(missing), key_is, keys, &missing), LOOKUP_NONE);
	lookup_clear(&lookup);
	assert_int_equal(lookup_find(&lookup, hash(keys[0]), key_is, keys, &keys[0]), LOOKUP_NONE);
	assert_int_equal(lookup_add(&lookup, hash(keys[1]), 1), 0);
	assert_int_equal(lookup_find(&lookup, hash(keys[1]), key_is, keys, &keys[1]), 1);
	lookup_free(&lookup);
}

static uint64_t good_hash(uint64_t key)
{
	return lookup_hash(&key, sizeof(key));
}

static uint64_t same_hash(uint64_t key)
{
	(void)key;
	return 0xffffffff;
}

static void test_many_keys(void **unused)
{
	(void)unused;
	expect_all(good_hash, KEYS);
}

static void test_equal_hashes(void **unused)
{
	(void)unused;
	expect_all(same_hash, 300);
}

/* Keys that differ in one bit or in their length land in different places. */
static void test_hashes_differ(void **unused)
{
	uint8_t bytes[24] = { 0 };
	uint64_t zero = lookup_hash(bytes, sizeof(bytes));
	uint32_t buckets[16] = { 0 };

	(void)unused;
	for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true((uint32_t)lookup_hash(bytes, sizeof(bytes)) != (uint32_t)zero);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_true(lookup_hash("a", 1) != lookup_hash("a", 2));
	for (uint64_t i = 0; i < 16000; i++)
		buckets[good_hash(i) % 16]++;
	for (size_t i = 0; i < 16; i++)
		assert_in_range(buckets[i], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_hashes_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
