/* SPDX-License-Identifier: MIT */
/* diff_test.c - what is one in two recordings, what changed, and what is only noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/command.h"
#include "preload/cmd/report/diff_match.h"
#include "preload/cmd/report/diff_rows.h"
#include "preload/read/escape.h"
#include "tests/unit/cmd/capture.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"

#define BEFORE "before.pb"
#define AFTER "after.pb"
#define IDENTITY(digit) digit "f9a2c00112233445566778899aabbccddeeff00112233445566778899aabbcc"

struct part {
	const char *function;
	uint64_t samples;
};

/* A recording of one module, whose functions have indexes in their order, each on the stack alone.
 */
static void write_parts(const char *path, const char *module, const char *identity,
			const struct part *parts)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t all = 0;

	built_begin(built);
	built_info(built, true);
	built_mapping(built, module, identity);
	for (; parts->function != NULL; parts++) {
		uint64_t function = built_function(built, parts->function, "");
		struct built_sample sample = {
			.module = module,
			.state = "guest",
			.count = parts->samples,
			.cpu_ns = parts->samples * 1000000,
		};

		sample.locations[0] = built_location(built, 1, 8 * function, FRAME_GUEST,
						     (uint64_t[]){ function, 0 });
		if (parts->samples != 0)
			built_add_sample(built, &sample);
		all += parts->samples;
	}
	built_group(built, module, identity, 1, all, all * 1000000,
		    (uint64_t[STATE_COUNT]){ all, 0, 0, 0 });
	free(write_bytes(path, built->out.bytes, built->out.size));
	built_free(built);
}

static int run_diff(struct capture *capture, int count, const char *const *words)
{
	const char *arguments[12] = { "diff" };

	for (int i = 0; i < count; i++)
		arguments[1 + i] = words[i];
	arguments[1 + count] = BEFORE;
	arguments[2 + count] = AFTER;
	return capture_run(capture, diff_command, count + 3, (char **)arguments);
}

static void expect_lines_within_width(char *text)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (escape_columns(line) > 100)
			fail_msg("%zu columns: %s", escape_columns(line), line);
	}
}

static const struct part usual[] = { { "inner", 700 }, { "middle", 200 }, { "outer", 100 }, { 0 } };

static void calls_small_changes_noise(void **state)
{
	static const struct part other[] = {
		{ "inner", 690 }, { "middle", 215 }, { "outer", 95 }, { 0 }
	};
	struct capture capture;

	(void)state;
	write_parts(BEFORE, "app", IDENTITY("3"), usual);
	write_parts(AFTER, "app", IDENTITY("3"), other);
	assert_int_equal(run_diff(&capture, 2, (const char *[]){ "--fail-above", "0" }),
			 COMMAND_OK);
	assert_non_null(strstr(capture.out, "nothing changed beyond the sampling error"));
	assert_non_null(strstr(capture.out, "same bytes (wasm hash)"));
	capture_free(&capture);
}

static void finds_what_changed(void **state)
{
	static const struct part other[] = {
		{ "inner", 500 }, { "middle", 400 }, { "outer", 100 }, { 0 }
	};
	struct capture capture;

	(void)state;
	write_parts(BEFORE, "app@3f9a2c", IDENTITY("3"), usual);
	write_parts(AFTER, "app@4f9a2c", IDENTITY("4"), other);
	assert_int_equal(run_diff(&capture, 2, (const char *[]){ "--fail-above", "19" }),
			 COMMAND_FOUND);
	assert_non_null(strstr(capture.err, "middle grew from 20.0 % to 40.0 %"));
	assert_null(strstr(capture.err, "inner"));
	assert_non_null(strstr(capture.out, "app@3f9a2c is app@4f9a2c"));
	assert_non_null(strstr(capture.out, "same name, other bytes; functions by name"));
	expect_golden(capture.out_path, scratch_root("tests/data/changed.diff.txt"));
	expect_lines_within_width(capture.out);
	capture_free(&capture);
	assert_int_equal(run_diff(&capture, 2, (const char *[]){ "--fail-above", "20" }),
			 COMMAND_OK);
	capture_free(&capture);
	assert_int_equal(run_diff(&capture, 1, (const char *[]){ "--json" }), COMMAND_OK);
	expect_golden(capture.out_path, scratch_root("tests/data/changed.diff.json"));
	capture_free(&capture);
	assert_int_equal(run_diff(&capture, 2, (const char *[]){ "--to", "folded" }), COMMAND_OK);
	assert_string_equal(capture.out, "app@4f9a2c;inner 700 500\n"
					 "app@4f9a2c;middle 200 400\n"
					 "app@4f9a2c;outer 100 100\n");
	capture_free(&capture);
}

