/* SPDX-License-Identifier: MIT */
/* merge_test.c - several recordings as one: what becomes one, and what stays apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/merge.h"
#include "preload/read/totals.h"
#include "tests/unit/encode/small.h"

#define SECOND ((uint64_t)1000000000)

/* Frees both. */
static struct recording *merge_two(struct recording *first, struct recording *second)
{
	struct recording *list[] = { first, second };
	struct recording *merged = recording_merge(list, 2);

	assert_non_null(merged);
	recording_free(first);
	if (second != first)
		recording_free(second);
	return merged;
}

static struct totals *sum_up(const struct recording *recording)
{
	struct totals *totals = totals_new();

	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	return totals;
}

static void one_stays_what_it_is(void **state)
{
	struct recording *small = small_read(), *merged = recording_merge(&small, 1);

	(void)state;
	assert_non_null(merged);
	assert_int_equal(merged->pid, 4242);
	assert_string_equal(merged->path, small->path);
	assert_int_equal(merged->sample_count, small->sample_count);
	assert_int_equal(merged->mapping_count, small->mapping_count);
	assert_int_equal(merged->location_count, small->location_count);
	assert_int_equal(merged->function_count, small->function_count);
	assert_int_equal(merged->group_count, small->group_count);
	assert_int_equal(merged->duration_ns, small->duration_ns);
	assert_int_equal(merged->requested_hz, 100);
	assert_string_equal(merged->clock_why, "perf_event: EPERM");
	assert_string_equal(merged->engines[0], "wasmtime 50");
	assert_string_equal(merged->samples[0].module, "app.wasm");
	recording_free(small);
	recording_free(merged);
}

static void the_same_twice_is_double(void **state)
{
	struct recording *small = small_read();
	uint64_t count = small_count(small);
	struct recording *merged = merge_two(small, small);

	(void)state;
	assert_int_equal(small_count(merged), 2 * count);
	assert_int_equal(merged->process_count, 1);
	assert_int_equal(merged->pid, 4242);
	assert_int_equal(merged->group_count, 2);
	assert_int_equal(merged->groups[0].samples, 340);
	assert_int_equal(merged->groups[0].samples_by_state[STATE_BUILTIN], 80);
	assert_int_equal(recording_stat(merged, "signals"), 396);
	assert_int_equal(recording_stat(merged, "lost_ring_full"), 10);
	assert_int_equal(merged->process_cpu_ns, 4 * SECOND);
	assert_int_equal(merged->duration_ns, 2 * SECOND);
	/* no table grows */
	assert_int_equal(merged->mapping_count, 2 + 1);
	assert_int_equal(merged->function_count, 6);
	recording_free(merged);
}

/* A place that was guessed in one, and found in the other, is two. */
static void guesses_stay_guesses(void **state)
{
	struct recording *guessed = small_read(), *merged;
	const struct recording_location *leaf = guessed->samples[0].locations[0];
	size_t places = guessed->location_count, guesses = 0;

	(void)state;
	guessed->locations[leaf - guessed->locations].is_guess = true;
	merged = merge_two(guessed, small_read());
	assert_int_equal(merged->location_count, places + 1);
	for (size_t i = 0; i < merged->location_count; i++)
		guesses += merged->locations[i].is_guess;
	assert_int_equal(guesses, 1);
	recording_free(merged);
}

static void processes_stay_apart(void **state)
{
	struct recording *merged = merge_two(small_read(), small_read_other(11, 3 * SECOND));
	struct totals *totals = sum_up(merged);
	uint64_t pids = 0;

	(void)state;
	assert_int_equal(merged->process_count, 2);
	assert_int_equal(merged->pid, 0);
	assert_string_equal(merged->program, "python3");
	assert_string_equal(merged->stacks, "hostcalls");
	/* The group is one, its named instances are those of each process. */
	assert_int_equal(totals->group_count, 2);
	assert_int_equal(totals->groups[totals->group_order[0]].weight.samples, 340);
	assert_int_equal(totals->instance_count, 6);
	for (uint32_t i = 0; i < totals->instance_count; i++)
		pids += totals->instances[i].pid;
	assert_int_equal(pids, 3 * 4242 + 3 * 11);
	assert_int_equal(totals->duration_ns, 4 * SECOND);
	assert_int_equal(merged->duration_ns, 5 * SECOND);
	totals_free(totals);
	recording_free(merged);
}

