/* SPDX-License-Identifier: MIT */
/* speedscope_test.c - speedscope's own format: golden files, units, and what is too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/speedscope.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

#define WRITTEN "written.json"

/* Returns the text (caller frees); the file stays. */
static char *write_speedscope(const struct recording *recording, struct speedscope_options options,
			      bool *is_merged)
{
	struct output *output = output_open(WRITTEN, false);

	assert_non_null(output);
	assert_int_equal(speedscope_write(recording, &options, output, is_merged), 0);
	assert_int_equal(output_close(output, true), 0);
	return slurp(WRITTEN);
}

static struct recording *read_small(void)
{
	struct built *built = calloc(1, sizeof(*built));
	char *why = NULL, *name;
	struct recording *recording;

	build_small(built);
	name = write_bytes(NULL, built->out.bytes, built->out.size);
	recording = recording_read(name, &why);
	assert_non_null(recording);
	unlink(name);
	free(name);
	built_free(built);
	return recording;
}

static void matches_the_golden_file(void **state)
{
	const struct speedscope_options options = { .by_instance = true,
						    .size_max = SPEEDSCOPE_SIZE_MAX };
	struct recording *recording = read_small();
	bool is_merged = true;

	(void)state;
	free(write_speedscope(recording, options, &is_merged));
	assert_false(is_merged);
	expect_golden(WRITTEN, scratch_root("tests/data/small.speedscope.json"));
	recording_free(recording);
	unlink(WRITTEN);
}

/* One profile for each group alone, and in each one sample for each stack. */
static void merges_what_is_too_large(void **state)
{
	struct recording *recording = read_waiting();
	bool is_merged = false;
	char *text = write_speedscope(
		recording, (struct speedscope_options){ .by_wall = true, .size_max = 10 },
		&is_merged);

	(void)state;
	assert_true(is_merged);
	assert_non_null(strstr(text, "\"unit\":\"nanoseconds\""));
	assert_non_null(strstr(text, "\"weights\":[1500000000,500000000,250000000]"));
	assert_non_null(strstr(text, "\"endValue\":2250000000"));
	assert_null(strstr(text, "app.wasm#1"));
	free(text);
	recording_free(recording);
	unlink(WRITTEN);
}

/* A file of another tool that counts samples only. */
static void counts_samples_without_cpu_time(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t function, location;
	struct recording *recording;
	bool is_merged;
	char *why = NULL, *name, *text;

	(void)state;
	built_begin(built);
	function = built_function(built, "f", "");
	location = built_location(built, 0, 9, FRAME_GUEST, (uint64_t[]){ function, 0 });
	built_add_sample(built, &(struct built_sample){ .module = "a.wasm",
							.locations = { location },
							.count = 7 });
	name = write_bytes(NULL, built->out.bytes, built->out.size);
	recording = recording_read(name, &why);
	text = write_speedscope(recording,
				(struct speedscope_options){ .size_max = SPEEDSCOPE_SIZE_MAX },
				&is_merged);
	assert_non_null(strstr(text, "\"unit\":\"none\""));
	assert_non_null(strstr(text, "\"weights\":[7]"));
	free(text);
	recording_free(recording);
	unlink(name);
	free(name);
	unlink(WRITTEN);
	built_free(built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(merges_what_is_too_large),
		cmocka_unit_test(counts_samples_without_cpu_time),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
