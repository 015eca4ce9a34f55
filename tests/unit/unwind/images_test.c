/* SPDX-License-Identifier: MIT */
/* images_test.c - lifetimes, overlaps, and what may be remembered across them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "preload/unwind/images.h"
#include "tests/unit/unwind/tables.h"

enum { TEXT = 0x20000000, EDGE = 0x1000 };

static int add(uint32_t id, uintptr_t text, size_t size, uint64_t born)
{
	struct fdetable_source source = { .text = text, .text_size = size };

	return images_add(id, &source, born);
}

static uint32_t find(uintptr_t pc, uint64_t generation)
{
	const struct image *image = images_find(pc, generation);

	return image != NULL ? image->id : 0;
}

static int forget_all(void **state)
{
	uint32_t id;

	(void)state;
	for (id = 1; id <= 2000; id++)
		images_retire(id, 0);
	images_forget(UINT64_MAX - 1);
	images_flushed();
	return 0;
}

static void test_lifetime(void **state)
{
	(void)state;
	assert_int_equal(add(1, TEXT, EDGE, 5), 0);
	assert_int_equal(find(TEXT, 4), 0);
	assert_int_equal(find(TEXT, 5), 1);
	assert_int_equal(find(TEXT + EDGE - 1, 1000), 1);
	assert_int_equal(find(TEXT + EDGE, 5), 0);
	assert_int_equal(find(TEXT - 1, 5), 0);
	images_retire(1, 8);
	images_retire(1, 9); /* it died once */
	assert_int_equal(find(TEXT, 7), 1);
	assert_int_equal(find(TEXT, 8), 0);
	images_forget(7);
	assert_int_equal(find(TEXT, 7), 1);
	images_forget(8);
	assert_int_equal(find(TEXT, 7), 0);
}

static void test_reused_addresses(void **state)
{
	(void)state;
	assert_int_equal(add(1, TEXT, 4 * EDGE, 1), 0);
	images_retire(1, 3);
	assert_int_equal(add(2, TEXT + EDGE, EDGE, 3), 0);
	assert_int_equal(find(TEXT + EDGE, 2), 1);
	assert_int_equal(find(TEXT + EDGE, 3), 2);
	assert_int_equal(find(TEXT + 3 * EDGE, 2), 1);
	assert_int_equal(find(TEXT + 3 * EDGE, 3), 0);
	/* not said to be gone, and yet another is there: the youngest is right */
	assert_int_equal(add(3, TEXT + EDGE, EDGE, 6), 0);
	assert_int_equal(find(TEXT + EDGE, 5), 2);
	assert_int_equal(find(TEXT + EDGE, 6), 3);
}

/* Rows may be kept until they could answer for another image. */
static void test_stale(void **state)
{
	(void)state;
	assert_int_equal(add(1, TEXT, EDGE, 1), 0);
	assert_int_equal(add(2, TEXT + EDGE, EDGE, 4), 0);
	images_find(TEXT, 1)->used = true;
	images_find(TEXT + EDGE, 4)->used = true;
	images_retire(1, 6);
	assert_false(images_stale(1));
	assert_false(images_stale(7)); /* nobody else was ever there */
	assert_int_equal(add(3, TEXT + 16, EDGE / 2, 7), 0);
	assert_false(images_stale(5));
	assert_true(images_stale(7));
	images_flushed();
	assert_false(images_stale(7));
	images_find(TEXT, 5)->used = true;
	images_forget(6);
	assert_true(images_stale(5));
	images_flushed();
	assert_false(images_stale(5));
}

static void test_refused(void **state)
{
	struct fdetable_source source = { .text = TEXT, .text_size = EDGE };

	(void)state;
	assert_int_equal(add(1, TEXT, 0, 1), -EINVAL);
	assert_int_equal(add(1, UINTPTR_MAX - 16, EDGE, 1), -EINVAL);
	source.size = (size_t)1 << 40;
	assert_int_equal(images_add(1, &source, 1), -EINVAL);
	source.size = 64;
	source.address = UINTPTR_MAX - 8;
	assert_int_equal(images_add(1, &source, 1), -EINVAL);
	assert_int_equal(find(TEXT, 1), 0);
}

/* Many, in no order, against a plain search. */
static void test_many(void **state)
{
	static struct {
		uintptr_t text;
		size_t size;
		uint64_t born, died;
	} known[1000];
	size_t i, k;

	(void)state;
	srand(1);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		known[i].text = TEXT + (uintptr_t)(rand() % 100000) * 16;
		known[i].size = 16 + (size_t)(rand() % 2000);
		known[i].born = i; /* the youngest is the last */
		known[i].died = i + 1 + (uint64_t)(rand() % 300);
		assert_int_equal(add((uint32_t)i + 1, known[i].text, known[i].size, known[i].born),
				 0);
		images_retire((uint32_t)i + 1, known[i].died);
	}
	for (k = 0; k < 20000; k++) {
		uintptr_t pc = TEXT + (uintptr_t)(rand() % 1700000);
		uint64_t generation = (uint64_t)(rand() % 1300);
		uint32_t best = 0;

		for (i = 0; i < ARRAY_SIZE(known); i++) {
			if (pc >= known[i].text && pc < known[i].text + known[i].size &&
			    generation >= known[i].born && generation < known[i].died)
				best = (uint32_t)i + 1;
		}
		assert_int_equal(find(pc, generation), best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_lifetime, forget_all),
		cmocka_unit_test_teardown(test_reused_addresses, forget_all),
		cmocka_unit_test_teardown(test_stale, forget_all),
		cmocka_unit_test_teardown(test_refused, forget_all),
		cmocka_unit_test_teardown(test_many, forget_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
