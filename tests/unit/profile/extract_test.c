/* SPDX-License-Identifier: MIT */
/*
 * extract_test.c - the last chunks as a recording of their own: only what is needed, all of it, and
 * numbered from 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "preload/base/clock.h"
#include "preload/base/stats.h"
#include "preload/load/hostcalls.h"
#include "preload/load/spans.h"
#include "preload/profile/bygone.h"
#include "preload/profile/extract.h"
#include "preload/profile/profile.h"
#include "tests/unit/profile/fakes.h"
#include "tests/unit/symtab/failing.h"

enum { PERIOD_NS = 10000000, SECOND_NS = 1000000000, MUCH = 1 << 20 };

static struct config config;
static struct profile *profile;
static struct extract extract;
static uintptr_t code, other_code;

static int start(void **unused)
{
	struct profile_options options = {
		.config = &config,
		.start_ns = SECOND_NS,
		.period_ns = PERIOD_NS,
		.history_memory = 1 << 20,
		.takes_hostcalls = true,
	};

	forget_fakes(unused);
	hostcalls_fork_child();
	spans_fork_child();
	config = (struct config){
		.memory = 64 << 20,
		.stacks = STACKS_HOSTCALLS,
		.instances = INSTANCES_ALL,
	};
	code = fake_module("a.wasm", "aaaaaaaa");
	other_code = fake_module("b.wasm", "bbbbbbbb");
	profile = profile_new(&options);
	return profile != NULL ? 0 : -1;
}

static int end(void **unused)
{
	(void)unused;
	profile_free(profile);
	return 0;
}

static void take(uintptr_t pc, int count, uint64_t time_ns)
{
	for (int i = 0; i < count; i++) {
		struct sample *sample = GUEST_SAMPLE(pc, code + MAIN + 9);

		sample->time_ns = time_ns;
		profile_take(profile, sample, 42, "worker");
		free(sample);
	}
}

static const char *text(uint64_t id)
{
	assert_true(id < extract.chunk.string_count);
	return extract.chunk.strings[id];
}

/* Every id refers to a row that is there. */
static void check_ids(void)
{
	const struct chunk *chunk = &extract.chunk;

	for (size_t i = 0; i < chunk->mapping_count; i++) {
		assert_int_equal(chunk->mappings[i].id, i + 1);
		assert_int_equal(strlen(text(chunk->mappings[i].build_id)), 64);
	}
	for (size_t i = 0; i < chunk->function_count; i++) {
		assert_int_equal(chunk->functions[i].id, i + 1);
		assert_true(text(chunk->functions[i].name)[0] != '\0');
	}
	for (size_t i = 0; i < chunk->location_count; i++) {
		assert_int_equal(chunk->locations[i].id, i + 1);
		assert_in_range(chunk->locations[i].function, 1, chunk->function_count);
		assert_in_range(chunk->locations[i].mapping, 0, chunk->mapping_count);
	}
	for (size_t i = 0; i < chunk->sample_count; i++) {
		for (size_t k = 0; k < chunk->samples[i].location_count; k++)
			assert_in_range(chunk->samples[i].locations[k], 1, chunk->location_count);
		assert_string_equal(text(chunk->samples[i].thread_name), "worker");
	}
}

static void make(struct extract_wish wish)
{
	if (wish.memory == 0)
		wish.memory = MUCH;
	assert_int_equal(extract_make(profile, &wish, &extract), 0);
	check_ids();
}

/* Three seconds: of a, of b, of both. */
static void three_chunks(void)
{
	take(code + WORK + 0x18, 3, SECOND_NS + 5);
	stats[STAT_SIGNALS] = 3;
	profile_chunk(profile, UINT64_C(2) * SECOND_NS);
	take(other_code + WORK + 0x18, 4, UINT64_C(2) * SECOND_NS + 5);
	stats[STAT_SIGNALS] = 7;
	profile_chunk(profile, UINT64_C(3) * SECOND_NS);
	take(code + WORK + 0x18, 5, UINT64_C(3) * SECOND_NS + 5);
	take(other_code + MAIN + 9, 6, UINT64_C(3) * SECOND_NS + 6);
	profile_chunk(profile, UINT64_C(4) * SECOND_NS);
}

