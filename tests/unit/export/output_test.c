/* SPDX-License-Identifier: MIT */
/* output_test.c - a file appears whole or not at all; devices and links are written to as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/json.h"
#include "preload/export/output.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/scratch.h"

#include <errno.h>
#include <sys/stat.h>

#define WRITTEN "written"

static void expect_content(const char *expected)
{
	char *text = slurp(WRITTEN);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void replaces_a_file_when_it_is_whole(void **state)
{
	struct output *output;

	(void)state;
	unlink(WRITTEN);
	output = output_open(WRITTEN, false);
	output_text(output, "first ");
	output_number(output, UINT64_MAX);
	assert_int_equal(access(WRITTEN, F_OK), -1);
	assert_int_equal(output_close(output, true), 0);
	expect_content("first 18446744073709551615");
	output = output_open(WRITTEN, false);
	output_format(output, "%s", "second");
	assert_int_equal(output_close(output, false), 0);
	expect_content("first 18446744073709551615");
	assert_int_equal(system("ls " WRITTEN ".*.tmp 2>/dev/null"), 2 << 8);
	unlink(WRITTEN);
}

/* More than its buffer at once, and in many pieces. */
static void writes_more_than_its_buffer(void **state)
{
	char *much = malloc(300001);
	struct output *output = output_open(WRITTEN, true);

	(void)state;
	memset(much, 'x', 300000);
	much[300000] = '\0';
	output_text(output, much);
	for (int i = 0; i < 100000; i++)
		output_text(output, "abc");
	assert_int_equal(output_close(output, true), 0);
	assert_int_equal(system("test $(gzip -dc < " WRITTEN " | wc -c) = 600000"), 0);
	unlink(WRITTEN);
	free(much);
}

static void tells_of_errors(void **state)
{
	struct output *output = output_open("/dev/full", false);
	char *much = calloc(1, 1000);

	(void)state;
	assert_non_null(output);
	output_text(output, "x");
	assert_int_equal(output_close(output, true), -ENOSPC);
	assert_null(output_open("/no/such/directory/file", false));
	assert_int_equal(errno, ENOENT);
	memset(much, 'x', 999);
	output = output_open("/dev/null", false);
	output_format(output, "%s", much);
	assert_int_equal(output_close(output, true), -EOVERFLOW);
	free(much);
}

static void writes_json(void **state)
{
	struct output *output = output_open(WRITTEN, false);
	struct json json = { .output = output };

	(void)state;
	json_begin_object(&json, NULL);
	json_text(&json, "a\"b", "q\"\\\n\001\342\200\256\377");
	json_integer(&json, "min", INT64_MIN);
	json_millionths(&json, "ms", 1234567890);
	json_begin_array(&json, "list");
	json_bool(&json, NULL, true);
	json_null(&json, NULL);
	json_begin_object(&json, NULL);
	json_end_object(&json);
	json_end_array(&json);
	json_end_object(&json);
	assert_int_equal(output_close(output, true), 0);
	expect_content("{\"a\\\"b\":\"q\\\"\\\\\\\\x0a\\\\x01\\\\u{202e}\\\\xff\","
		       "\"min\":-9223372036854775808,\"ms\":1234.567,\"list\":[true,null,{}]}");
	unlink(WRITTEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaces_a_file_when_it_is_whole),
		cmocka_unit_test(writes_more_than_its_buffer),
		cmocka_unit_test(tells_of_errors),
		cmocka_unit_test(writes_json),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
