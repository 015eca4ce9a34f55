/* SPDX-License-Identifier: MIT */
/* firefox_test.c - the Firefox profile: golden file, the format's own rules, many groups, no
 * samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/encode/firefox.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

#include <sys/wait.h>

#define WRITTEN "written.json"

static void write_firefox(const struct built *built)
{
	char *why = NULL, *name = write_bytes(NULL, built->out.bytes, built->out.size);
	struct recording *recording = recording_read(name, &why);
	struct output *output = output_open(WRITTEN, false);

	assert_non_null(recording);
	assert_non_null(output);
	assert_int_equal(firefox_write(recording, output), 0);
	assert_int_equal(output_close(output, true), 0);
	recording_free(recording);
	unlink(name);
	free(name);
}

/* The rules of the format are checked by a program that knows nothing of the writer. */
static void check(const char *arguments)
{
	char command[PATH_MAX + 512];
	int status;

	snprintf(command, sizeof(command), "python3 %s %s " WRITTEN,
		 scratch_root("scripts/check-firefox"), arguments);
	status = system(command);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void matches_the_golden_file(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	build_small(built);
	write_firefox(built);
	expect_golden(WRITTEN, scratch_root("tests/data/small.firefox.json"));
	/* Groups: 170 + 25; instances: #1 60, #2 70; the hostile group's only one is the group
	 * itself. */
	check("--samples 195 --tracks 4 --cpu-us 1850000 --function math::helper");
	unlink(WRITTEN);
	built_free(built);
}

/* 40 groups of 1 to 40 samples: 29 tracks, and one for the rest. */
static void gives_tracks_to_the_heaviest(void **state)
{
	static char names[40][16];
	struct built *built = calloc(1, sizeof(*built));
	uint64_t function, location;
	char *text;

	(void)state;
	built_begin(built);
	function = built_function(built, "f", "");
	location = built_location(built, 0, 9, FRAME_GUEST, (uint64_t[]){ function, 0 });
	for (uint64_t i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "m%u.wasm", (unsigned int)i);
		built_add_sample(built, &(struct built_sample){ .module = names[i],
								.locations = { location },
								.count = i + 1,
								.cpu_ns = (i + 1) * 10000000,
								.time_ns = i * 500000000 });
	}
	write_firefox(built);
	check("--samples 820 --tracks 30 --cpu-us 8200000");
	text = slurp(WRITTEN);
	assert_non_null(strstr(text, "\"(other groups)\""));
	assert_non_null(strstr(text, "\"initialVisibleThreads\":[0,1,2,3,4,5,6,7,8,9]"));
	free(text);
	unlink(WRITTEN);
	built_free(built);
}

static void writes_a_valid_profile_without_samples(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	(void)state;
	built_begin(built);
	built_info(built, true);
	write_firefox(built);
	check("--samples 0 --tracks 1");
	unlink(WRITTEN);
	built_free(built);
}

/* In a track of their own, in milliseconds, and in no other. */
static void gives_waits_a_track(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	char *text;

	(void)state;
	build_waiting(built);
	write_firefox(built);
	check("--samples 10 --tracks 2 --cpu-us 100000");
	text = slurp(WRITTEN);
	assert_non_null(strstr(text, "\"name\":\"app.wasm (waiting)\",\"isMainThread\":false"));
	assert_non_null(strstr(text, "\"weightType\":\"tracing-ms\""));
	assert_non_null(strstr(text, "\"weight\":[1500.000,500.000,250.000]"));
	free(text);
	unlink(WRITTEN);
	built_free(built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_file),
		cmocka_unit_test(gives_tracks_to_the_heaviest),
		cmocka_unit_test(writes_a_valid_profile_without_samples),
		cmocka_unit_test(gives_waits_a_track),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
