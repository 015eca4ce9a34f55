/* SPDX-License-Identifier: MIT */
/* stores_test.c - which word numbers the stores, and which samples are of one store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "preload/unwind/numbers.h"
#include "preload/unwind/stores.h"

enum {
	WINDOW = SAMPLE_WINDOW_BELOW + SAMPLE_WINDOW_ABOVE,
	NUMBER = -0x2b0,
	STALE = -0x500,	  /* memory of others beside the store */
	COUNTER = -0x100, /* each store's own */
};

static uint64_t made[(sizeof(struct sample_anchor) + WINDOW) / 8];

static int start(void **unused)
{
	(void)unused;
	stores_reset();
	memset(made, 0, sizeof(made));
	return 0;
}

static void set(int distance, uint64_t value)
{
	struct sample_anchor *anchor = (struct sample_anchor *)made;

	anchor->words[(distance + SAMPLE_WINDOW_BELOW) / 8] = value;
}

/* A sample of the store at RECORD. NUMBER 0: it has none where it should be. */
static struct sample_anchor *sample(uint64_t record, uint64_t number)
{
	struct sample_anchor *anchor = (struct sample_anchor *)made;

	*anchor = (struct sample_anchor){
		.record = record,
		.window_size = WINDOW,
		.window_address = record - SAMPLE_WINDOW_BELOW,
	};
	memset(anchor->words, 0xff, WINDOW); /* no numbers */
	set(0x10, number);		     /* within the record */
	set(NUMBER, number);
	set(0x100, 7); /* the same for all */
	return anchor;
}

static uint64_t key_of(const struct sample_anchor *anchor, uint64_t tid, bool *is_sure)
{
	const struct store *store = stores_of(anchor, tid, 1, is_sure);

	return store != NULL ? store->key : 0;
}

static void test_two_places(void **unused)
{
	uint64_t last = 0, key;
	bool is_sure = false;

	(void)unused;
	for (uint64_t number = 1; number <= 8; number++) {
		uint64_t place = number % 2;

		key = key_of(sample(0x10000 + place * 0x10000, number), place, &is_sure);
		assert_true(key >> 63);
	}
	/* from the second change in each place on */
	assert_true(is_sure);
	assert_int_equal(stores_number_at(), NUMBER);
	for (uint64_t number = 10; number < 50; number++) {
		/* handlers copy the number alone from now on */
		struct sample_anchor anchor = { .record = 0x10000, .number = number };

		key = key_of(&anchor, 3, &is_sure);
		assert_true(is_sure && key != 0 && key != last);
		assert_true(key_of(&anchor, 4, &is_sure) == key);
		last = key;
	}
	/* it could not be read */
	assert_true(key_of(&(struct sample_anchor){ .record = 0x10000 }, 3, &is_sure) == 0);
}

/* All stores in one place: told apart, but it is not sure that they are several. */
static void test_one_place(void **unused)
{
	uint64_t keys[30] = { 0 };
	bool is_sure = true;

	(void)unused;
	for (uint64_t number = 1; number < 30; number++) {
		keys[number] = key_of(sample(0x10000, number), 1, &is_sure);
		assert_false(is_sure);
	}
	assert_true(keys[1] == keys[8] && keys[9] != keys[10] && keys[28] != keys[29]);
	assert_int_equal(stores_number_at(), SAMPLE_NUMBER_UNKNOWN);
	/* then one in another place */
	for (uint64_t number = 30; number < 36; number++)
		key_of(sample(0x10000 + number % 2 * 0x10000, number), number % 2, &is_sure);
	assert_true(is_sure);
	assert_int_equal(stores_number_at(), NUMBER);
}

/* What never changes, or falls, or is the same for two stores, or out of range: no number. */
static void test_no_numbers(void **unused)
{
	bool is_sure;
	uint64_t key;

	(void)unused;
	for (uint64_t i = 1; i < 200; i++) {
		uint64_t place = i % 3 + 1;
		struct sample_anchor *anchor = sample(place * 0x10000, UINT64_MAX);
		uint64_t wrong[] = { place, 100 - i % 90, i / 3 + 1, (UINT64_C(1) << 40) + i };

		for (size_t k = 0; k < ARRAY_SIZE(wrong); k++)
			set((int)k * 8 - 0x300, wrong[k]);
		key = key_of(anchor, place, &is_sure);
		assert_false(is_sure);
		assert_true(key_of(anchor, place, &is_sure) == key);
	}
	assert_int_equal(numbers_settled(), SAMPLE_NUMBER_UNKNOWN);
}

