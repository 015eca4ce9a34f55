/* SPDX-License-Identifier: MIT */
/* firefox_test.c - the Firefox profile: golden file, the format's own rules, many groups, no
 * samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/firefox.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/waiting.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define WRITTEN "written.json"

/* Returns how far samples were merged. */
static uint64_t write_smaller(const struct built *built, uint64_t size_max)
{
	uint64_t merged_ns = UINT64_MAX;
	char *why = NULL, *name = write_bytes(NULL, built->out.bytes, built->out.size);
	struct recording *recording = recording_read(name, &why);
	struct output *output = output_open(WRITTEN, false);

	assert_non_null(recording);
	assert_non_null(output);
	assert_int_equal(firefox_write(recording, size_max, output, &merged_ns), 0);
	assert_int_equal(output_close(output, true), 0);
	recording_free(recording);
	unlink(name);
	free(name);
	return merged_ns;
}

static void write_firefox(const struct built *built)
{
	assert_int_equal(write_smaller(built, FIREFOX_SIZE_MAX), 0);
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
	assert_non_null(strstr(text, "\"weight\":[0.000,1500.000,500.000,250.000,0.000]"));
	free(text);
	unlink(WRITTEN);
	built_free(built);
}

static void add_interval(struct built *built, const char *name, uint64_t start_ns,
			 uint64_t duration_ns, uint64_t thread_id)
{
	size_t mark = pb_begin(&built->out, RECORDING_INTERVAL);

	pb_string(&built->out, INTERVAL_NAME, name);
	pb_varint(&built->out, INTERVAL_START_NS, start_ns);
	pb_varint(&built->out, INTERVAL_DURATION_NS, duration_ns);
	pb_varint(&built->out, INTERVAL_THREAD_ID, thread_id);
	pb_end(&built->out, mark);
}

/* END_NS 0: it lives. */
static void add_life(struct built *built, const char *module, const char *instance,
		     uint64_t start_ns, uint64_t end_ns)
{
	uint64_t module_text = built_string(built, module);
	uint64_t instance_text = built_string(built, instance);
	size_t mark = pb_begin(&built->out, RECORDING_LIFE);

	pb_varint(&built->out, LIFE_MODULE, module_text);
	pb_varint(&built->out, LIFE_INSTANCE, instance_text);
	pb_varint(&built->out, LIFE_START_NS, start_ns);
	if (end_ns != 0)
		pb_varint(&built->out, LIFE_END_NS, end_ns);
	pb_end(&built->out, mark);
}

/* Thread 4243 was only seen in app.wasm, 4244 in the hostile module last; nobody saw 1. */
static void puts_marks_on_their_tracks(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	char *text;

	(void)state;
	build_small(built);
	add_interval(built, "env.read", 1500000000, 20000000, 4243);
	add_interval(built, "env.write", 1995000000, 1000000, 4244);
	add_interval(built, "env.lost", 100, 50, 1);
	add_life(built, "app.wasm", "app.wasm#1", 1000000, 0);
	add_life(built, "app.wasm", "app.wasm#1", 1000000, 900000000); /* replaces */
	add_life(built, "app.wasm", "app.wasm#2", 3000000, 0);
	write_firefox(built);
	/* Tracks: app.wasm, #2, #1, the hostile one. */
	check("--samples 195 --tracks 4 --marks 2,1,1,1");
	text = slurp(WRITTEN);
	assert_non_null(strstr(text, "\"endTime\":[0.000,1520.000]"));
	assert_non_null(strstr(text, "\"endTime\":[2000.000]"));
	assert_non_null(strstr(text, "\"endTime\":[900.000]"));
	assert_non_null(strstr(text, "\"startTime\":[1995.000]"));
	assert_null(strstr(text, "without a marker"));
	free(text);
	unlink(WRITTEN);
	built_free(built);
}

/* 6,000 host calls and 3,000 instances: the longest of each, the others counted. */
static void keeps_the_longest_marks(void **state)
{
	static char names[3000][24];
	struct built *built = calloc(1, sizeof(*built));
	char *text;

	(void)state;
	build_small(built);
	for (uint64_t i = 0; i < 6000; i++)
		add_interval(built, "env.call", i * 100000, 1000 + i % 100 * 1000, 4243);
	for (uint64_t i = 0; i < 3000; i++) {
		snprintf(names[i], sizeof(names[i]), "app.wasm#%u", (unsigned int)(10 + i));
		add_life(built, "app.wasm", names[i], 1, 1000000 * (1 + i % 10));
	}
	write_firefox(built);
	check("--samples 195 --marks 5000,0,0,0");
	text = slurp(WRITTEN);
	assert_non_null(strstr(text, "the shortest\",\"format\":\"integer\",\"value\":3500}"));
	assert_non_null(strstr(text, "lived\",\"format\":\"integer\",\"value\":500}"));
	free(text);
	unlink(WRITTEN);
	built_free(built);
}

/* Two samples each second of each of 50 functions, on two threads, for 200 s. */
static void merges_what_is_too_large(void **state)
{
	static char names[50][8];
	struct built *built = calloc(1, sizeof(*built));
	uint64_t locations[50], function, merged_ns;
	struct stat about;

	(void)state;
	built_begin(built);
	for (uint64_t i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", (unsigned int)i);
		function = built_function(built, names[i], "");
		locations[i] =
			built_location(built, 0, 9, FRAME_GUEST, (uint64_t[]){ function, 0 });
	}
	for (uint64_t i = 0; i < 20000; i++)
		built_add_sample(built,
				 &(struct built_sample){ .module = "a.wasm",
							 .locations = { locations[i / 2 % 50] },
							 .thread_id = 1 + i % 2,
							 .count = 1,
							 .cpu_ns = 10000000,
							 .time_ns = i * 10000000 });
	assert_int_equal(write_smaller(built, FIREFOX_SIZE_MAX), 0);
	check("--samples 20000 --cpu-us 200000000");
	merged_ns = write_smaller(built, 100000);
	check("--samples 20000 --cpu-us 200000000");
	/* 100 a span: 3,000 rows at most are 30 spans of 200 s */
	assert_int_equal(merged_ns, 8000000000);
	assert_int_equal(stat(WRITTEN, &about), 0);
	assert_true(about.st_size < 100000);
	/* Nothing helps against a limit that is too low, but it ends. */
	assert_true(write_smaller(built, 10) >= 200000000000);
	check("--samples 20000 --cpu-us 200000000");
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
		cmocka_unit_test(puts_marks_on_their_tracks),
		cmocka_unit_test(keeps_the_longest_marks),
		cmocka_unit_test(merges_what_is_too_large),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
