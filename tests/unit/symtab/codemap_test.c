/* SPDX-License-Identifier: MIT */
/* codemap_test.c - code that is made, moved and dropped: what was where, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "symtab/codemap.h"
#include "tests/unit/symtab/failing.h"

static int add(struct codemap *map, uintptr_t start, size_t size, uint64_t place, uint64_t now)
{
	return codemap_add(map, &(struct code){
					.start = start,
					.size = (uint32_t)size,
					.place = place,
					.born_ns = now,
				});
}

static uint64_t place_at(const struct codemap *map, uintptr_t pc, uint64_t time)
{
	const struct code *code = codemap_find(map, pc, time);

	return code != NULL ? code->place : 0;
}

static void finds_what_holds_an_address(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	assert_int_equal(add(map, 0x1000, 0x20, 7, 5), 0);
	assert_int_equal(add(map, 0x1020, 0x3000, 8, 6), 0); /* over three pages */
	assert_int_equal(place_at(map, 0xfff, 9), 0);
	assert_int_equal(place_at(map, 0x1000, 9), 7);
	assert_int_equal(place_at(map, 0x101f, 9), 7);
	assert_int_equal(place_at(map, 0x1020, 9), 8);
	assert_int_equal(place_at(map, 0x2fff, 9), 8);
	assert_int_equal(place_at(map, 0x401f, 9), 8);
	assert_int_equal(place_at(map, 0x4020, 9), 0);
	codemap_free(map);
}

/* Engines tell of code a moment after it may have run. */
static void a_sample_may_be_older_than_the_news(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	add(map, 0x1000, 0x20, 7, 50);
	assert_int_equal(place_at(map, 0x1000, 40), 7);
	add(map, 0x1000, 0x20, 8, 60);
	add(map, 0x1000, 0x20, 9, 70);
	assert_int_equal(place_at(map, 0x1000, 40), 7); /* the first of them */
	assert_int_equal(place_at(map, 0x1000, 59), 7);
	assert_int_equal(place_at(map, 0x1000, 60), 8);
	assert_int_equal(place_at(map, 0x1000, 99), 9);
	codemap_free(map);
}

static void an_address_that_is_used_again(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	add(map, 0x1000, 0x100, 1, 10);
	add(map, 0x1100, 0x100, 2, 10);
	add(map, 0x10f0, 0x20, 3, 20); /* ends both */
	assert_int_equal(place_at(map, 0x1010, 15), 1);
	assert_int_equal(place_at(map, 0x10f8, 15), 1);
	assert_int_equal(place_at(map, 0x1108, 15), 2);
	assert_int_equal(place_at(map, 0x10f8, 25), 3);
	assert_int_equal(place_at(map, 0x1010, 25), 0);
	codemap_remove(map, 0x10f0, 30);
	codemap_remove(map, 0x5000, 30); /* unknown */
	assert_int_equal(place_at(map, 0x10f8, 29), 3);
	assert_int_equal(place_at(map, 0x10f8, 30), 0);
	assert_int_equal(codemap_count(map), 3);
	codemap_forget(map, 20);
	assert_int_equal(codemap_count(map), 1);
	codemap_forget(map, 30);
	assert_int_equal(codemap_count(map), 0);
	codemap_free(map);
}

static void the_same_code_again_is_no_news(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	add(map, 0x1000, 0x100, 1, 10);
	add(map, 0x1000, 0x100, 1, 20);
	assert_int_equal(codemap_count(map), 1);
	assert_int_equal(codemap_find(map, 0x1000, 30)->born_ns, 10);
	codemap_free(map);
}

static void moves(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	add(map, 0x1000, 0x100, 1, 10);
	add(map, 0x2000, 0x100, 2, 10);
	assert_int_equal(codemap_move(map, 0x7000, 0x8000, 20), -ENOENT);
	assert_int_equal(codemap_move(map, 0x1000, 0x9000, 20), 0);
	assert_int_equal(codemap_move(map, 0x2000, 0x1000, 21), 0); /* to where it was */
	assert_int_equal(place_at(map, 0x1000, 15), 1);
	assert_int_equal(place_at(map, 0x9080, 25), 1);
	assert_int_equal(place_at(map, 0x1000, 25), 2);
	assert_int_equal(place_at(map, 0x2000, 25), 0);
	/* by a few bytes: its old self is in the way */
	assert_int_equal(codemap_move(map, 0x9000, 0x9010, 30), 0);
	assert_int_equal(place_at(map, 0x9008, 31), 0);
	assert_int_equal(place_at(map, 0x9018, 31), 1);
	codemap_free(map);
}

