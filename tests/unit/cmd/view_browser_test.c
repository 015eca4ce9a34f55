/* SPDX-License-Identifier: MIT */
/* view_browser_test.c - addresses for browsers: encoded as the site decodes them, given to no
 * shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/view_browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void encodes_an_address_in_an_address(void **state)
{
	char *text =
		view_browser_from_url("https://site", "http://127.0.0.1:8/aZ09-_.!~*'()/?&%\x7f");

	(void)state;
	assert_string_equal(text, "https://site/from-url/"
				  "http%3A%2F%2F127.0.0.1%3A8%2FaZ09-_.!~*'()%2F%3F%26%25%7F");
	free(text);
}

static void starts_the_first_browser_with_one_argument(void **state)
{
	char folder[] = "/tmp/guestprof-view-XXXXXX", program[64], list[128], out[64],
	     text[64] = "";
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/browser", folder);
	snprintf(list, sizeof(list), "%s:/bin/false", program);
	snprintf(out, sizeof(out), "%s/out", folder);
	file = fopen(program, "w");
	fprintf(file, "#!/bin/sh\necho \"$#:$1\" >%s\n", out);
	fclose(file);
	assert_int_equal(chmod(program, 0700), 0);
	setenv("BROWSER", list, 1);
	view_browser_open("http://a/;touch x `id`");
	assert_true(wait(NULL) > 0);
	file = fopen(out, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "1:http://a/;touch x `id`\n");
	unlink(out);
	unlink(program);
	rmdir(folder);
}

/* Without a browser and a display nothing is started. */
static void starts_nothing_without_a_display(void **state)
{
	(void)state;
	unsetenv("BROWSER");
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	view_browser_open("http://a/");
	assert_int_equal(wait(NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes_an_address_in_an_address),
		cmocka_unit_test(starts_the_first_browser_with_one_argument),
		cmocka_unit_test(starts_nothing_without_a_display),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
