/* SPDX-License-Identifier: MIT */
/* whereabouts_test.c - what was added is always found, and what is far from it hardly ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/load/whereabouts.h"

#define MEGABYTE ((uintptr_t)1 << 20)
#define BASE ((uintptr_t)0x7f0000000000)

static void nothing_is_nowhere(void **unused)
{
	(void)unused;
	assert_false(whereabouts_may_hold(0));
	assert_false(whereabouts_may_hold(BASE));
	assert_false(whereabouts_may_hold(UINTPTR_MAX));
}

static void all_of_it_is_found(void **unused)
{
	static const size_t sizes[] = { 1, 4096, MEGABYTE - 1, MEGABYTE, 100 * MEGABYTE + 7 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uintptr_t base = BASE + MEGABYTE - 4096;

		whereabouts_add(base, sizes[i]);
		for (uintptr_t at = base; at < base + sizes[i]; at += 4096)
			assert_true(whereabouts_may_hold(at));
		assert_true(whereabouts_may_hold(base + sizes[i] - 1));
		assert_false(whereabouts_may_hold(base + sizes[i] + MEGABYTE));
		assert_false(whereabouts_may_hold(base - MEGABYTE));
		whereabouts_remove(base, sizes[i]);
		nothing_is_nowhere(unused);
	}
}

static void two_at_one_place(void **unused)
{
	(void)unused;
	whereabouts_add(BASE, 100);
	whereabouts_add(BASE + 200, 100);
	whereabouts_remove(BASE, 100);
	assert_true(whereabouts_may_hold(BASE + 250));
	whereabouts_remove(BASE + 200, 100);
	nothing_is_nowhere(unused);
}

/* Sizes that lie: no end of the address space is passed, and no time lost. */
static void absurd_sizes(void **unused)
{
	(void)unused;
	whereabouts_add(UINTPTR_MAX - 5, SIZE_MAX);
	assert_true(whereabouts_may_hold(UINTPTR_MAX));
	whereabouts_remove(UINTPTR_MAX - 5, SIZE_MAX);
	whereabouts_add(BASE, SIZE_MAX / 2);
	assert_true(whereabouts_may_hold(BASE + 5000 * MEGABYTE));
	whereabouts_remove(BASE, SIZE_MAX / 2);
	whereabouts_add(BASE, 0);
	whereabouts_remove(BASE, 0);
	nothing_is_nowhere(unused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_nowhere),
		cmocka_unit_test(all_of_it_is_found),
		cmocka_unit_test(two_at_one_place),
		cmocka_unit_test(absurd_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
