/* SPDX-License-Identifier: MIT */
/* screen_test.c - what of a table has room on a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "preload/cmd/live/screen.h"

static void expect_page(const char *text, size_t lines, const char *known)
{
	char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	assert_non_null(out);
	screen_add(out, text, lines);
	fclose(out);
	assert_string_equal(page, known);
	free(page);
}

static void tables_are_cut(void **unused)
{
	(void)unused;
	expect_page("a\nb\nc\n", 3, "a\nb\nc\n");
	expect_page("a\nb\nc\n", 100, "a\nb\nc\n");
	expect_page("a\nb\nc\n", 2, "a\n  2 more lines than fit\n");
	expect_page("a\nb\nc\n", 1, "  3 more lines than fit\n");
	expect_page("a\nb\nc\n", 0, "");
	expect_page("", 5, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
