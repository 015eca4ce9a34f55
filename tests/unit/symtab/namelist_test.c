/* SPDX-License-Identifier: MIT */
/* namelist_test.c - names files: words, quotes, bounds, and what is no file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symtab/namelist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_text(struct namelist *list, const char *text, size_t size)
{
	char name[] = "/tmp/guestprof-names-XXXXXX";
	int fd = mkstemp(name), error;

	assert_int_equal(write(fd, text, size), size);
	close(fd);
	error = namelist_read(list, name);
	unlink(name);
	return error;
}

static void reads_words_and_quotes(void **state)
{
	static const char text[] = "# nothing\n\n"
				   "01234567 \"two words\" owner=\"Jane Doe\" \"x=a b\" # more\n"
				   "ABCDEF0123 - tier=free\r\n"
				   "feedbeef last";
	const struct namelist_row *row;
	struct namelist list;

	(void)state;
	assert_int_equal(read_text(&list, text, strlen(text)), 0);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.bad, 0);
	row = namelist_find(&list, &(struct identity){ .code = "0123456789" });
	assert_ptr_equal(row, &list.rows[0]);
	assert_string_equal(row->name, "two words");
	assert_string_equal(row->labels[0].value, "Jane Doe");
	assert_string_equal(row->labels[1].value, "a b");
	assert_string_equal(list.rows[1].identity, "abcdef0123");
	assert_null(list.rows[1].name);
	assert_null(namelist_find(&list, &(struct identity){ .wasm = "0123456" }));
	namelist_free(&list);
	assert_int_equal(list.count, 0);
}

static void counts_what_it_does_not_understand(void **state)
{
	static const char text[] = "01234567 good\n"
				   "0123456 short\n"
				   "01234567\n"
				   "01234567 name word\n"
				   "01234567 name wasm_module=x\n";
	char *lines = calloc(1, (NAMELIST_ROWS_MAX + 2) * 12 + 1);
	struct namelist list;

	(void)state;
	assert_int_equal(read_text(&list, text, strlen(text)), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.bad, 4);
	assert_int_equal(list.first_bad, 2);
	namelist_free(&list);
	for (int i = 0; i < NAMELIST_ROWS_MAX + 2; i++)
		strcpy(lines + 12 * i, "01234567 ab\n");
	assert_int_equal(read_text(&list, lines, strlen(lines)), 0);
	assert_int_equal(list.count, NAMELIST_ROWS_MAX);
	assert_int_equal(list.bad, 2);
	namelist_free(&list);
	free(lines);
}

/* What gives no text gives an error, and no wait. */
static void refuses_what_is_no_file(void **state)
{
	struct namelist list;
	char pipe[] = "/tmp/guestprof-pipe-XXXXXX";

	(void)state;
	assert_int_equal(namelist_read(&list, "/nowhere/names"), -ENOENT);
	assert_int_equal(namelist_read(&list, "/tmp"), -EISDIR);
	assert_int_equal(namelist_read(&list, "/dev/zero"), -EFBIG);
	assert_non_null(mkdtemp(pipe));
	assert_int_equal(rmdir(pipe), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(namelist_read(&list, pipe), 0);
	assert_int_equal(list.count, 0);
	unlink(pipe);
	namelist_free(&list);
}

static void knows_keys(void **state)
{
	(void)state;
	assert_true(namelist_key_is_good("a.b_c-1", 7));
	assert_false(namelist_key_is_good("", 0));
	assert_false(namelist_key_is_good("a b", 3));
	assert_false(namelist_key_is_good("time", 4));
	assert_true(namelist_key_is_good("times", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_words_and_quotes),
		cmocka_unit_test(counts_what_it_does_not_understand),
		cmocka_unit_test(refuses_what_is_no_file),
		cmocka_unit_test(knows_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
