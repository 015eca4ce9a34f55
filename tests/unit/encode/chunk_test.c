/* SPDX-License-Identifier: MIT */
/*
 * chunk_test.c - chunks as bytes: golden ones, and what holds for every reader at every cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "preload/base/stats.h"
#include "preload/encode/chunk.h"
#include "preload/encode/recording.h"
#include "tests/unit/encode/chunks.h"

static const struct writer_info some_info = {
	.clock_name = "cpu timer",
	.clock_why = "no perf_event",
	.requested_hz = 100,
	.stacks = "hostcalls",
	.period_ns = 10000000,
	.engines = (const char *const[]){ "wasmtime 50", "wasmer 7" },
	.engine_count = 2,
};
static const struct chunk_head some_head = { 1700000000000000000, 10000000 };

/* Encodes the rows in chunks of the sizes given, up to a 0. */
static struct pb_writer encode(const size_t *sizes)
{
	struct pb_writer out = { 0 }, info = { 0 };
	size_t first = 0;

	chunk_encode_info(&info, 4242, "python3", &some_info);
	for (; *sizes != 0; sizes++) {
		struct made_chunk *made = make_chunk(first, *sizes);

		chunk_encode(&out, &made->chunk, &info, first == 0 ? &some_head : NULL);
		first += *sizes;
		free(made);
	}
	pb_free(&info);
	return out;
}

/* One function, one location, one sample: every field where profile.proto wants it. */
static void test_golden_rows(void **unused)
{
	static const uint8_t function[] = { 0x2a, 0x09, 0x08, 0x01, 0x10, 0x12,
					    0x18, 0x12, 0xc0, 0x3e, 0x01 };
	static const uint8_t location[] = { 0x22, 0x14, 0x08, 0x01, 0x10, 0x01, 0x18, 0x80,
					    0x02, 0x22, 0x02, 0x08, 0x01, 0xc0, 0x3e, 0x01,
					    0xc8, 0x3e, 0x01, 0xd8, 0x3e, 0x01 };
	static const uint8_t sample[] = {
		0x12, 0x34, 0x0a, 0x01, 0x01,			/* location_id 1 */
		0x12, 0x05, 0x01, 0x80, 0xad, 0xe2, 0x04,	/* value 1, 10,000,000 */
		0x1a, 0x04, 0x08, 0x05, 0x10, 0x12,		/* wasm_module */
		0x1a, 0x04, 0x08, 0x06, 0x10, 0x12,		/* wasm_instance */
		0x1a, 0x04, 0x08, 0x07, 0x10, 0x0b,		/* wasm_state guest */
		0x1a, 0x04, 0x08, 0x08, 0x10, 0x12,		/* thread_name */
		0x1a, 0x05, 0x08, 0x09, 0x18, 0x92, 0x21,	/* thread_id 4242 */
		0x1a, 0x06, 0x08, 0x0a, 0x18, 0x00, 0x20, 0x04, /* time 0 nanoseconds */
		0xc0, 0x3e, 0x01,				/* is_truncated */
	};
	struct pb_writer out = encode((const size_t[]){ 1, 0 });

	(void)unused;
	assert_non_null(memmem(out.bytes, out.size, function, sizeof(function)));
	assert_non_null(memmem(out.bytes, out.size, location, sizeof(location)));
	assert_non_null(memmem(out.bytes, out.size, sample, sizeof(sample)));
	/* It begins with string 0, "", then "samples". */
	assert_memory_equal(out.bytes, "\x32\x00\x32\x07samples", 11);
	pb_free(&out);
}

static void test_every_row_arrives(void **unused)
{
	struct pb_writer out = encode((const size_t[]){ 1500, 1, 700, 0 });
	struct checked checked = check_recording(out.bytes, out.size);

	(void)unused;
	assert_null(checked.problem);
	assert_false(checked.is_torn);
	assert_int_equal(out.size % RECORDING_PAGE, 0);
	assert_int_equal(checked.strings, STRING_FIXED_COUNT + 2201);
	assert_int_equal(checked.sample_types, 2);
	assert_int_equal(checked.mappings, 1);
	assert_int_equal(checked.functions, 2201);
	assert_int_equal(checked.locations, 2201);
	assert_int_equal(checked.samples, 2201);
	assert_int_equal(checked.count, 1500 * 1501 / 2 + 1 + 700 * 701 / 2);
	assert_int_equal(checked.cpu_ns, checked.count * 10000000);
	assert_int_equal(checked.infos, 3);
	assert_int_equal(checked.groups, 3);
	assert_int_equal(checked.period, 10000000);
	assert_true(checked.time_ns == some_head.start_unix_ns);
	assert_int_equal(checked.duration_ns, (uint64_t)1502 * 1000000000);
	pb_free(&out);
}

/* A kill leaves whole pages: what is before any of them is a profile by itself. */
static void test_every_page_is_a_good_end(void **unused)
{
	struct pb_writer out = encode((const size_t[]){ 900, 300, 5, 0 });
	size_t pages = out.size / RECORDING_PAGE, samples = 0;

	(void)unused;
	assert_true(pages > 30);
	for (size_t page = 1; page <= pages; page++) {
		struct checked checked = check_recording(out.bytes, page * RECORDING_PAGE);

		assert_null(checked.problem);
		assert_false(checked.is_torn);
		assert_true(checked.samples >= samples);
		samples = checked.samples;
	}
	assert_int_equal(samples, 1205);
	pb_free(&out);
}