static void knows_new_gone_and_renamed_functions(void **state)
{
	static const struct part other[] = {
		{ "inner", 700 }, { "centre", 200 }, { "fresh", 100 }, { 0 }
	};
	static const struct part less[] = { { "inner", 900 }, { "middle", 100 }, { 0 } };
	struct capture capture;

	(void)state;
	/* as many functions, and what has a name in common has one index: renamed */
	write_parts(BEFORE, "app", IDENTITY("3"), usual);
	write_parts(AFTER, "app", IDENTITY("4"), other);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "renamed middle is centre now, by index"));
	assert_non_null(strstr(capture.out, "renamed outer is fresh now, by index"));
	assert_non_null(strstr(capture.out, "nothing changed"));
	capture_free(&capture);
	/* another name: another module */
	write_parts(AFTER, "other", IDENTITY("4"), other);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "only before"));
	assert_non_null(strstr(capture.out, "only after"));
	assert_non_null(strstr(capture.out, " gone            app "));
	assert_non_null(strstr(capture.out, " new             other "));
	capture_free(&capture);
	write_parts(AFTER, "app", IDENTITY("4"), less);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, " gone            app                outer"));
	capture_free(&capture);
}

static void matches_unnamed_functions_by_index(void **state)
{
	static const struct part first[] = { { "app@3f9a2c!wasm-function[1]", 500 },
					     { "app@3f9a2c!wasm-function[2]", 500 },
					     { 0 } };
	static const struct part second[] = { { "app@4f9a2c!wasm-function[1]", 100 },
					      { "app@4f9a2c!wasm-function[2]", 900 },
					      { 0 } };
	struct capture capture;

	(void)state;
	write_parts(BEFORE, "app@3f9a2c", IDENTITY("3"), first);
	write_parts(AFTER, "app@4f9a2c", IDENTITY("4"), second);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "2 functions by index"));
	assert_non_null(strstr(capture.out, " 50.0 %  90.0 %   +40.0 "));
	assert_null(strstr(capture.out, "renamed"));
	capture_free(&capture);
}

/* One of a hundred that is just beyond 1.96 is what chance gives. */
static void asks_more_of_many_functions(void **state)
{
	static struct part first[101], second[101];
	static char names[100][16];
	struct capture capture;

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		first[i] = second[i] = (struct part){ names[i], 100 };
	}
	second[7].samples = 131; /* z = 2.05 */
	write_parts(BEFORE, "app", IDENTITY("3"), first);
	write_parts(AFTER, "app", IDENTITY("3"), second);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "nothing changed"));
	capture_free(&capture);
	second[7].samples = 170; /* z = 4.3 */
	write_parts(AFTER, "app", IDENTITY("3"), second);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, " grew            app                f7\n"));
	assert_non_null(strstr(capture.out, "80 more rows: -n 100 shows all"));
	capture_free(&capture);
}

static void says_too_few_samples(void **state)
{
	static const struct part first[] = { { "most", 980 }, { "some", 20 }, { 0 } };
	static const struct part second[] = { { "most", 975 }, { "some", 25 }, { 0 } };
	struct capture capture;

	(void)state;
	write_parts(BEFORE, "app", IDENTITY("3"), first);
	write_parts(AFTER, "app", IDENTITY("3"), second);
	assert_int_equal(run_diff(&capture, 0, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, " too few samples app                some\n"));
	capture_free(&capture);
}

static void expect_failure(int count, const char *const *words, int status, const char *line)
{
	struct capture capture;

	assert_int_equal(run_diff(&capture, count, words), status);
	if (strstr(capture.err, line) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", line, capture.err);
	assert_string_equal(capture.out, "");
	capture_free(&capture);
}

static void fails_with_one_clear_line(void **state)
{
	static const struct part nothing[] = { { 0 } };

	(void)state;
	write_parts(BEFORE, "app", IDENTITY("3"), usual);
	write_parts(AFTER, "app", IDENTITY("3"), usual);
	expect_failure(1, (const char *[]){ BEFORE }, COMMAND_BAD, "two recordings");
	expect_failure(2, (const char *[]){ "--to", "svg" }, COMMAND_BAD, "json, folded or html");
	expect_failure(2, (const char *[]){ "--fail-above", "-1" }, COMMAND_BAD, "percentage");
	expect_failure(2, (const char *[]){ "-o", "x" }, COMMAND_BAD, "-o goes with");
	write_parts(AFTER, "app", IDENTITY("3"), nothing);
	expect_failure(0, NULL, COMMAND_NO_SAMPLES, "no samples");
	unlink(AFTER);
	expect_failure(0, NULL, COMMAND_BAD, "No such file");
	unlink(BEFORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_small_changes_noise),
		cmocka_unit_test(finds_what_changed),
		cmocka_unit_test(knows_new_gone_and_renamed_functions),
		cmocka_unit_test(matches_unnamed_functions_by_index),
		cmocka_unit_test(asks_more_of_many_functions),
		cmocka_unit_test(says_too_few_samples),
		cmocka_unit_test(fails_with_one_clear_line),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
