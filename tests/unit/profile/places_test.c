/* SPDX-License-Identifier: MIT */
/*
 * places_test.c - a place is found again, another is not, and beyond the limit none is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/places.h"
#include "tests/unit/symtab/failing.h"

enum { LIMIT = 1000 };

static struct place at(uint64_t address)
{
	return (struct place){ .address = address, .loading = 1, .symbol = 2, .kind = 3 };
}

static void test_finds_what_was_added(void **unused)
{
	struct places places = { .limit = LIMIT };

	(void)unused;
	for (uint32_t i = 0; i < LIMIT; i++) {
		struct place place = at(i * 16);

		assert_int_equal(places_find(&places, &place), 0);
		places_add(&places, &place, i + 7);
	}
	for (uint32_t i = 0; i < LIMIT; i++) {
		struct place place = at(i * 16);

		assert_int_equal(places_find(&places, &place), i + 7);
	}
	places_free(&places);
}

static void test_every_part_of_the_key_counts(void **unused)
{
	struct places places = { .limit = LIMIT };
	struct place place = at(64), others[] = { place, place, place, place, place };

	(void)unused;
	places_add(&places, &place, 9);
	others[0].address++;
	others[1].loading++;
	others[2].symbol++;
	others[3].kind++;
	others[4].is_guess++;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(places_find(&places, &others[i]), 0);
	assert_int_equal(places_find(&places, &place), 9);
	places_free(&places);
}

static void test_is_bounded(void **unused)
{
	struct places places = { .limit = 2 };
	struct place first = at(1), last = at(3), second = at(2);

	(void)unused;
	places_add(&places, &first, 1);
	places_add(&places, &second, 2);
	places_add(&places, &last, 3);
	assert_int_equal(places_find(&places, &first), 1);
	assert_int_equal(places_find(&places, &second), 2);
	assert_int_equal(places_find(&places, &last), 0);
	assert_int_equal(places.count, 2);
	places_free(&places);
}

/* Each allocation fails once: what could not be kept is not known, and is kept the next time. */
static void test_without_memory(void **unused)
{
	bool failed = failing_works;

	(void)unused;
	for (long nth = 1; failed; nth++) {
		struct places places = { .limit = LIMIT };
		struct place place = at(5);

		failing_start(nth);
		places_add(&places, &place, 4);
		failed = failing_stop();
		assert_int_equal(places_find(&places, &place), failed ? 0 : 4);
		if (failed)
			places_add(&places, &place, 4);
		assert_int_equal(places_find(&places, &place), 4);
		places_free(&places);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_what_was_added),
		cmocka_unit_test(test_every_part_of_the_key_counts),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
