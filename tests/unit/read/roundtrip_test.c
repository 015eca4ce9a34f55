/* SPDX-License-Identifier: MIT */
/* roundtrip_test.c - what the host writes is what the command reads, chunk by chunk, also when
 * killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/encode/chunk.h"
#include "preload/encode/recording.h"
#include "preload/read/reader.h"
#include "tests/unit/encode/chunks.h"

#include <unistd.h>

static const struct writer_info some_info = {
	.clock_name = "perf_event",
	.requested_hz = 400,
	.stacks = "full",
	.period_ns = 2500000,
	.own_cpu_ns = 7,
	.process_cpu_ns = 9,
	.engines = (const char *const[]){ "wasmtime 50", "wasmer 7" },
	.engine_count = 2,
	.delivery_ns = 1900,
	.rates = (const struct writer_rate[]){ { 0, 1, 2, 14000, 10000 },
					       { 5000000000, 2, 1, 3000, 10000 } },
	.rate_count = 2,
};
static const struct chunk_head some_head = { 1700000000000000000, 2500000 };

enum { CHUNK_ROWS = 700, CHUNKS = 3 };

/* Three chunks and the end; ENDS: where each is whole. */
static struct pb_writer encode(size_t ends[CHUNKS])
{
	struct pb_writer out = { 0 }, info = { 0 };

	chunk_encode_info(&info, 4242, "python3", &some_info);
	for (size_t i = 0; i < CHUNKS; i++) {
		struct made_chunk *made = make_chunk(i * CHUNK_ROWS, CHUNK_ROWS);

		chunk_encode(&out, &made->chunk, &info, i == 0 ? &some_head : NULL);
		ends[i] = out.size;
		free(made);
	}
	chunk_encode_end(&out, &info, NULL);
	pb_free(&info);
	return out;
}

static struct recording *read_part(const struct pb_writer *out, size_t size)
{
	char name[] = "/tmp/guestprof-test-XXXXXX", *why = NULL;
	int fd = mkstemp(name);
	struct recording *recording;

	assert_int_equal(write(fd, out->bytes, size), size);
	close(fd);
	recording = recording_read(name, &why);
	unlink(name);
	if (recording == NULL)
		fail_msg("%s", why);
	return recording;
}

static void check_rows(const struct recording *recording)
{
	for (size_t i = 0; i < recording->sample_count; i++) {
		const struct recording_sample *sample = &recording->samples[i];
		char name[64];

		snprintf(name, sizeof(name), "module.wasm!function_%zu", i);
		assert_string_equal(sample->locations[0]->lines[0].function->name, name);
		assert_int_equal(sample->location_count, 1 + i % CHUNK_ROWS % DEPTH);
		assert_non_null(sample->locations[0]->mapping);
		assert_int_equal(sample->locations[0]->is_guess, i % 3 == 0);
	}
}

static void check_rates(const struct recording_process *process)
{
	const struct recording_rate *rates = process->rates;

	assert_int_equal(process->delivery_ns, 1900);
	assert_int_equal(process->rate_count, 2);
	assert_int_equal(rates[0].time_unix_ns, some_head.start_unix_ns);
	assert_int_equal(rates[0].from, 1);
	assert_int_equal(rates[0].to, 2);
	assert_int_equal(rates[0].cost_ppm, 14000);
	assert_int_equal(rates[0].budget_ppm, 10000);
	assert_int_equal(rates[1].time_unix_ns, some_head.start_unix_ns + 5000000000);
	assert_int_equal(rates[1].to, 1);
}

