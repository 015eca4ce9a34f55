/* SPDX-License-Identifier: MIT */
/*
 * ehframe_test.c - code ranges from FDEs, real ones and hostile ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/ehframe.h"
#include "symtab/elfimg.h"
#include "tests/unit/symtab/fixture.h"

struct seen {
	struct ehframe_range ranges[64];
	size_t count, limit;
};

static bool see(void *context, const struct ehframe_range *range)
{
	struct seen *seen = context;

	if (seen->count < ARRAY_SIZE(seen->ranges))
		seen->ranges[seen->count] = *range;
	seen->count++;
	return seen->limit == 0 || seen->count < seen->limit;
}

static void gives_the_ranges_of_a_real_image(void **state)
{
	struct bytes file = bytes_of_file("guest-50.cwasm");
	struct memory memory = memory_of(&file);
	struct seen seen = { .limit = 0 };
	struct image_layout layout;
	size_t i;

	(void)state;
	assert_int_equal(image_probe(&memory, (uintptr_t)file.bytes, &layout), 0);
	ehframe_each((const uint8_t *)layout.eh_frame, layout.eh_frame_size, layout.eh_frame, see,
		     &seen);
	assert_int_equal(seen.count, 20); /* as many as there are symbols */
	assert_true(seen.ranges[0].start == layout.text);
	assert_true(seen.ranges[0].size == 0x2b);
	for (i = 1; i < seen.count; i++)
		assert_true(seen.ranges[i].start >=
			    seen.ranges[i - 1].start + seen.ranges[i - 1].size);
	seen = (struct seen){ .limit = 3 };
	ehframe_each((const uint8_t *)layout.eh_frame, layout.eh_frame_size, layout.eh_frame, see,
		     &seen);
	assert_int_equal(seen.count, 3);
	bytes_free(&file);
}

/* A CIE with AUGMENTATION and its DATA, and one FDE with BODY after the CIE pointer. */
static size_t count_of(const char *augmentation, const char *data, size_t data_size,
		       const char *body, size_t body_size, struct seen *seen)
{
	struct bytes table = { 0 }, cie = { 0 };

	*seen = (struct seen){ .limit = 0 };
	bytes_u32(&cie, 0);
	bytes_byte(&cie, 1);
	bytes_add(&cie, augmentation, strlen(augmentation) + 1);
	bytes_add(&cie, "\1\x78\x10", 3);
	if (*augmentation == 'z')
		bytes_uleb(&cie, data_size);
	bytes_add(&cie, data, data_size);
	bytes_u32(&table, (uint32_t)cie.size);
	bytes_add(&table, cie.bytes, cie.size);
	bytes_u32(&table, (uint32_t)body_size + 4);
	bytes_u32(&table, (uint32_t)table.size);
	bytes_add(&table, body, body_size);
	bytes_u32(&table, 0);
	table.bytes = realloc(table.bytes, table.size);
	ehframe_each(table.bytes, table.size, 0x1000, see, seen);
	bytes_free(&table);
	bytes_free(&cie);
	return seen->count;
}

static void knows_the_encodings(void **state)
{
	static const char eight[16] = "\x10\x20\0\0\0\0\0\0\x40\0\0\0\0\0\0";
	static const char four[9] = "\xf0\xff\xff\xff\x40\0\0\0";
	struct seen seen;

	(void)state;
	assert_int_equal(count_of("", "", 0, eight, 16, &seen), 1);
	assert_true(seen.ranges[0].start == 0x2010 && seen.ranges[0].size == 0x40);
	assert_int_equal(count_of("zR", "\x1b", 1, four, 8, &seen), 1);
	/* the pointer lies behind length, CIE (4 + 13 bytes), length and CIE pointer */
	assert_true(seen.ranges[0].start == 0x1000 + 4 + 13 + 8 - 0x10);
	assert_int_equal(count_of("zRS", "\3", 1, four, 8, &seen), 1);
	assert_true(seen.ranges[0].start == 0xfffffff0);
	assert_int_equal(count_of("zPLR", "\3abcd\0\4", 7, eight, 16, &seen), 1);
	assert_true(seen.ranges[0].start == 0x2010);
}

static void ends_at_damage(void **state)
{
	struct seen seen;

	(void)state;
	assert_int_equal(count_of("zR", "\x1b", 1, "\0\0\0\0", 4, &seen), 0);
	assert_int_equal(count_of("zX", "\x1b", 1, "\0\0\0\0\1\0\0\0", 8, &seen), 0);
	assert_int_equal(count_of("zR", "\x4b", 1, "\0\0\0\0\1\0\0\0", 8, &seen), 0);
	assert_int_equal(count_of("eh", "", 0, "\0\0\0\0\1\0\0\0", 8, &seen), 0);
	ehframe_each((const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0", 13, 0,
		     see, &seen);
	ehframe_each((const uint8_t *)"\4\0\0\0\x10\0\0\0", 8, 0, see, &seen); /* CIE outside */
	ehframe_each((const uint8_t *)"\4\0\0\0\4\0\0\0", 8, 0, see, &seen);   /* its own CIE */
	ehframe_each((const uint8_t *)"\1", 1, 0, see, &seen);
	ehframe_each((const uint8_t *)"", 0, 0, see, &seen);
	assert_int_equal(seen.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_ranges_of_a_real_image),
		cmocka_unit_test(knows_the_encodings),
		cmocka_unit_test(ends_at_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
