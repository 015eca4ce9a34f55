/* SPDX-License-Identifier: MIT */
/*
 * cursor_test.c - bounded reads: what is taken, what is refused, and that the first error sticks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/cursor.h"

static void takes_numbers_in_order(void **state)
{
	static const uint8_t bytes[] = { 7, 0x78, 0x56, 0x34, 0x12, 1, 0, 0, 0, 2, 0, 0, 0 };
	struct cursor cursor = cursor_of(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(cursor_u8(&cursor), 7);
	assert_int_equal(cursor_u32le(&cursor), 0x12345678);
	assert_true(cursor_u64le(&cursor) == 0x200000001);
	assert_int_equal(cursor_left(&cursor), 0);
	assert_false(cursor.failed);
}

static void first_error_sticks(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct cursor cursor = cursor_of(bytes, sizeof(bytes));

	(void)state;
	assert_null(cursor_bytes(&cursor, 4));
	assert_true(cursor.failed);
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_null(cursor_bytes(&cursor, 0));
	assert_int_equal(cursor_left(&cursor), 0);
}

static uint64_t uleb(const char *bytes, size_t size, unsigned int bits, bool *failed)
{
	struct cursor cursor = cursor_of(bytes, size);
	uint64_t value = cursor_uleb_bits(&cursor, bits);

	*failed = cursor.failed;
	return value;
}

static void uleb_takes_what_fits(void **state)
{
	bool failed;

	(void)state;
	assert_int_equal(uleb("\x7f", 1, 32, &failed), 127);
	assert_false(failed);
	assert_int_equal(uleb("\xe5\x8e\x26", 3, 32, &failed), 624485);
	assert_false(failed);
	assert_int_equal(uleb("\xff\xff\xff\xff\x0f", 5, 32, &failed), UINT32_MAX);
	assert_false(failed);
	assert_int_equal(uleb("\x80\x80\x00", 3, 32, &failed), 0);
	assert_false(failed);
	assert_true(uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 64, &failed) ==
		    UINT64_MAX);
	assert_false(failed);
}

static void uleb_refuses_what_does_not(void **state)
{
	bool failed;

	(void)state;
	uleb("\xff\xff\xff\xff\x1f", 5, 32, &failed); /* 33 bits */
	assert_true(failed);
	uleb("\x80\x80\x80\x80\x80\x00", 6, 32, &failed); /* six bytes */
	assert_true(failed);
	uleb("\x80", 1, 32, &failed); /* cut */
	assert_true(failed);
	uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 64, &failed);
	assert_true(failed);
}

static void sleb_extends_the_sign(void **state)
{
	struct cursor cursor = cursor_of("\x7f\x3f\x40\xc0\xbb\x78", 6);

	(void)state;
	assert_int_equal(cursor_sleb64(&cursor), -1);
	assert_int_equal(cursor_sleb64(&cursor), 63);
	assert_int_equal(cursor_sleb64(&cursor), -64);
	assert_int_equal(cursor_sleb64(&cursor), -123456);
	assert_false(cursor.failed);
}

static void sub_knows_where_it_is(void **state)
{
	struct cursor cursor = cursor_of("abcdef", 6), sub;

	(void)state;
	cursor_u8(&cursor);
	sub = cursor_sub(&cursor, 3);
	assert_int_equal(cursor_offset(&sub), 1);
	cursor_u8(&sub);
	assert_int_equal(cursor_offset(&sub), 2);
	assert_int_equal(cursor_left(&sub), 2);
	assert_int_equal(cursor_offset(&cursor), 4);
	sub = cursor_sub(&cursor, 3);
	assert_true(sub.failed);
	assert_true(cursor.failed);
	assert_int_equal(cursor_u8(&sub), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_numbers_in_order),
		cmocka_unit_test(first_error_sticks),
		cmocka_unit_test(uleb_takes_what_fits),
		cmocka_unit_test(uleb_refuses_what_does_not),
		cmocka_unit_test(sleb_extends_the_sign),
		cmocka_unit_test(sub_knows_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
