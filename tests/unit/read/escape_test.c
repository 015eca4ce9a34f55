/* SPDX-License-Identifier: MIT */
/* escape_test.c - what may be shown, what is shown by number, and cutting to a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/escape.h"

#include <stdlib.h>
#include <string.h>

static void expect(const char *text, enum escape_style style, const char *expected)
{
	char *escaped = escape_new(text, style);

	assert_string_equal(escaped, expected);
	free(escaped);
}

static void shows_plain_text_as_it_is(void **state)
{
	(void)state;
	expect("core::fmt::Write<T, [u8; 32]>", ESCAPE_VISIBLE, "core::fmt::Write<T, [u8; 32]>");
	expect("gr\303\274n \344\270\255\346\226\207 \360\237\246\200", ESCAPE_VISIBLE,
	       "gr\303\274n \344\270\255\346\226\207 \360\237\246\200");
	expect("", ESCAPE_VISIBLE, "");
}

static void shows_by_number_what_a_terminal_obeys(void **state)
{
	(void)state;
	expect("a\033[2Jb\r\n\t\177", ESCAPE_VISIBLE, "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f");
	expect("c1 \302\233 csi", ESCAPE_VISIBLE, "c1 \\u{9b} csi");
	expect("a\\x1b", ESCAPE_VISIBLE, "a\\x1b");
	expect("a\\b", ESCAPE_VISIBLE, "a\\b");
	expect("a\tb\033c\\", ESCAPE_SPACES, "a b c\\");
}

static void shows_by_number_what_hides_or_reorders(void **state)
{
	(void)state;
	expect("\342\200\256exe", ESCAPE_VISIBLE, "\\u{202e}exe");
	expect("\342\201\246x\342\201\251", ESCAPE_VISIBLE, "\\u{2066}x\\u{2069}");
	expect("a\342\200\213b", ESCAPE_VISIBLE, "a\\u{200b}b");
	expect("\327\220", ESCAPE_VISIBLE, "\\u{5d0}");
	expect("e\314\201", ESCAPE_VISIBLE, "e\\u{301}");
	expect("\357\273\277", ESCAPE_VISIBLE, "\\u{feff}");
	expect("\363\240\201\201", ESCAPE_VISIBLE, "\\u{e0041}");
	expect("\342\200\256", ESCAPE_SPACES, "\\u{202e}");
}

/* RFC 3629, 3: overlong forms, surrogates, values beyond Unicode, cut characters. */
static void shows_bytes_that_are_no_utf8(void **state)
{
	(void)state;
	expect("\300\200", ESCAPE_VISIBLE, "\\xc0\\x80");
	expect("\340\200\257", ESCAPE_VISIBLE, "\\xe0\\x80\\xaf");
	expect("\355\240\200", ESCAPE_VISIBLE, "\\u{d800}");
	expect("\364\220\200\200", ESCAPE_VISIBLE, "\\xf4\\x90\\x80\\x80");
	expect("\377\376", ESCAPE_VISIBLE, "\\xff\\xfe");
	expect("cut \342\202", ESCAPE_VISIBLE, "cut \\xe2\\x82");
}

static void never_writes_beyond_its_room(void **state)
{
	char out[8];

	(void)state;
	memset(out, 'x', sizeof(out));
	assert_int_equal(escape_text(out, 6, "ab\033cd", ESCAPE_VISIBLE), 2);
	assert_string_equal(out, "ab");
	assert_int_equal(escape_text(out, 7, "ab\033cd", ESCAPE_VISIBLE), 6);
	assert_string_equal(out, "ab\\x1b");
	assert_int_equal(out[7], 'x');
	assert_int_equal(escape_text(out, 0, "ab", ESCAPE_VISIBLE), 0);
}

/* No byte string takes more than ESCAPE_GROWTH times its length, or leaves a control byte. */
static void keeps_its_bound_for_any_bytes(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[17] = { 0 }, out[16 * ESCAPE_GROWTH + 1];
		size_t length;

		for (int i = 0; i < 16; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = (char)(seed >> 24 | (seed >> 23 & 0x80));
			text[i] = text[i] == 0 ? 1 : text[i];
		}
		length = escape_text(out, sizeof(out), text, ESCAPE_VISIBLE);
		assert_int_equal(out[length], 0);
		for (size_t i = 0; i < length; i++)
			assert_true((uint8_t)out[i] >= 0x20 && (uint8_t)out[i] != 0x7f);
	}
}

static void expect_cut(const char *text, size_t columns, const char *expected)
{
	char *cut = strdup(text);

	escape_cut(cut, columns);
	assert_string_equal(cut, expected);
	assert_true(escape_columns(cut) <= columns);
	free(cut);
}

static void cuts_in_the_middle(void **state)
{
	(void)state;
	expect_cut("short", 10, "short");
	expect_cut("abcdefghijklmnop", 9, "abc...nop");
	expect_cut("abcdefghijklmnop", 5, "abcde");
	expect_cut("\344\270\255\346\226\207\344\270\255\346\226\207\344\270\255\346\226\207", 9,
		   "\344\270\255...\344\270\255\346\226\207");
	assert_int_equal(escape_columns("a\344\270\255"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_plain_text_as_it_is),
		cmocka_unit_test(shows_by_number_what_a_terminal_obeys),
		cmocka_unit_test(shows_by_number_what_hides_or_reorders),
		cmocka_unit_test(shows_bytes_that_are_no_utf8),
		cmocka_unit_test(never_writes_beyond_its_room),
		cmocka_unit_test(keeps_its_bound_for_any_bytes),
		cmocka_unit_test(cuts_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