static void all_of_it(void **unused)
{
	(void)unused;
	three_chunks();
	make((struct extract_wish){ 0 });
	assert_int_equal(extract.samples, 18);
	assert_int_equal(extract.chunk.sample_count, 4);
	assert_true(extract.chunk.duration_ns == UINT64_C(3) * SECOND_NS);
	assert_int_equal(extract.chunk.samples[0].time_ns, 5);
	assert_true(extract.chunk.samples[3].time_ns == UINT64_C(2) * SECOND_NS + 6);
	assert_string_equal(text(STRING_WASM_MODULE), "wasm_module");
	assert_int_equal(extract.before.stats[STAT_SIGNALS], 0);
	assert_true(extract.next_chunk == profile_next_chunk(profile));
	extract_free(&extract);
}

static void the_last_second(void **unused)
{
	const struct chunk *chunk = &extract.chunk;
	uint64_t samples = 0;

	(void)unused;
	three_chunks();
	make((struct extract_wish){ .since_ns = UINT64_C(3) * SECOND_NS });
	assert_int_equal(extract.samples, 11);
	assert_true(extract.chunk.duration_ns == SECOND_NS);
	assert_int_equal(chunk->samples[0].time_ns, 5);
	assert_int_equal(chunk->group_count, 2);
	for (size_t i = 0; i < chunk->group_count; i++)
		samples += chunk->groups[i].samples;
	assert_int_equal(samples, 11);
	assert_int_equal(extract.before.stats[STAT_SIGNALS], 7);
	extract_free(&extract);
}

static void only_what_is_needed(void **unused)
{
	const struct chunk *chunk = &extract.chunk;

	(void)unused;
	take(other_code + WORK + 0x18, 4, SECOND_NS);
	profile_chunk(profile, UINT64_C(2) * SECOND_NS);
	take(code + WORK + 0x18, 1, UINT64_C(2) * SECOND_NS);
	profile_chunk(profile, UINT64_C(3) * SECOND_NS);
	make((struct extract_wish){ .first_chunk = 2, .is_lean = true });
	assert_int_equal(chunk->sample_count, 1);
	assert_int_equal(chunk->mapping_count, 1);
	assert_string_equal(text(chunk->mappings[0].filename), "a.wasm");
	assert_int_equal(chunk->group_count, 1);
	for (size_t i = 0; i < chunk->string_count; i++)
		assert_null(strstr(chunk->strings[i], "b.wasm"));
	extract_free(&extract);
	/* Past the last one: nothing, and no error. */
	make((struct extract_wish){ .first_chunk = 3 });
	assert_int_equal(chunk->sample_count, 0);
	assert_int_equal(chunk->duration_ns, 0);
	extract_free(&extract);
}

static void bounds(void **unused)
{
	(void)unused;
	three_chunks();
	/* Room for the last chunk alone. */
	make((struct extract_wish){ .memory = 2 * sizeof(struct chunk_sample) + 64 });
	assert_int_equal(extract.samples, 11);
	extract_free(&extract);
	/* Old rows go: as many chunks as fit are whole. */
	for (uint64_t i = 0; i < 3000; i++) {
		for (uintptr_t at = 0; at < 8; at++)
			take(code + WORK + at, 1, (5 + i) * SECOND_NS);
		profile_chunk(profile, (6 + i) * SECOND_NS);
	}
	assert_true(profile_kept_ns(profile) <= (uint64_t)HISTORY_CHUNKS * SECOND_NS);
	make((struct extract_wish){ .memory = 64 << 20 });
	assert_int_equal(extract.samples % 8, 0);
	assert_true(extract.samples >= 8 * 1000);
	extract_free(&extract);
	profile_forget_history(profile, UINT64_C(9999) * SECOND_NS);
	make((struct extract_wish){ 0 });
	assert_int_equal(extract.samples, 0);
	extract_free(&extract);
}

/* ---- lives and host calls -------------------------------------------------------------------- */

/* An instance of a.wasm that was there from CREATED_NS on, seen at TIME_NS. */
static void live(uint64_t created_ns, uint64_t time_ns)
{
	uint32_t id = fake_instance(1);
	struct sample *sample = GUEST_SAMPLE(code + WORK + 0x18, code + MAIN + 9);

	fake_instances.infos[id - 1].created_ns = created_ns;
	sample->instance = id;
	sample->time_ns = time_ns;
	profile_take(profile, sample, 42, "worker");
	free(sample);
}

static uint32_t host_function(void)
{
	return hostcalls_name("env", 3, "log", 3);
}

static void call(void)
{
	hostcalls_count(host_function(), 0, clock_ns(CLOCK_MONOTONIC));
}