static void times_count_from_the_first(void **state)
{
	struct recording *merged = merge_two(small_read_other(11, 3 * SECOND), small_read());

	(void)state;
	assert_int_equal(merged->samples[0].time_ns, 5000000);
	for (size_t i = 1; i < merged->sample_count; i++)
		assert_true(merged->samples[i - 1].time_ns <= merged->samples[i].time_ns);
	assert_int_equal(merged->samples[merged->sample_count - 1].time_ns,
			 1990000000 + 3 * SECOND);
	assert_int_equal(recording_process(merged, &merged->samples[merged->sample_count - 1])->pid,
			 11);
	recording_free(merged);
}

static void a_wrong_clock_moves_nothing(void **state)
{
	struct recording *early = small_read_other(11, 0), *merged;

	(void)state;
	early->time_unix_ns = early->processes[0].time_unix_ns = 1;
	merged = merge_two(early, small_read());
	assert_true(merged->duration_ns == 2 * SECOND);
	assert_true(merged->samples[merged->sample_count - 1].time_ns < 3 * SECOND);
	recording_free(merged);
}

static void rates_are_weighted_by_time(void **state)
{
	struct recording *fast = small_read_other(11, 0), *merged;

	(void)state;
	fast->processes[0].requested_hz = 1000;
	fast->processes[0].period_ns = 1000000;
	fast->processes[0].duration_ns = 6 * SECOND;
	merged = merge_two(small_read(), fast);
	assert_int_equal(merged->requested_hz, (100 * 2 + 1000 * 6) / 8);
	assert_int_equal(merged->period_ns, (10000000 * 2 + 1000000 * 6) / 8);
	recording_free(merged);
}

/* Files of a rotation: the same process goes on, and counts from where it began. */
static struct recording *rotated(uint64_t later_ns, uint64_t created, bool has_ended)
{
	struct recording *recording = small_read_other(4242, later_ns);

	recording->processes[0].began_unix_ns = 1764525600000000000;
	recording->processes[0].has_ended = recording->has_ended = has_ended;
	recording->groups[0].instances_created = created;
	return recording;
}

static void files_of_a_rotation_are_one_process(void **state)
{
	/* named as `r.10.pb`, `r.8.pb`, `r.9.pb`: the last comes first; a gap of a second */
	struct recording *list[] = { rotated(5 * SECOND, 5, false), rotated(0, 3, true),
				     rotated(2 * SECOND, 4, true) };
	struct recording *merged = recording_merge(list, 3);
	const struct recording_process *process;

	(void)state;
	assert_non_null(merged);
	for (size_t i = 0; i < 3; i++)
		recording_free(list[i]);
	process = &merged->processes[0];
	assert_int_equal(merged->process_count, 1);
	assert_int_equal(merged->pid, 4242);
	assert_int_equal(process->time_unix_ns, merged->time_unix_ns);
	assert_int_equal(process->duration_ns, 6 * SECOND);
	assert_int_equal(merged->duration_ns, 7 * SECOND);
	assert_int_equal(process->process_cpu_ns, 6 * SECOND);
	assert_int_equal(process->requested_hz, 100);
	assert_string_equal(process->clock, "cpu timer");
	assert_string_equal(process->stacks, "hostcalls");
	assert_int_equal(process->engine_count, 1);
	assert_false(process->has_ended);
	assert_int_equal(merged->groups[0].instances_created, 5);
	assert_int_equal(merged->groups[0].instances_sampled, 5);
	assert_int_equal(merged->groups[0].samples, 3 * 170);
	for (size_t i = 0; i < merged->sample_count; i++)
		assert_int_equal(merged->samples[i].process, 0);
	recording_free(merged);
}

static void another_process_of_the_number_is_another(void **state)
{
	struct recording *later = rotated(5 * SECOND, 5, true), *merged;

	(void)state;
	later->processes[0].began_unix_ns += 5 * SECOND;
	merged = merge_two(rotated(0, 3, true), later);
	assert_int_equal(merged->process_count, 2);
	assert_int_equal(merged->groups[0].instances_created, 8);
	recording_free(merged);
}

