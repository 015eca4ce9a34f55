/* SPDX-License-Identifier: MIT */
/* waits_test.c - looks at waits and parked calls in, rows of wall time out, apart from CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "preload/base/stats.h"
#include "preload/profile/profile.h"
#include "preload/profile/waits.h"
#include "tests/unit/profile/fakes.h"

enum { PERIOD_NS = 10000000 };

static struct config config;
static struct profile *profile;
static uintptr_t code;
static const char *texts[1000];
static const struct chunk_location *locations[1000];
static const struct chunk_function *functions[1000];

static int start(void **unused)
{
	const struct profile_options options = {
		.config = &config,
		.start_ns = 500,
		.period_ns = PERIOD_NS,
	};

	forget_fakes(unused);
	config = (struct config){ .memory = 64 << 20, .stacks = STACKS_HOSTCALLS, .wall = true };
	for (size_t i = 0; i < STAT_COUNT; i++)
		stats[i] = 0;
	code = fake_module("a.wasm", "aaaaaaaa");
	profile = profile_new(&options);
	return profile == NULL ? -1 : 0;
}

static int end(void **unused)
{
	(void)unused;
	profile_free(profile);
	return 0;
}

/* A host sample whose exit record says that main called work, which called the host. */
static struct sample *wait_sample(void)
{
	const uint64_t pcs[] = { code + WORK + 9, code + MAIN + 9, code + ENTRY + 9 };

	fake_call(pcs[0], "\xff\xd0", 2); /* call rax: a function of the host's */
	return make_sample(SAMPLE_HOST, SAMPLE_EXIT_RECORD, pcs, ARRAY_SIZE(pcs), NULL, 0);
}

static void take(struct sample *sample, uint32_t slot, const char *what, int descriptor,
		 uint64_t wall_ns)
{
	const struct waits_look look = {
		.slot = slot,
		.tid = 42 + slot,
		.thread_name = "worker",
		.what = what,
		.descriptor = descriptor,
		.time_ns = 1500,
		.wall_ns = wall_ns,
	};

	waits_take(profile, sample, &look);
	free(sample);
}

static const struct chunk *next_chunk(void)
{
	const struct chunk *chunk = profile_chunk(profile, 2500);

	for (size_t i = 0; i < chunk->string_count; i++)
		texts[chunk->first_string + i] = chunk->strings[i];
	for (size_t i = 0; i < chunk->location_count; i++)
		locations[chunk->locations[i].id] = &chunk->locations[i];
	for (size_t i = 0; i < chunk->function_count; i++)
		functions[chunk->functions[i].id] = &chunk->functions[i];
	return chunk;
}

/* "LEAF CALLER ..." by names. */
static const char *stack_of(const struct chunk_sample *sample)
{
	static char text[1000];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sample->location_count; i++) {
		const struct chunk_location *location = locations[sample->locations[i]];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "",
					 texts[functions[location->function]->name]);
	}
	return text;
}

static void a_wait_is_wall_time_only(void **unused)
{
	const struct chunk *chunk;
	const struct chunk_sample *sample;

	(void)unused;
	take(wait_sample(), 3, "[read]", 7, 1000);
	chunk = next_chunk();
	assert_true(chunk->has_wall);
	assert_int_equal(chunk->sample_count, 1);
	sample = &chunk->samples[0];
	assert_string_equal(stack_of(sample), "[read] (host) work main");
	assert_string_equal(texts[sample->state], "waiting");
	assert_string_equal(texts[sample->module], "a.wasm");
	assert_string_equal(texts[sample->thread_name], "worker");
	assert_int_equal(sample->thread_id, 45);
	assert_int_equal(sample->time_ns, 1000);
	assert_int_equal(sample->wall_ns, 1000);
	assert_int_equal(sample->count, 0);
	assert_int_equal(sample->cpu_ns, 0);
	assert_true(sample->has_descriptor);
	assert_int_equal(sample->descriptor, 7);
	assert_int_equal(chunk->groups[chunk->group_count - 1].wall_ns, 1000);
	assert_int_equal(chunk->groups[chunk->group_count - 1].samples, 0);
	assert_int_equal(chunk->groups[chunk->group_count - 1].samples_by_state[STATE_WAITING], 1);
	assert_int_equal(profile_totals(profile).samples, 0);
	assert_int_equal(stat_get(STAT_WAITS), 1);
}