/* Of three: one ends in the first second, one in the second, one stays. */
static void three_lives(void)
{
	for (int i = 0; i < 3; i++)
		live(SECOND_NS + 100 + i, SECOND_NS + 200);
	fake_instances.infos[0].ended_ns = SECOND_NS + 300;
	spans_add(host_function(), SECOND_NS + 400, 50);
	spans_add(host_function(), UINT64_C(2) * SECOND_NS - 20, 50);
	call();
	profile_chunk(profile, UINT64_C(2) * SECOND_NS);
	fake_instances.infos[1].ended_ns = UINT64_C(2) * SECOND_NS + 300;
	spans_add(host_function(), UINT64_C(2) * SECOND_NS + 400, 60);
	call();
	profile_chunk(profile, UINT64_C(3) * SECOND_NS);
}

static void tells_lives(void **unused)
{
	const struct chunk_life *lives;

	(void)unused;
	three_lives();
	make((struct extract_wish){ 0 });
	lives = extract.chunk.lives;
	assert_int_equal(extract.chunk.life_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(text(lives[i].module), "a.wasm");
		assert_int_equal(strncmp(text(lives[i].instance), "a.wasm#", 7), 0);
		assert_int_equal(lives[i].start_ns, 100 + i);
	}
	assert_int_equal(lives[0].end_ns, 300);
	assert_int_equal(lives[1].end_ns, SECOND_NS + 300);
	assert_int_equal(lives[2].end_ns, 0);
	extract_free(&extract);
	/* Of the last second: no samples, and who was there all the same. */
	make((struct extract_wish){ .since_ns = UINT64_C(2) * SECOND_NS });
	lives = extract.chunk.lives;
	assert_int_equal(extract.chunk.sample_count, 0);
	assert_int_equal(extract.chunk.life_count, 2);
	assert_int_equal(lives[0].start_ns, 0);
	assert_int_equal(lives[0].end_ns, 300);
	assert_int_equal(lives[1].end_ns, 0);
	extract_free(&extract);
	make((struct extract_wish){ .is_lean = true });
	assert_int_equal(extract.chunk.life_count, 0);
	assert_int_equal(extract.chunk.hostcall_count, 0);
	extract_free(&extract);
}

/* Calls and intervals are of the window. Those of call() are not in the time that is told here. */
static void tells_host_calls(void **unused)
{
	const struct chunk *chunk = &extract.chunk;

	(void)unused;
	three_lives();
	make((struct extract_wish){ 0 });
	assert_int_equal(chunk->interval_count, 3);
	assert_int_equal(extract.intervals_dropped, 2);
	assert_int_equal(chunk->hostcall_count, 1);
	assert_int_equal(chunk->hostcalls[0].count, 2);
	extract_free(&extract);
	make((struct extract_wish){ .since_ns = UINT64_C(2) * SECOND_NS });
	assert_int_equal(chunk->interval_count, 2);
	assert_string_equal(chunk->intervals[0].name, "env.log");
	assert_int_equal(chunk->intervals[0].start_ns, 0);
	assert_int_equal(chunk->intervals[0].duration_ns, 30);
	assert_int_equal(chunk->intervals[1].start_ns, 400);
	assert_int_equal(chunk->intervals[1].duration_ns, 60);
	assert_int_equal(chunk->hostcall_count, 1);
	assert_string_equal(text(chunk->hostcalls[0].name), "env.log");
	assert_string_equal(text(chunk->hostcalls[0].module), "(other)");
	assert_int_equal(chunk->hostcalls[0].count, 1);
	assert_int_equal(extract.before.stats[STAT_HOSTCALLS_UNTOLD], 0);
	extract_free(&extract);
	profile_forget_history(profile, UINT64_C(3) * SECOND_NS);
	profile_chunk(profile, UINT64_C(4) * SECOND_NS);
	make((struct extract_wish){ 0 });
	assert_int_equal(chunk->interval_count, 0);
	assert_int_equal(chunk->life_count, 1);
	extract_free(&extract);
}