static void lives_go_on_in_the_next_file(void **state)
{
	struct recording *first = rotated(0, 3, true), *second = rotated(2 * SECOND, 3, true);
	struct recording_life began = { .module = "app.wasm",
					.instance = "app.wasm#1",
					.start_ns = 7 };
	struct recording_life ended = began, *life;
	struct recording *merged;

	(void)state;
	ended.start_ns = 0;
	ended.end_ns = SECOND;
	ended.has_ended = true;
	first->lives = &began;
	second->lives = &ended;
	first->life_count = second->life_count = 1;
	merged = merge_two(second, first);
	life = merged->lives;
	assert_int_equal(merged->life_count, 1);
	assert_int_equal(life->start_ns, 7);
	assert_int_equal(life->end_ns, 3 * SECOND);
	assert_true(life->has_ended);
	recording_free(merged);
}

/* A module, a function and a group of one name, with IDENTITY and a label tenant=TENANT. */
static struct recording *build_plugin(const char *identity, const char *tenant, uint64_t pid)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t mapping, function, location;
	static const uint64_t states[STATE_COUNT] = { 7, 0, 0, 0 };
	struct recording_label *label;
	struct recording *recording;

	built_begin(built);
	built_info(built, true);
	mapping = built_mapping(built, "plugin", identity);
	function = built_function(built, "run", "");
	location = built_location(built, mapping, 12, FRAME_GUEST, (uint64_t[]){ function, 0 });
	built_add_sample(built, &(struct built_sample){ .module = "plugin",
							.instance = "plugin#1",
							.state = "guest",
							.locations = { location },
							.count = 7,
							.cpu_ns = 7 });
	built_group(built, "plugin", identity, 1, 7, 7, states);
	recording = small_read_built(built);
	built_free(built);
	recording->pid = recording->processes[0].pid = pid;
	label = (struct recording_label *)recording->groups[0].labels;
	if (tenant != NULL) {
		*label = (struct recording_label){ "tenant", tenant };
		recording->groups[0].label_count = 1;
	}
	return recording;
}

static void names_of_two_modules_are_told_apart(void **state)
{
	struct recording *merged = merge_two(build_plugin(SMALL_IDENTITY, NULL, 1),
					     build_plugin(EVIL_IDENTITY, NULL, 2));

	(void)state;
	assert_int_equal(merged->mapping_count, 2);
	assert_string_equal(merged->mappings[0].name, "plugin");
	assert_string_equal(merged->mappings[1].name, "plugin@e51100");
	assert_int_equal(merged->group_count, 2);
	assert_string_equal(merged->groups[1].module, "plugin@e51100");
	assert_string_equal(merged->groups[1].identity, EVIL_IDENTITY);
	assert_string_equal(merged->samples[1].module, "plugin@e51100");
	assert_string_equal(merged->samples[1].instance, "plugin@e51100#1");
	assert_int_equal(merged->function_count, 2);
	recording_free(merged);
}

static void names_of_two_tenants_are_told_apart(void **state)
{
	struct recording *merged = merge_two(build_plugin(SMALL_IDENTITY, "acme", 1),
					     build_plugin(SMALL_IDENTITY, "globex", 2));

	(void)state;
	assert_int_equal(merged->mapping_count, 1);
	assert_int_equal(merged->location_count, 1);
	assert_int_equal(merged->group_count, 2);
	assert_string_equal(merged->groups[0].module, "plugin");
	assert_string_equal(merged->groups[0].labels[0].value, "acme");
	/* the hash comes first, as in a recording */
	assert_string_equal(merged->groups[1].module, "plugin@3f9a2c");
	assert_string_equal(merged->groups[1].labels[0].value, "globex");
	assert_string_equal(merged->samples[1].module, "plugin@3f9a2c");
	recording_free(merged);
	merged = merge_two(build_plugin(SMALL_IDENTITY, "acme", 1),
			   build_plugin(SMALL_IDENTITY, "acme", 2));
	assert_int_equal(merged->group_count, 1);
	assert_int_equal(merged->groups[0].samples, 14);
	recording_free(merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stays_what_it_is),
		cmocka_unit_test(the_same_twice_is_double),
		cmocka_unit_test(guesses_stay_guesses),
		cmocka_unit_test(processes_stay_apart),
		cmocka_unit_test(times_count_from_the_first),
		cmocka_unit_test(a_wrong_clock_moves_nothing),
		cmocka_unit_test(rates_are_weighted_by_time),
		cmocka_unit_test(files_of_a_rotation_are_one_process),
		cmocka_unit_test(another_process_of_the_number_is_another),
		cmocka_unit_test(lives_go_on_in_the_next_file),
		cmocka_unit_test(names_of_two_modules_are_told_apart),
		cmocka_unit_test(names_of_two_tenants_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
