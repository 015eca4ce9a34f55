/* SPDX-License-Identifier: MIT */
/*
 * texts_test.c - each text once, in order, within the bound, and valid UTF-8 whatever came in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/profile/texts.h"

static struct texts texts;

static int start(void **unused)
{
	(void)unused;
	return texts_init(&texts, 10000);
}

static int end(void **unused)
{
	(void)unused;
	texts_fini(&texts);
	return 0;
}

static void test_each_text_once(void **unused)
{
	uint32_t first = texts_add(&texts, "alpha");

	(void)unused;
	assert_int_equal(first, TEXTS_FIXED_COUNT);
	assert_int_equal(texts_add(&texts, "beta"), first + 1);
	assert_int_equal(texts_add(&texts, "alpha"), first);
	assert_int_equal(texts_add_sized(&texts, "alphabet", 5), first);
	assert_int_equal(texts_add_sized(&texts, "alphabet", 6), first + 2);
	assert_int_equal(texts_add_sized(&texts, "alpha\0x", 7), first);
	assert_string_equal(texts.rows[first + 2], "alphab");
	assert_int_equal(texts_add(&texts, ""), STRING_EMPTY);
	assert_int_equal(texts_add(&texts, "wasm_state"), STRING_WASM_STATE);
	assert_int_equal(texts_add(&texts, "(other)"), TEXT_OTHER);
}

static void test_the_bound(void **unused)
{
	char text[32], *huge = malloc(200001);
	uint32_t last = 0;

	(void)unused;
	memset(huge, 'h', 200000);
	huge[200000] = '\0';
	assert_int_equal(texts_add(&texts, huge), TEXT_OTHER);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "text number %d", i);
		last = texts_add(&texts, text);
	}
	assert_int_equal(last, TEXT_OTHER);
	assert_true(texts.memory <= 10000);
	assert_true(texts.memory > 9000);
	/* What is there is still found. */
	assert_true(texts_add(&texts, "text number 0") != TEXT_OTHER);
	free(huge);
}

/* The rows move when one is added: never look into them before. */
static const char *text_of(uint32_t number)
{
	return texts.rows[number];
}

static void expect_raw(const char *bytes, const char *text)
{
	assert_string_equal(text_of(texts_add_raw(&texts, bytes)), text);
}

static void test_bytes_become_text(void **unused)
{
	char many[1000];

	(void)unused;
	expect_raw("plain", "plain");
	expect_raw("\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80");
	expect_raw("a\nb\x1b[31m\x7f", "a\\x0ab\\x1b[31m\\x7f");
	expect_raw("\xc0\xaf", "\\xc0\\xaf");	       /* too long a form */
	expect_raw("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	expect_raw("\xe2\x82", "\\xe2\\x82");	       /* cut */
	expect_raw("a\\x0ab", "a\\x0ab");	       /* escaped before */
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	assert_in_range(strlen(text_of(texts_add_raw(&texts, many))), 250, 255);
}

static void test_suffixes(void **unused)
{
	uint32_t base = texts_add(&texts, "resize.wasm");
	char many[1001];
	const char *cut;

	(void)unused;
	assert_string_equal(text_of(texts_add_suffixed(&texts, base, "#3")), "resize.wasm#3");
	/* Cut between characters, the suffix whole. */
	for (size_t i = 0; i < 333; i++)
		memcpy(many + 3 * i, "\xe2\x82\xac", 3);
	many[999] = '\0';
	base = texts_add(&texts, many);
	cut = text_of(texts_add_suffixed(&texts, base, "#3"));
	assert_int_equal((strlen(cut) - 2) % 3, 0);
	assert_string_equal(cut + strlen(cut) - 2, "#3");
	assert_string_equal(text_of(texts_add_suffixed(&texts, STRING_EMPTY, "#1")), "#1");
}

#define TEXTS_TEST(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEXTS_TEST(test_each_text_once),
		TEXTS_TEST(test_the_bound),
		TEXTS_TEST(test_bytes_become_text),
		TEXTS_TEST(test_suffixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
