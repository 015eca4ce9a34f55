/* SPDX-License-Identifier: MIT */
/* feed_test.c - a recording in pieces gives the same windows, and the same counters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/feed.h"
#include "tests/unit/encode/small.h"

#define START ((uint64_t)1764525600000000000)
#define SECOND ((uint64_t)1000000000)

/* A feed of BYTES that came in pieces of PIECE; what was not whole comes again. */
static struct feed *feed_in_pieces(const uint8_t *bytes, size_t size, size_t piece)
{
	struct feed *feed = feed_new();
	size_t at = 0, end = 0, taken;

	assert_non_null(feed);
	while (end < size) {
		end = end + piece < size ? end + piece : size;
		assert_int_equal(feed_take(feed, bytes + at, end - at, &taken), 0);
		assert_true(taken <= end - at);
		at += taken;
	}
	assert_int_equal(at, size);
	return feed;
}

static struct built *built_small(void)
{
	struct built *built = calloc(1, sizeof(*built));

	build_small(built);
	return built;
}

/* Samples of the window, CPU time in *CPU_NS. */
static uint64_t count_window(const struct feed *feed, uint64_t from, uint64_t to, uint64_t *cpu_ns)
{
	struct pb_writer bytes = { 0 };
	struct recording *recording;
	uint64_t count = 0;
	char *why = NULL;

	*cpu_ns = 0;
	if (!feed_window(feed, START + from, START + to, &bytes)) {
		assert_int_equal(bytes.size, 0);
		return 0;
	}
	recording = recording_parse("small", bytes.bytes, bytes.size, &why);
	assert_non_null(recording);
	assert_true(recording->is_ours);
	assert_int_equal(recording->pid, 4242);
	for (size_t i = 0; i < recording->sample_count; i++) {
		count += recording->samples[i].count;
		*cpu_ns += recording->samples[i].cpu_ns;
	}
	recording_free(recording);
	pb_free(&bytes);
	return count;
}

static void test_windows_follow_each_other(void **state)
{
	static const size_t pieces[] = { 1, 7, 100, 4096, 1 << 20 };
	struct built *built = built_small();
	uint64_t cpu_ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		struct feed *feed = feed_in_pieces(built->out.bytes, built->out.size, pieces[i]);

		assert_int_equal(feed_start_unix_ns(feed), START);
		assert_int_equal(feed_duration_ns(feed), 2 * SECOND);
		assert_int_equal(feed_pid(feed), 4242);
		assert_string_equal(feed_program(feed), "python3");
		assert_int_equal(count_window(feed, 0, SECOND, &cpu_ns), 10);
		assert_int_equal(cpu_ns, 100000000);
		assert_int_equal(count_window(feed, SECOND, 2 * SECOND, &cpu_ns), 185);
		assert_int_equal(count_window(feed, 0, 2 * SECOND, &cpu_ns), 195);
		/* From is in it, to is not. */
		assert_int_equal(count_window(feed, 1005000000, 1005000001, &cpu_ns), 110);
		assert_int_equal(count_window(feed, 1005000001, 1900000000, &cpu_ns), 0);
		assert_int_equal(count_window(feed, 2 * SECOND, 3 * SECOND, &cpu_ns), 0);
		assert_int_equal(feed_dropped(feed), 0);
		feed_free(feed);
	}
	built_free(built);
}

struct found {
	uint64_t lost, entries;
};

static void find_lost(void *context, const char *name, size_t name_size, uint64_t value)
{
	struct found *found = context;

	found->entries++;
	if (name_size == strlen("lost_ring_full") && memcmp(name, "lost_ring_full", name_size) == 0)
		found->lost = value;
}

static void test_the_last_counters_count(void **state)
{
	struct built *built = built_small();
	struct feed *feed = feed_in_pieces(built->out.bytes, built->out.size, 64);
	struct found found = { 0 };

	(void)state;
	assert_int_equal(feed_group_count(feed), 2);
	assert_string_equal(feed_group(feed, 0)->module, "app.wasm");
	assert_int_equal(feed_group(feed, 0)->counters.cpu_ns, 1600000000);
	assert_int_equal(feed_group(feed, 0)->counters.samples_by_state[STATE_HOST], 60);
	assert_int_equal(feed_group(feed, 0)->counters.instances_created, 3);
	assert_string_equal(feed_group(feed, 1)->module, EVIL_NAME);
	feed_each_stat(feed, find_lost, &found);
	assert_int_equal(found.lost, 5);
	assert_int_equal(found.entries, 8);
	feed_free(feed);
	built_free(built);
}

static void test_torn_tail_waits(void **state)
{
	struct built *built = built_small();
	size_t size = built->out.size, taken;
	struct feed *feed = feed_new();

	(void)state;
	assert_int_equal(feed_take(feed, built->out.bytes, size - 5000, &taken), 0);
	assert_true(taken < size - 5000);
	/* It stays where it is until the rest is there. */
	assert_int_equal(feed_take(feed, built->out.bytes + taken, size - 5000 - taken, &taken), 0);
	assert_int_equal(taken, 0);
	feed_free(feed);
	built_free(built);
}

static void test_not_a_recording_of_ours(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct feed *feed = feed_new();
	struct small_places at;
	size_t taken;

	(void)state;
	built_begin(built);
	build_small_app(built, &at);
	build_small_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at.kernel, 0 }, 10, 5);
	assert_int_equal(feed_take(feed, built->out.bytes, built->out.size, &taken), -EINVAL);
	feed_free(feed);
	built_free(built);
}

static void test_old_samples_go(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	struct feed *feed;
	struct small_places at;
	uint64_t cpu_ns;

	(void)state;
	built_begin(built);
	built_info(built, false);
	build_small_app(built, &at);
	for (uint64_t second = 0; second < 1000; second++) {
		pb_varint(&built->out, 10, second * SECOND);
		build_small_sample(built, "app.wasm#1", "guest", (uint64_t[]){ at.kernel, 0 }, 1,
				   second * SECOND);
	}
	feed = feed_in_pieces(built->out.bytes, built->out.size, 4096);
	assert_int_equal(count_window(feed, 0, 1000 * SECOND, &cpu_ns), 321);
	assert_int_equal(count_window(feed, 990 * SECOND, 1000 * SECOND, &cpu_ns), 10);
	assert_int_equal(feed_dropped(feed), 0);
	feed_free(feed);
	built_free(built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_follow_each_other),
		cmocka_unit_test(test_the_last_counters_count),
		cmocka_unit_test(test_torn_tail_waits),
		cmocka_unit_test(test_not_a_recording_of_ours),
		cmocka_unit_test(test_old_samples_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
