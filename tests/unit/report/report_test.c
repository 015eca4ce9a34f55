/* SPDX-License-Identifier: MIT */
/* report_test.c - the report as text and JSON: golden files, widths, statuses, several files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "preload/cmd/command.h"
#include "preload/cmd/report/report.h"
#include "preload/encode/recording.h"
#include "preload/read/escape.h"
#include "tests/unit/cmd/capture.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

#define SMALL "small.pb"

static void write_small(size_t size)
{
	struct built *built = calloc(1, sizeof(*built));

	build_small(built);
	free(write_bytes(SMALL, built->out.bytes, size < built->out.size ? size : built->out.size));
	built_free(built);
}

static int report(struct capture *capture, const char *first, const char *second, const char *third)
{
	const char *arguments[] = { "report", first, second, third, NULL };
	int count = 1 + (first != NULL) + (second != NULL) + (third != NULL);

	return capture_run(capture, report_command, count, (char **)arguments);
}

static void matches_the_golden_text(void **state)
{
	struct capture capture;

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, SMALL, NULL, NULL), COMMAND_OK);
	expect_golden(capture.out_path, scratch_root("tests/data/small.report.txt"));
	capture_free(&capture);
	unlink(SMALL);
}

static void matches_the_golden_json(void **state)
{
	struct capture capture;
	char command[128];

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, "--json", SMALL, NULL), COMMAND_OK);
	expect_golden(capture.out_path, scratch_root("tests/data/small.report.json"));
	snprintf(command, sizeof(command), "python3 -m json.tool < %s > /dev/null",
		 capture.out_path);
	assert_int_equal(system(command), 0);
	capture_free(&capture);
	unlink(SMALL);
}

/* A hundred columns, and nothing that a terminal would obey. */
static void stays_within_its_width(void **state)
{
	struct capture capture;
	char *line, *rest;

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, "--by", "instance", SMALL), COMMAND_OK);
	for (line = strtok_r(capture.out, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (escape_columns(line) > 100)
			fail_msg("%zu columns: %s", escape_columns(line), line);
		for (const char *at = line; *at != '\0'; at++)
			assert_true((uint8_t)*at >= 0x20);
	}
	capture_free(&capture);
	unlink(SMALL);
}

/* Info once more: a later one replaces. */
static void add_rates(struct built *built)
{
	static const uint64_t rows[][3] = { { 0, 1, 2 }, { 12340000000, 2, 4 }, { 1, 4, 2 } };
	size_t mark = pb_begin(&built->out, RECORDING_INFO);

	pb_varint(&built->out, INFO_VERSION, 1);
	pb_varint(&built->out, INFO_REQUESTED_HZ, 250);
	pb_varint(&built->out, INFO_PROCESS_CPU_NS, 1000000000);
	pb_varint(&built->out, INFO_DELIVERY_NS, 10000);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t rate = pb_begin(&built->out, INFO_RATE);

		pb_varint(&built->out, RATE_TIME_NS, i == 2 ? UINT64_MAX : rows[i][0]);
		pb_varint(&built->out, RATE_FROM, rows[i][1]);
		pb_varint(&built->out, RATE_TO, rows[i][2]);
		pb_varint(&built->out, RATE_COST_PPM, 14000);
		pb_varint(&built->out, RATE_BUDGET_PPM, 10000);
		pb_end(&built->out, rate);
	}
	pb_end(&built->out, mark);
}