static void an_owner_takes_his_code_along(void **state)
{
	struct codemap *map = codemap_new();
	struct code code = { .start = 0x1000, .size = 16, .place = 1, .born_ns = 1, .owner = 3 };

	(void)state;
	codemap_add(map, &code);
	code.start = 0x2000;
	code.owner = 4;
	codemap_add(map, &code);
	codemap_end_owner(map, 3, 9);
	assert_int_equal(place_at(map, 0x1000, 9), 0);
	assert_int_equal(place_at(map, 0x1000, 8), 1);
	assert_int_equal(place_at(map, 0x2000, 9), 1);
	codemap_free(map);
}

static void what_lies_behind_a_head(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	add(map, 0x1036, 0x20, 1, 10);
	add(map, 0x1090, 0x20, 2, 10);
	add(map, 0x2008, 0x20, 3, 10); /* its head is on the page before */
	assert_int_equal(codemap_find_behind(map, 0x1000, 104, 20)->place, 1);
	assert_int_equal(codemap_find_behind(map, 0x1036, 104, 20)->place, 2);
	assert_int_equal(codemap_find_behind(map, 0x1fe0, 104, 20)->place, 3);
	assert_null(codemap_find_behind(map, 0x1100, 104, 20));
	add(map, 0x1036, 0x20, 4, 30);
	assert_int_equal(codemap_find_behind(map, 0x1000, 104, 20)->place, 1);
	assert_int_equal(codemap_find_behind(map, 0x1000, 104, 40)->place, 4);
	codemap_free(map);
}

static void nonsense_is_refused(void **state)
{
	struct codemap *map = codemap_new();

	(void)state;
	assert_int_equal(add(map, 0x1000, 0, 1, 1), -EINVAL);
	assert_int_equal(add(map, 0x1000, UINT32_MAX, 1, 1), -EINVAL);
	assert_int_equal(add(map, UINTPTR_MAX - 3, 16, 1, 1), -EINVAL);
	assert_int_equal(codemap_count(map), 0);
	codemap_free(map);
}

static void is_bounded(void **state)
{
	struct code code = { .size = 16, .place = 1, .born_ns = 1 };
	struct codemap *map = codemap_new();

	(void)state;
	code.start = 0x100000;
	code.owner = CODEMAP_FOR_EVER;
	assert_int_equal(codemap_add(map, &code), 0);
	code.owner = 0;
	for (uint32_t i = 1; i < CODEMAP_MAX + 1000; i++) {
		code.start = 0x100000 + 64 * (uintptr_t)i;
		assert_int_equal(codemap_add(map, &code), 0);
	}
	assert_true(codemap_count(map) <= CODEMAP_MAX);
	assert_int_equal(place_at(map, 0x100000, 9), 1);	/* his who never goes */
	assert_int_equal(place_at(map, 0x100040, 9), 0);	/* nobody's, and old */
	assert_int_equal(place_at(map, code.start + 15, 9), 1); /* the newest */
	codemap_free(map);
}

static void somebodys_code_is_not_thrown_out(void **state)
{
	struct code code = { .size = 16, .place = 1, .born_ns = 1, .owner = 5 };
	struct codemap *map = codemap_new();
	int error = 0;

	(void)state;
	for (uint32_t i = 0; error == 0; i++) {
		code.start = 0x100000 + 64 * (uintptr_t)i;
		error = codemap_add(map, &code);
	}
	assert_int_equal(error, -E2BIG);
	assert_int_equal(codemap_count(map), CODEMAP_MAX);
	codemap_end_owner(map, 5, 9);
	assert_int_equal(codemap_add(map, &code), 0); /* the dead make room */
	codemap_free(map);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	if (!failing_works)
		skip();
	for (long nth = 1;; nth++) {
		struct codemap *map;
		int error = 0;

		failing_start(nth);
		map = codemap_new();
		for (int i = 0; map != NULL && i < 40 && error == 0; i++)
			error = add(map, 0x1000 + 0x3000 * (uintptr_t)i, 0x2800, 1, 1);
		if (!failing_stop()) {
			codemap_free(map);
			break;
		}
		assert_true(map == NULL || error == -ENOMEM || error == 0);
		codemap_free(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_holds_an_address),
		cmocka_unit_test(a_sample_may_be_older_than_the_news),
		cmocka_unit_test(an_address_that_is_used_again),
		cmocka_unit_test(the_same_code_again_is_no_news),
		cmocka_unit_test(moves),
		cmocka_unit_test(an_owner_takes_his_code_along),
		cmocka_unit_test(what_lies_behind_a_head),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(somebodys_code_is_not_thrown_out),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