/* What is called in a recording that is over is in the window still. */
static void calls_of_two_recordings(void **unused)
{
	const struct chunk *chunk = &extract.chunk;

	(void)unused;
	call();
	profile_chunk(profile, UINT64_C(2) * SECOND_NS);
	profile_restart(profile, UINT64_C(2) * SECOND_NS);
	call();
	call();
	profile_chunk(profile, UINT64_C(3) * SECOND_NS);
	make((struct extract_wish){ 0 });
	assert_int_equal(chunk->hostcall_count, 1);
	assert_int_equal(chunk->hostcalls[0].count, 3);
	assert_true(chunk->hostcalls[0].total_ns >= chunk->hostcalls[0].longest_ns);
	assert_int_equal(extract.intervals_dropped, 3);
	extract_free(&extract);
}

/* More functions than are kept for so long: the oldest calls are counted, and not told. */
static void too_many_calls(void **unused)
{
	enum { FUNCTIONS = 20, CALLS = FUNCTIONS * (HISTORY_CHUNKS - 1) };
	const struct chunk *chunk = &extract.chunk;
	uint64_t told = 0;
	char name[8];

	(void)unused;
	for (uint64_t i = 0; i < HISTORY_CHUNKS + 5; i++) {
		for (int k = 0; k < FUNCTIONS; k++) {
			int size = snprintf(name, sizeof(name), "f%d", k);

			hostcalls_count(hostcalls_name("env", 3, name, (size_t)size), 0, 0);
		}
		profile_chunk(profile, (2 + i) * SECOND_NS);
	}
	make((struct extract_wish){ 0 });
	assert_int_equal(chunk->hostcall_count, FUNCTIONS);
	for (size_t i = 0; i < chunk->hostcall_count; i++)
		told += chunk->hostcalls[i].count;
	assert_true(told == BYGONE_CALLS);
	assert_true(told - extract.before.stats[STAT_HOSTCALLS_UNTOLD] >= CALLS);
	assert_true(told - extract.before.stats[STAT_HOSTCALLS_UNTOLD] <= CALLS + FUNCTIONS);
	extract_free(&extract);
}

/* The newest ones stay. */
static void bounds_what_is_bygone(void **unused)
{
	struct chunk_interval interval = { .name = (char *)"x" };
	struct chunk_life life = { .module = 1, .instance = 2 };
	struct chunk chunk = { .intervals = &interval, .interval_count = 1, .lives = &life };
	struct bygone bygone = { 0 };
	uint64_t first;

	(void)unused;
	chunk.life_count = 1;
	bygone_add(&bygone, &chunk, 5); /* it lives: not bygone */
	assert_true(bygone.life_count == 0);
	for (uint64_t i = 1; i <= BYGONE_INTERVALS + 7; i++) {
		interval.start_ns = life.end_ns = i;
		bygone_add(&bygone, &chunk, 5);
	}
	first = bygone_first(bygone.life_count, BYGONE_LIVES);
	assert_true(bygone.life_count - first == BYGONE_LIVES);
	assert_true(bygone.lives[first % BYGONE_LIVES].end_ns == first + 1 + 5);
	first = bygone_first(bygone.interval_count, BYGONE_INTERVALS);
	assert_true(bygone.interval_count - first == BYGONE_INTERVALS);
	assert_true(bygone.intervals[first % BYGONE_INTERVALS].start_ns == first + 5);
	bygone_fini(&bygone);
}

static void memory_fails(void **unused)
{
	struct extract_wish wish = { .memory = MUCH };
	int error = -ENOMEM;

	(void)unused;
	live(SECOND_NS, SECOND_NS + 5);
	call();
	three_chunks();
	for (long nth = 1; error != 0; nth++) {
		assert_true(nth < 100);
		failing_start(nth);
		error = extract_make(profile, &wish, &extract);
		assert_true(failing_stop() == (error != 0));
		assert_true(error == 0 || error == -ENOMEM);
	}
	check_ids();
	assert_int_equal(extract.chunk.life_count, 1);
	assert_int_equal(extract.chunk.hostcall_count, 1);
	extract_free(&extract);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_of_it, start, end),
		cmocka_unit_test_setup_teardown(the_last_second, start, end),
		cmocka_unit_test_setup_teardown(only_what_is_needed, start, end),
		cmocka_unit_test_setup_teardown(bounds, start, end),
		cmocka_unit_test_setup_teardown(tells_lives, start, end),
		cmocka_unit_test_setup_teardown(tells_host_calls, start, end),
		cmocka_unit_test_setup_teardown(calls_of_two_recordings, start, end),
		cmocka_unit_test_setup_teardown(too_many_calls, start, end),
		cmocka_unit_test(bounds_what_is_bygone),
		cmocka_unit_test_setup_teardown(memory_fails, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