static void says_when_the_rate_changed(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct capture capture;

	(void)state;
	build_small(built);
	add_rates(built);
	free(write_bytes(SMALL, built->out.bytes, built->out.size));
	built_free(built);
	assert_int_equal(report(&capture, SMALL, NULL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out,
			       "            from the start at 125 of 250 samples a second: own "
			       "cost was 1.4 % of the process's CPU\n"
			       "            time, GUESTPROF_BUDGET=1\n"
			       "            from 12.3 s on at 62.5 of 250 samples a second: own "));
	/* 198 signals of 10 us in a second. */
	assert_non_null(strstr(capture.out, "some 0.2 % more for the kernel's part\n"));
	assert_non_null(strstr(capture.out, "there were 4 times fewer samples"));
	capture_free(&capture);
	assert_int_equal(report(&capture, "--json", SMALL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out,
			       "\"rates\":[{\"time_ns\":0,\"from_divisor\":1,\"to_divisor\":2,"
			       "\"cost_ppm\":14000,\"budget_ppm\":10000},"
			       "{\"time_ns\":12340000000,"));
	/* A time beyond all times is that of the start. */
	assert_non_null(strstr(capture.out, "{\"time_ns\":0,\"from_divisor\":4,"));
	assert_non_null(strstr(capture.out, "\"delivery_ns\":10000,"));
	capture_free(&capture);
	unlink(SMALL);
}

static void shows_waits_in_a_table(void **state)
{
	struct capture capture;
	char *line, *rest;

	(void)state;
	free(write_waiting(SMALL));
	assert_int_equal(report(&capture, SMALL, NULL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "  waiting   2.25 s;"));
	assert_non_null(strstr(capture.out, "\nGROUP              WAIT s   CPU s "));
	assert_non_null(strstr(capture.out, "\napp.wasm             2.25    0.10 "));
	assert_non_null(strstr(capture.out, "\n    1.50  66.7 % [read]               app.wasm "
					    "              math::kernel<[u8; 32]>\n"));
	assert_non_null(strstr(capture.out, "\n    0.25  11.1 % (parked)             app.wasm "
					    "              -\n"));
	/* Functions that only waited are in that table alone. */
	assert_null(strstr(capture.out, " host       [host]                 [read]"));
	for (line = strtok_r(capture.out, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		assert_true(escape_columns(line) <= 100);
	capture_free(&capture);
	assert_int_equal(report(&capture, "--json", SMALL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "\"wall_ns\":2250000000,\"waits\":[{\"module\":"
					    "\"app.wasm\",\"function\":\"math::kernel<[u8; 32]>\","
					    "\"call\":\"[read]\",\"wall_ns\":1500000000,"));
	assert_non_null(strstr(capture.out, "\"samples\":10,"));
	capture_free(&capture);
	unlink(SMALL);
}

static void says_what_is_torn(void **state)
{
	struct capture capture;

	(void)state;
	write_small(RECORDING_PAGE + 20);
	assert_int_equal(report(&capture, SMALL, NULL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "torn: whole up to byte "));
	assert_non_null(strstr(capture.out, "not ended: "));
	capture_free(&capture);
	unlink(SMALL);
}

static void sums_files_up(void **state)
{
	struct capture capture;

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, SMALL, SMALL, "--json"), COMMAND_OK);
	assert_non_null(strstr(capture.out, "\"samples\":390,"));
	capture_free(&capture);
	unlink(SMALL);
}