/* Memory beside the store changes now and then, and is in the way of nothing. */
static void test_stale_memory(void **unused)
{
	bool is_sure = false;

	(void)unused;
	for (uint64_t number = 1; number <= 20; number++) {
		struct sample_anchor *anchor = sample(0x10000 + number % 2 * 0x10000, number);

		set(STALE, (number % 2) * 1000 + 1 + number / 15);
		key_of(anchor, number % 2, &is_sure);
	}
	assert_true(is_sure);
	assert_int_equal(stores_number_at(), NUMBER);
}

/* One lasting store of which nothing changes is one store, however long it lasts. */
static void test_lasting_store(void **unused)
{
	uint64_t key = 0;
	bool is_sure;

	(void)unused;
	for (int i = 0; i < 500; i++) {
		struct sample_anchor *anchor = sample(0x10000, 5);

		set(STALE, i < 100 ? 3 : 4);
		if (key == 0)
			key = key_of(anchor, 1, &is_sure);
		assert_true(key_of(anchor, 1, &is_sure) == key);
		assert_false(is_sure);
	}
}

/* A settled column that turns out to be none is given up. */
static void test_mistaken(void **unused)
{
	uint64_t key;
	bool is_sure;

	(void)unused;
	for (uint64_t i = 1; i < 20; i++) {
		struct sample_anchor *anchor = sample(0x10000, 5);

		set(COUNTER, i);
		key_of(anchor, 1, &is_sure);
		assert_false(is_sure);
	}
	assert_int_equal(numbers_settled(), COUNTER);
	for (uint64_t i = 1; i < 20; i++) { /* another store's: the same again */
		struct sample_anchor *anchor = sample(0x20000, 6);

		set(COUNTER, i);
		key_of(anchor, 2, &is_sure);
	}
	assert_int_equal(numbers_settled(), SAMPLE_NUMBER_UNKNOWN);
	key = key_of(sample(0x10000, 5), 1, &is_sure);
	assert_true(key_of(sample(0x10000, 5), 1, &is_sure) == key);
	assert_false(is_sure);
}

static size_t forgotten;

static void on_forget(uint64_t key)
{
	assert_true(key >> 63);
	forgotten++;
}

static void test_tidy(void **unused)
{
	const uint64_t second = 1000000000;
	bool is_sure;

	(void)unused;
	forgotten = 0;
	for (uint64_t number = 1; number <= 8; number++)
		key_of(sample(0x10000 + number % 2 * 0x10000, number), number % 2, &is_sure);
	for (uint64_t number = 10; number < 110; number++)
		assert_non_null(
			stores_of(&(struct sample_anchor){ .record = 0x10000, .number = number }, 1,
				  number * second, &is_sure));
	stores_tidy(110 * second, on_forget);
	/* those of the last five seconds may have samples on their way, and the last one lives */
	assert_in_range(forgotten, 94, 110);
	stores_tidy(1000 * second, on_forget);
	assert_in_range(forgotten, 98, 108);
	/* however many there are: nobody supersedes these */
	forgotten = 0;
	for (uint64_t number = 200; number < 20200; number++) {
		stores_of(&(struct sample_anchor){ .record = number * 64, .number = number }, 1,
			  2000 * second + number, &is_sure);
		if (number % 1000 == 0)
			stores_tidy(2000 * second, on_forget);
	}
	assert_in_range(forgotten, 20000 - STORES_MAX, 20000);
}

static void test_only(void **unused)
{
	struct store store = { .key = 1 };

	(void)unused;
	assert_true(store_only(&store, 1, 0) == 0);
	store_note(&store, 1, 0, 0xa0);
	store_note(&store, 1, 0, 0xa0);
	assert_true(store_only(&store, 1, 0) == 0xa0);
	assert_true(store_only(&store, 1, 1) == 0);
	store_note(&store, 1, 0, 0xb0);
	assert_true(store_only(&store, 1, 0) == 0);
	for (uint32_t i = 2; i < 20; i++)
		store_note(&store, i, 0, i);
	assert_int_equal(store.instance_count, STORE_INSTANCES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_two_places, start),
		cmocka_unit_test_setup(test_one_place, start),
		cmocka_unit_test_setup(test_no_numbers, start),
		cmocka_unit_test_setup(test_stale_memory, start),
		cmocka_unit_test_setup(test_lasting_store, start),
		cmocka_unit_test_setup(test_mistaken, start),
		cmocka_unit_test_setup(test_tidy, start),
		cmocka_unit_test_setup(test_only, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
