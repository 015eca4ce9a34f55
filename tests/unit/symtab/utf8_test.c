/* SPDX-License-Identifier: MIT */
/*
 * utf8_test.c - whatever goes in, what comes out can be printed, and different stays different.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/utf8.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text, size_t length, const char *expected)
{
	char *out = utf8_escape_new(text, length);

	assert_non_null(out);
	assert_string_equal(out, expected);
	free(out);
}

static void keeps_good_text(void **state)
{
	static const char good[] = "plain \xce\xbb \xe5\x87\xbd \xf0\x9f\xa6\x80 ~";

	(void)state;
	check(good, strlen(good), good);
	check("", 0, "");
	check("\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"); /* the last character there is */
}

static void escapes_the_rest(void **state)
{
	(void)state;
	check("a\nb\x7f\0c", 6, "a\\x0ab\\x7f\\x00c");
	check("\xff", 1, "\\xff");
	check("\xc3", 1, "\\xc3");
	check("\xe5\x87", 2, "\\xe5\\x87");
	check("\xc0\x80", 2, "\\xc0\\x80");		      /* overlong */
	check("\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");	      /* overlong */
	check("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");	      /* surrogate */
	check("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	check("\xc2\x9b[2J", 5, "\\xc2\\x9b[2J");	      /* C1: a terminal's CSI */
	check("\xe2\x80\xae", 3, "\\xe2\\x80\\xae");	      /* turns text around */
}

/* A name may spell what another one is shown as: both can be read back, and are not one. */
static void can_be_read_back(void **state)
{
	char out[16];

	(void)state;
	check("\x1b", 1, "\\x1b");
	check("\\x1b", 4, "\\\\x1b");
	check("\\\\", 2, "\\\\\\\\");
	assert_int_equal(utf8_escape("\\", 1, out, 2, NULL), 0);
	assert_int_equal(utf8_escape("\\", 1, out, 3, NULL), 2);
}

/* What has been escaped, or is a path, is not escaped again. */
static void cleans_without_doubling(void **state)
{
	char out[32], *copy;

	(void)state;
	assert_int_equal(utf8_clean("a\\x1b\x1b", 6, out, sizeof(out)), 9);
	assert_string_equal(out, "a\\x1b\\x1b");
	assert_int_equal(utf8_fit_path("C:\\src\\a.c", 10, "k", 1, out, sizeof(out)), 10);
	copy = utf8_clean_new("C:\\", 3);
	assert_string_equal(copy, "C:\\");
	free(copy);
}

static void cuts_between_characters(void **state)
{
	char out[16];
	bool whole;

	(void)state;
	assert_int_equal(utf8_escape("ab\xce\xbb", 4, out, 4, &whole), 2);
	assert_string_equal(out, "ab");
	assert_false(whole);
	assert_int_equal(utf8_escape("ab\xce\xbb", 4, out, 5, &whole), 4);
	assert_true(whole);
	assert_int_equal(utf8_escape("a\x01", 2, out, 5, &whole), 1);
	assert_false(whole);
	assert_int_equal(utf8_escape("a", 1, out, 0, &whole), 0);
	assert_false(whole);
}

static void fit_keeps_apart_what_it_cuts(void **state)
{
	char one[32], other[32], text[100];
	size_t size;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(utf8_fit(text, 20, "k", 1, one, sizeof(one)), 20);
	assert_int_equal(utf8_fit(text, 100, "key 1", 5, one, sizeof(one)), 31);
	utf8_fit(text, 100, "key 2", 5, other, sizeof(other));
	assert_string_not_equal(one, other);
	assert_int_equal(one[18], '~');
	for (size = 0; size < sizeof(one); size++) {
		memset(one, '!', sizeof(one));
		assert_true(utf8_fit(text, 100, "k", 1, one, size) < (size > 0 ? size : 1));
		assert_int_equal(one[size], '!');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_good_text),
		cmocka_unit_test(escapes_the_rest),
		cmocka_unit_test(can_be_read_back),
		cmocka_unit_test(cleans_without_doubling),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(fit_keeps_apart_what_it_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