static void expect_failure(const char *first, const char *second, int status, const char *line)
{
	struct capture capture;

	assert_int_equal(report(&capture, first, second, NULL), status);
	if (strstr(capture.err, line) == NULL && strstr(capture.out, line) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", line, capture.err);
	assert_true(strchr(capture.err, '\n') == NULL ||
		    strchr(capture.err, '\n')[1] == '\0'); /* one line at most */
	capture_free(&capture);
}

static void fails_with_one_clear_line(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	expect_failure("/no/such.pb", NULL, COMMAND_BAD, "/no/such.pb: No such file or directory");
	expect_failure("-n", "many", COMMAND_BAD, "-n takes a number, not many");
	expect_failure("--frobnicate", NULL, COMMAND_BAD, "frobnicate");
	built_begin(built);
	built_info(built, true);
	free(write_bytes(SMALL, built->out.bytes, built->out.size));
	expect_failure(SMALL, NULL, COMMAND_NO_SAMPLES, "no samples");
	unlink(SMALL);
	built_free(built);
}

static void draws_the_call_tree(void **state)
{
	struct capture capture;

	(void)state;
	write_small(SIZE_MAX);
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_int_equal(report(&capture, "--tree", SMALL, NULL), COMMAND_OK);
	expect_golden(capture.out_path, scratch_root("tests/data/small.tree.txt"));
	capture_free(&capture);
	setenv("LC_ALL", "C", 1);
	assert_int_equal(report(&capture, "--tree", SMALL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "`-"));
	for (const char *at = capture.out; *at != '\0'; at++)
		assert_true((uint8_t)*at < 0x80);
	capture_free(&capture);
	unlink(SMALL);
}

/* As deep as a stack may be: the tree ends at its depth, and stays within its width. */
static void bounds_a_deep_tree(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct built_sample sample = {
		.module = "deep", .state = "guest", .count = 40, .cpu_ns = 4
	};
	struct capture capture;
	char *line, *rest;
	static char names[64][24];

	(void)state;
	built_begin(built);
	built_info(built, true);
	built_mapping(built, "deep", SMALL_IDENTITY);
	for (uint64_t i = 0; i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "function_%" PRIu64, i);
		sample.locations[63 - i] =
			built_location(built, 1, i, FRAME_GUEST,
				       (uint64_t[]){ built_function(built, names[i], "x.c"), 0 });
	}
	built_add_sample(built, &sample);
	free(write_bytes(SMALL, built->out.bytes, built->out.size));
	assert_int_equal(report(&capture, "--tree", SMALL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "below depth 32 are left out"));
	assert_non_null(strstr(capture.out, "48 more callers"));
	for (line = strtok_r(capture.out, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		assert_true(escape_columns(line) <= 100);
	capture_free(&capture);
	unlink(SMALL);
	built_free(built);
}

static void says_what_limits_it_and_the_cure(void **state)
{
	struct capture capture;

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, SMALL, NULL, NULL), COMMAND_OK);
	assert_non_null(strstr(capture.out,
			       "\nWARNINGS\n  2.5 %: samples lost: 5; a thread's ring was full\n"));
	assert_non_null(
		strstr(capture.out, "\n      GUESTPROF_MEMORY=256M guestprof record -- CMD"));
	assert_non_null(strstr(capture.out, "the clock is a cpu timer, which ticks 250 times"));
	assert_non_null(strstr(capture.out, "195 samples are few"));
	assert_non_null(strstr(capture.out, "in generated code that no engine described"));
	assert_null(strstr(capture.out, "no source lines"));
	capture_free(&capture);
	unlink(SMALL);
}

static void shows_the_table_that_was_asked_for(void **state)
{
	struct capture capture;

	(void)state;
	write_small(SIZE_MAX);
	assert_int_equal(report(&capture, "--by", "thread", SMALL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "\nTHREAD "));
	assert_non_null(strstr(capture.out, "\nworker-1 (4243)  "));
	capture_free(&capture);
	assert_int_equal(report(&capture, "--by", "function", SMALL), COMMAND_OK);
	assert_null(strstr(capture.out, "CORES"));
	capture_free(&capture);
	assert_int_equal(report(&capture, "--by=label:tenant", "--json", SMALL), COMMAND_OK);
	assert_non_null(strstr(capture.out, "\"by\":{\"key\":\"label:tenant\",\"rows\":[{"
					    "\"name\":\"(no tenant)\","));
	capture_free(&capture);
	assert_int_equal(report(&capture, "--by", "label:", SMALL), COMMAND_BAD);
	capture_free(&capture);
	unlink(SMALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_text),
		cmocka_unit_test(matches_the_golden_json),
		cmocka_unit_test(stays_within_its_width),
		cmocka_unit_test(says_when_the_rate_changed),
		cmocka_unit_test(shows_waits_in_a_table),
		cmocka_unit_test(says_what_is_torn),
		cmocka_unit_test(sums_files_up),
		cmocka_unit_test(fails_with_one_clear_line),
		cmocka_unit_test(draws_the_call_tree),
		cmocka_unit_test(bounds_a_deep_tree),
		cmocka_unit_test(says_what_limits_it_and_the_cure),
		cmocka_unit_test(shows_the_table_that_was_asked_for),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
