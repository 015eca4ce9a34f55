/* SPDX-License-Identifier: MIT */
/* push_test.c - bodies for servers of profiles: their shape, how they are split; and subsets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/push.h"
#include "preload/read/escape.h"
#include "preload/read/subset.h"
#include "tests/unit/encode/small.h"

struct sent {
	size_t count, samples;
	char *last; /* terminated */
	int error;  /* to answer */
};

static int take(void *context, uint8_t *body, size_t size, size_t samples)
{
	struct sent *sent = context;

	assert_true(samples <= PUSH_SAMPLES_MAX);
	sent->count++;
	sent->samples += samples;
	free(sent->last);
	sent->last = realloc(body, size + 1);
	sent->last[size] = '\0';
	return sent->error;
}

static void test_shapes(void **state)
{
	struct push_options options = { .service = "api",
					.labels = { { "zone", "a\"b" } },
					.label_count = 1 };
	struct recording *recording = small_read();
	struct sent sent = { 0 };

	(void)state;
	assert_int_equal(push_make(recording, &options, take, &sent), 0);
	assert_int_equal(sent.count, 1);
	assert_non_null(strstr(
		sent.last,
		"{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
		"{\"name\":\"service_name\",\"value\":\"api\"},{\"name\":\"zone\",\"value\":"
		"\"a\\\"b\"}],\"samples\":[{\"rawProfile\":\"H4sI"));
	assert_string_equal(sent.last + strlen(sent.last) - 6, "\"}]}]}");
	options.api = PUSH_PARCA;
	assert_int_equal(push_make(recording, &options, take, &sent), 0);
	assert_non_null(strstr(sent.last, "{\"series\":[{\"labels\":{\"labels\":["));
	assert_non_null(strstr(sent.last, "\"}]}],\"normalized\":true}"));
	sent.error = -EPIPE;
	assert_int_equal(push_make(recording, &options, take, &sent), -EPIPE);
	free(sent.last);
	recording_free(recording);
}

/* COUNT stacks that differ, in one module. */
static struct recording *read_many(uint64_t count)
{
	struct built *built = calloc(1, sizeof(*built));
	struct recording *recording;
	uint64_t mapping, function;

	built_begin(built);
	built_info(built, true);
	mapping = built_mapping(built, "app.wasm", SMALL_IDENTITY);
	function = built_function(built, "f", "");
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at =
			built_location(built, mapping, i, FRAME_GUEST, (uint64_t[]){ function, 0 });

		build_small_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at, 0 }, 1, i);
	}
	recording = small_read_built(built);
	built_free(built);
	return recording;
}

static void test_split(void **state)
{
	const struct push_options options = { .service = "api" };
	struct recording *recording = read_many(PUSH_SAMPLES_MAX);
	struct sent sent = { 0 };

	(void)state;
	assert_int_equal(push_make(recording, &options, take, &sent), 0);
	assert_int_equal(sent.count, 1);
	recording_free(recording);
	recording = read_many(PUSH_SAMPLES_MAX + 1);
	sent.count = sent.samples = 0;
	assert_int_equal(push_make(recording, &options, take, &sent), 0);
	assert_int_equal(sent.count, 2);
	assert_int_equal(sent.samples, PUSH_SAMPLES_MAX + 1);
	free(sent.last);
	recording_free(recording);
}

static void test_no_samples_are_not_sent(void **state)
{
	const struct push_options options = { .service = "api" };
	struct recording *recording = read_many(0);
	struct sent sent = { 0 };

	(void)state;
	assert_int_equal(push_make(recording, &options, take, &sent), 0);
	assert_int_equal(sent.count, 0);
	recording_free(recording);
}

static uint64_t count_subset(const struct recording *recording, const struct subset_wish *wish)
{
	struct recording_sample *samples;
	struct recording part;
	uint64_t count;

	assert_int_equal(subset_take(recording, wish, &part, &samples), 0);
	count = small_count(&part);
	free(samples);
	return count;
}

static void test_subsets(void **state)
{
	struct recording *recording = small_read();
	const char *path = recording->processes[0].path;
	char *shown = escape_new(EVIL_NAME, ESCAPE_VISIBLE);

	(void)state;
#define COUNT(...) count_subset(recording, &(struct subset_wish){ __VA_ARGS__ })
	assert_int_equal(COUNT(.group = NULL), 195);
	assert_int_equal(COUNT(.group = "app.wasm"), 170);
	assert_int_equal(COUNT(.group = "app"), 0);
	assert_int_equal(COUNT(.group = ".*"), 0);
	assert_int_equal(COUNT(.group = EVIL_NAME), 25);
	assert_int_equal(COUNT(.group = shown), 25); /* as it is shown */
	assert_int_equal(COUNT(.instance = "app.wasm#1"), 60);
	assert_int_equal(COUNT(.instance = "app.wasm#1", .group = EVIL_NAME), 0);
	assert_int_equal(COUNT(.process = path), 195);
	assert_int_equal(COUNT(.process = "another"), 0);
	assert_int_equal(COUNT(.labels = { "tenant" }), 0);
	free(shown);
	recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_no_samples_are_not_sent),
		cmocka_unit_test(test_subsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