static void the_same_wait_again(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	take(wait_sample(), 3, "[futex]", -1, 1000);
	take(NULL, 3, NULL, -1, 500);
	take(NULL, 3, NULL, -1, 250);
	/* Another thread's, and one that nothing is known of. */
	take(wait_sample(), 100, "[futex]", -1, 20);
	take(NULL, 4, NULL, -1, 7);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 2);
	assert_int_equal(chunk->samples[0].wall_ns, 1750);
	assert_false(chunk->samples[0].has_descriptor);
	assert_int_equal(chunk->samples[1].wall_ns, 20);
	assert_string_equal(stack_of(&chunk->samples[1]), "[futex] (host) work main");
	/* It goes on in the next chunk, and in another file. */
	take(NULL, 3, NULL, -1, 300);
	assert_int_equal(next_chunk()->samples[0].wall_ns, 300);
	profile_restart(profile, 1000);
	take(NULL, 3, NULL, -1, 400);
	chunk = next_chunk();
	assert_int_equal(chunk->samples[0].wall_ns, 400);
	assert_int_equal(chunk->groups[chunk->group_count - 1].wall_ns, 400);
	assert_string_equal(stack_of(&chunk->samples[0]), "[futex] (host) work main");
}

static void waits_and_samples_are_different_rows(void **unused)
{
	struct sample *running = wait_sample();
	const struct chunk *chunk;
	uint64_t wall_ns = 0, count = 0;

	(void)unused;
	profile_take(profile, running, 45, "worker");
	free(running);
	take(wait_sample(), 3, "[read]", 7, 1000);
	take(wait_sample(), 3, "[read]", 8, 1000);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct chunk_sample *sample = &chunk->samples[i];

		assert_true((sample->wall_ns == 0) != (sample->count == 0));
		wall_ns += sample->wall_ns;
		count += sample->count;
	}
	assert_int_equal(wall_ns, 2000);
	assert_int_equal(count, 1);
	assert_int_equal(chunk->groups[chunk->group_count - 1].samples, 1);
}

static void stacks_without_the_host(void **unused)
{
	const struct chunk *chunk;

	(void)unused;
	config.stacks = STACKS_GUEST;
	take(wait_sample(), 3, "[read]", 7, 1000);
	chunk = next_chunk();
	assert_string_equal(stack_of(&chunk->samples[0]), "work main");
	assert_string_equal(texts[chunk->samples[0].state], "waiting");
}

static void what_is_not_listed_does_not_count(void **unused)
{
	struct sample *nothing = make_sample(SAMPLE_HOST, 0, NULL, 0, WORDS(1, 2), 2);

	(void)unused;
	take(wait_sample(), 3, "[read]", 7, 1000);
	next_chunk();
	/* Now it waits where no guest is to be found: the place of before does not count either. */
	take(nothing, 3, "[read]", 7, 1000);
	take(NULL, 3, NULL, -1, 1000);
	assert_int_equal(stat_get(STAT_NO_GUEST_FOUND), 1);
	assert_int_equal(stat_get(STAT_WAITS), 1);
	assert_int_equal(next_chunk()->sample_count, 0);
	/* A slot that no host has threads for. */
	take(wait_sample(), WAITS_SLOTS_MAX, "[read]", 7, 1000);
	assert_int_equal(stat_get(STAT_LOST_MEMORY), 1);
}

static void a_parked_call(void **unused)
{
	uint32_t instance = fake_instance(1);
	const struct chunk *chunk;

	(void)unused;
	/* Its module was in no sample yet. */
	waits_take_parked(profile, instance, 1500, 3000);
	waits_take_parked(profile, instance, 1600, 2000);
	waits_take_parked(profile, 99, 1600, 2000);
	chunk = next_chunk();
	assert_int_equal(chunk->sample_count, 1);
	assert_string_equal(stack_of(&chunk->samples[0]), "(parked)");
	assert_string_equal(texts[chunk->samples[0].module], "a.wasm");
	assert_string_equal(texts[chunk->samples[0].state], "waiting");
	assert_int_equal(chunk->samples[0].wall_ns, 5000);
	assert_int_equal(chunk->samples[0].thread_id, 0);
	assert_int_equal(stat_get(STAT_UNLISTED), 1);
	assert_int_equal(stat_get(STAT_WAITS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_wait_is_wall_time_only, start, end),
		cmocka_unit_test_setup_teardown(the_same_wait_again, start, end),
		cmocka_unit_test_setup_teardown(waits_and_samples_are_different_rows, start, end),
		cmocka_unit_test_setup_teardown(stacks_without_the_host, start, end),
		cmocka_unit_test_setup_teardown(what_is_not_listed_does_not_count, start, end),
		cmocka_unit_test_setup_teardown(a_parked_call, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