/* Anywhere else the torn tail is told, and what is before it is good. */
static void test_any_cut_is_told(void **unused)
{
	struct pb_writer out = encode((const size_t[]){ 30, 10, 0 });

	(void)unused;
	for (size_t size = 0; size < out.size; size++) {
		struct checked checked = check_recording(out.bytes, size);

		assert_null(checked.problem);
	}
	pb_free(&out);
}

/* Names and stacks longer than a page are whole too. */
static void test_fields_longer_than_a_page(void **unused)
{
	struct made_chunk *made = make_chunk(0, 3);
	struct pb_writer out = { 0 }, info = { 0 };
	uint64_t *deep = malloc(5000 * sizeof(*deep));
	char *name = malloc(10000);
	struct checked checked;

	(void)unused;
	memset(name, 'n', 9999);
	name[9999] = '\0';
	made->strings[STRING_FIXED_COUNT + 1] = name;
	for (size_t i = 0; i < 5000; i++)
		deep[i] = 1 + i % 3;
	made->samples[1].locations = deep;
	made->samples[1].location_count = 5000;
	chunk_encode_info(&info, 1, "x", &some_info);
	chunk_encode(&out, &made->chunk, &info, &some_head);
	checked = check_recording(out.bytes, out.size);
	assert_null(checked.problem);
	assert_int_equal(checked.samples, 3);
	assert_int_equal(out.size % RECORDING_PAGE, 0);
	pb_free(&info);
	pb_free(&out);
	free(deep);
	free(name);
	free(made);
}

static void test_the_end_repeats_the_info(void **unused)
{
	struct pb_writer out = { 0 }, info = { 0 };
	struct checked checked;

	(void)unused;
	chunk_encode_info(&info, 4242, "python3", &some_info);
	chunk_encode_end(&out, &info, NULL);
	checked = check_recording(out.bytes, out.size);
	assert_null(checked.problem);
	assert_true(checked.has_ended);
	assert_int_equal(checked.infos, 1);
	assert_int_equal(checked.stats, 1);
	assert_non_null(memmem(out.bytes, out.size, "wasmtime 50", 11));
	/* The info itself is as it was: a later chunk has not ended. */
	out.size = 0;
	chunk_encode(&out, &(struct chunk){ 0 }, &info, NULL);
	assert_false(check_recording(out.bytes, out.size).has_ended);
	pb_free(&info);
	pb_free(&out);
}

static void test_counters_are_named(void **unused)
{
	static const uint8_t entry[] = "\x0a\x0a"
				       "lost_write"
				       "\x10\x07";
	struct pb_writer out;

	(void)unused;
	stat_add(STAT_LOST_WRITE, 7);
	out = encode((const size_t[]){ 1, 0 });
	assert_non_null(memmem(out.bytes, out.size, entry, sizeof(entry) - 1));
	pb_free(&out);
}

/* Waits: a third type, a third value in every sample, what is waited for, the group's sum. */
static void test_waits_have_a_value_of_their_own(void **unused)
{
	static const uint8_t type[] = { 0x0a, 0x04, 0x08, STRING_WALL, 0x10, STRING_NANOSECONDS };
	static const uint8_t values[] = { 0x12, 0x06, 0x00, 0x00, 0x80, 0xc8, 0xaf, 0xa0, 0x25 };
	static const uint8_t label[] = { 0x1a, 0x04, 0x08, STRING_DESCRIPTOR, 0x18, 0x07 };
	static const uint8_t group[] = { 0x40, 0xac, 0x02 };
	struct made_chunk *made = make_chunk(0, 3);
	struct pb_writer out = { 0 }, info = { 0 };
	struct checked checked;

	(void)unused;
	made->chunk.has_wall = true;
	made->samples[1].count = made->samples[1].cpu_ns = 0;
	made->samples[1].wall_ns = 10000000000;
	made->samples[1].has_descriptor = true;
	made->samples[1].descriptor = 7;
	made->group.wall_ns = 300;
	chunk_encode_info(&info, 1, "x", &some_info);
	chunk_encode(&out, &made->chunk, &info, &some_head);
	checked = check_recording(out.bytes, out.size);
	assert_null(checked.problem);
	assert_int_equal(checked.sample_types, 3);
	assert_non_null(memmem(out.bytes, out.size, type, sizeof(type)));
	assert_non_null(memmem(out.bytes, out.size, values + 2, sizeof(values) - 2));
	assert_non_null(memmem(out.bytes, out.size, label, sizeof(label)));
	assert_non_null(memmem(out.bytes, out.size, group, sizeof(group)));
	pb_free(&info);
	pb_free(&out);
	free(made);
}

static void test_no_memory_is_an_error(void **unused)
{
	struct made_chunk *made = make_chunk(0, 1);
	struct pb_writer out = { 0 }, info = { .error = -ENOMEM };

	(void)unused;
	chunk_encode(&out, &made->chunk, &info, &some_head);
	assert_int_equal(out.error, -ENOMEM);
	pb_free(&out);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_rows),
		cmocka_unit_test(test_every_row_arrives),
		cmocka_unit_test(test_every_page_is_a_good_end),
		cmocka_unit_test(test_any_cut_is_told),
		cmocka_unit_test(test_fields_longer_than_a_page),
		cmocka_unit_test(test_the_end_repeats_the_info),
		cmocka_unit_test(test_counters_are_named),
		cmocka_unit_test(test_waits_have_a_value_of_their_own),
		cmocka_unit_test(test_no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
