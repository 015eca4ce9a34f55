/* SPDX-License-Identifier: MIT */
/* folded_test.c - folded stacks: golden file, and the rules for names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/folded.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

static struct recording *read_built(const struct built *built)
{
	char *why = NULL, *name = write_bytes(NULL, built->out.bytes, built->out.size);
	struct recording *recording = recording_read(name, &why);

	unlink(name);
	free(name);
	assert_non_null(recording);
	return recording;
}

static void write_folded(const struct built *built, bool by_instance, const char *path)
{
	struct recording *recording = read_built(built);
	struct output *output = output_open(path, false);

	assert_non_null(output);
	assert_int_equal(folded_write(recording, by_instance, false, output), 0);
	assert_int_equal(output_close(output, true), 0);
	recording_free(recording);
}

static void matches_the_golden_file(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	build_small(built);
	write_folded(built, false, "written.folded");
	expect_golden("written.folded", scratch_root("tests/data/small.folded"));
	write_folded(built, true, "written.folded");
	expect_golden("written.folded", scratch_root("tests/data/small-instances.folded"));
	unlink("written.folded");
	built_free(built);
}

/* The line for one sample whose only frame is called NAME. */
static void expect_name(const char *name, const char *expected)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t function, location;
	char *text;

	built_begin(built);
	function = built_function(built, name, "");
	location = built_location(built, built_mapping(built, "m", ""), 9, FRAME_GUEST,
				  (uint64_t[]){ function, 0 });
	built_add_sample(built, &(struct built_sample){
					.module = "m", .locations = { location }, .count = 3 });
	write_folded(built, false, "name.folded");
	text = slurp("name.folded");
	assert_string_equal(text, expected);
	free(text);
	unlink("name.folded");
	built_free(built);
}

static void writes_names_that_no_reader_mistakes(void **state)
{
	(void)state;
	expect_name("work<[u8; 32]>", "m;work<[u8: 32]> 3\n");
	expect_name("a\tb\nc", "m;a b c 3\n");
	expect_name("loop 12", "m;loop_12 3\n");
	expect_name("loop 1.5", "m;loop_1.5 3\n");
	expect_name("loop 12 ", "m;loop_12 3\n");
	expect_name(" \t ", "m;(unnamed) 3\n");
	expect_name("two words", "m;two words 3\n");
	expect_name("12", "m;12 3\n");
	expect_name("\342\200\256x", "m;\\u{202e}x 3\n");
}

/* Recursion as deep as a recording can hold. */
static void writes_deep_stacks(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct built_sample sample = { .module = "m", .count = 1 };
	uint64_t function, location;
	char *text;

	(void)state;
	built_begin(built);
	function = built_function(built, "f", "");
	location = built_location(built, 0, 9, FRAME_GUEST, (uint64_t[]){ function, 0 });
	for (int i = 0; i < 69; i++)
		sample.locations[i] = location;
	built_add_sample(built, &sample);
	write_folded(built, false, "deep.folded");
	text = slurp("deep.folded");
	assert_int_equal(strlen(text), strlen("m") + 69 * strlen(";f") + strlen(" 1\n"));
	free(text);
	unlink("deep.folded");
	built_free(built);
}

static void expect_waiting(bool by_wall, const char *expected)
{
	struct recording *recording = read_waiting();
	struct output *output = output_open("waiting.folded", false);
	char *text;

	assert_int_equal(folded_write(recording, false, by_wall, output), 0);
	assert_int_equal(output_close(output, true), 0);
	text = slurp("waiting.folded");
	assert_string_equal(text, expected);
	free(text);
	unlink("waiting.folded");
	recording_free(recording);
}

/* Samples and waits are never in one file: their counts have different units. */
static void writes_either_samples_or_waits(void **state)
{
	(void)state;
	expect_waiting(false, "app.wasm;_start 10\n");
	expect_waiting(true,
		       "app.wasm;_start;math::kernel<[u8: 32]>;wasi_snapshot_preview1.fd_write;"
		       "[read] 1500000000\n"
		       "app.wasm;_start;wasi_snapshot_preview1.fd_write;[futex] 500000000\n"
		       "app.wasm;(parked) 250000000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(writes_names_that_no_reader_mistakes),
		cmocka_unit_test(writes_deep_stacks),
		cmocka_unit_test(writes_either_samples_or_waits),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