static void reads_what_the_host_writes(void **state)
{
	size_t ends[CHUNKS];
	struct pb_writer out = encode(ends);
	struct recording *recording = read_part(&out, out.size);

	(void)state;
	assert_true(recording->is_ours && recording->has_ended && !recording->is_torn);
	assert_int_equal(recording->sample_count, CHUNKS * CHUNK_ROWS);
	assert_int_equal(recording->function_count, CHUNKS * CHUNK_ROWS);
	check_rows(recording);
	assert_int_equal(recording->pid, 4242);
	assert_int_equal(recording->period_ns, 2500000);
	assert_int_equal(recording->requested_hz, 400);
	assert_string_equal(recording->clock, "perf_event");
	assert_string_equal(recording->stacks, "full");
	assert_string_equal(recording->guestprof_version, RECORDING_LIBRARY_VERSION);
	assert_int_equal(recording->own_cpu_ns, 7);
	assert_int_equal(recording->process_cpu_ns, 9);
	assert_int_equal(recording->engine_count, 2);
	assert_string_equal(recording->engines[1], "wasmer 7");
	check_rates(&recording->processes[0]);
	recording_free(recording);
	pb_free(&out);
}

/* Pages reach the disk one after the other: at every page the rows so far can be read. */
static void reads_what_a_kill_leaves_at_every_page(void **state)
{
	size_t ends[CHUNKS], samples = 0;
	struct pb_writer out = encode(ends);

	(void)state;
	/* Before the strings and types are whole there is no profile yet. */
	for (size_t size = 16 * RECORDING_PAGE; size < out.size; size += RECORDING_PAGE) {
		struct recording *recording = read_part(&out, size);

		assert_false(recording->is_torn);
		assert_false(recording->has_ended);
		assert_true(recording->sample_count >= samples);
		samples = recording->sample_count;
		check_rows(recording);
		recording_free(recording);
	}
	assert_int_equal(samples, CHUNKS * CHUNK_ROWS);
	for (size_t i = 0; i < CHUNKS; i++) {
		struct recording *recording = read_part(&out, ends[i]);

		assert_int_equal(recording->sample_count, (i + 1) * CHUNK_ROWS);
		recording_free(recording);
	}
	pb_free(&out);
}

/* The end of a life is told later than its beginning. */
static void keeps_host_calls_and_lives(void **state)
{
	static const struct chunk_interval calls[] = {
		{ .name = (char *)"env.read", .start_ns = 5, .duration_ns = 7, .thread_id = 42 },
		{ .name = (char *)"env.write", .start_ns = 9 },
	};
	static const struct chunk_life lives[] = {
		{ .module = STRING_FIXED_COUNT, .instance = STRING_FIXED_COUNT + 1, .start_ns = 3 },
		{ .module = STRING_FIXED_COUNT, .instance = STRING_FIXED_COUNT + 2 },
		{ .module = STRING_FIXED_COUNT,
		  .instance = STRING_FIXED_COUNT + 1,
		  .start_ns = 3,
		  .end_ns = 11 },
	};
	struct pb_writer out = { 0 }, info = { 0 };
	struct made_chunk *made = make_chunk(0, 10);
	struct recording *recording;

	(void)state;
	made->chunk.intervals = calls;
	made->chunk.interval_count = 2;
	made->chunk.lives = lives;
	made->chunk.life_count = 3;
	chunk_encode_info(&info, 4242, "python3", &some_info);
	chunk_encode(&out, &made->chunk, &info, &some_head);
	recording = read_part(&out, out.size);
	assert_int_equal(recording->interval_count, 2);
	assert_string_equal(recording->intervals[0].name, "env.read");
	assert_int_equal(recording->intervals[0].start_ns, 5);
	assert_int_equal(recording->intervals[0].duration_ns, 7);
	assert_int_equal(recording->intervals[0].thread_id, 42);
	assert_int_equal(recording->intervals[1].duration_ns, 0);
	assert_int_equal(recording->life_count, 2);
	assert_string_equal(recording->lives[0].module, "module.wasm!function_0");
	assert_string_equal(recording->lives[0].instance, "module.wasm!function_1");
	assert_int_equal(recording->lives[0].start_ns, 3);
	assert_int_equal(recording->lives[0].end_ns, 11);
	assert_true(recording->lives[0].has_ended);
	assert_false(recording->lives[1].has_ended);
	recording_free(recording);
	free(made);
	pb_free(&out);
	pb_free(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_host_writes),
		cmocka_unit_test(reads_what_a_kill_leaves_at_every_page),
		cmocka_unit_test(keeps_host_calls_and_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
