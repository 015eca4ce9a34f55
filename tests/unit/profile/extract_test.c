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

#include "preload/base/stats.h"
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
	};

	forget_fakes(unused);
	config = (struct config){ .memory = 64 << 20, .stacks = STACKS_HOSTCALLS };
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

static void memory_fails(void **unused)
{
	struct extract_wish wish = { .memory = MUCH };
	int error = -ENOMEM;

	(void)unused;
	three_chunks();
	for (long nth = 1; error != 0; nth++) {
		assert_true(nth < 100);
		failing_start(nth);
		error = extract_make(profile, &wish, &extract);
		assert_true(failing_stop() == (error != 0));
		assert_true(error == 0 || error == -ENOMEM);
	}
	check_ids();
	extract_free(&extract);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_of_it, start, end),
		cmocka_unit_test_setup_teardown(the_last_second, start, end),
		cmocka_unit_test_setup_teardown(only_what_is_needed, start, end),
		cmocka_unit_test_setup_teardown(bounds, start, end),
		cmocka_unit_test_setup_teardown(memory_fails, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
