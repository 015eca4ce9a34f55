/* SPDX-License-Identifier: MIT */
/* pprof_test.c - recordings written whole, and profiles for other tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/pprof.h"
#include "preload/read/merge.h"
#include "tests/unit/encode/small.h"

/* RECORDING written (OPTIONS NULL: as a recording) and read again. */
static struct recording *write_and_read(const struct recording *recording,
					const struct pprof_options *options)
{
	char *path = write_bytes(NULL, "", 0);
	struct output *output = output_open(path, false);
	struct recording *again;

	assert_non_null(output);
	assert_int_equal(options == NULL ? pprof_write_recording(recording, output)
					 : pprof_write(recording, options, output),
			 0);
	assert_int_equal(output_close(output, true), 0);
	again = small_read_file(path);
	unlink(path);
	free(path);
	return again;
}

static void expect_same_sample(const struct recording_sample *a, const struct recording_sample *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->cpu_ns, b->cpu_ns);
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_string_equal(a->module, b->module);
	assert_string_equal(a->instance, b->instance);
	assert_string_equal(a->thread_name, b->thread_name);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->thread_id, b->thread_id);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->process, b->process);
	assert_int_equal(a->is_truncated, b->is_truncated);
	assert_int_equal(a->descriptor, b->descriptor);
	assert_int_equal(a->location_count, b->location_count);
	for (size_t i = 0; i < a->location_count; i++) {
		const struct recording_location *left = a->locations[i], *right = b->locations[i];

		assert_int_equal(left->kind, right->kind);
		assert_int_equal(left->address, right->address);
		assert_int_equal(left->line_count, right->line_count);
		for (size_t l = 0; l < left->line_count; l++) {
			assert_string_equal(left->lines[l].function->name,
					    right->lines[l].function->name);
			assert_int_equal(left->lines[l].function->wasm_index,
					 right->lines[l].function->wasm_index);
			assert_int_equal(left->lines[l].line, right->lines[l].line);
			assert_int_equal(left->lines[l].column, right->lines[l].column);
		}
	}
}

static void expect_same(const struct recording *a, const struct recording *b)
{
	assert_int_equal(a->sample_count, b->sample_count);
	for (size_t i = 0; i < a->sample_count; i++)
		expect_same_sample(&a->samples[i], &b->samples[i]);
	assert_int_equal(a->process_count, b->process_count);
	for (size_t i = 0; i < a->process_count; i++) {
		assert_int_equal(a->processes[i].pid, b->processes[i].pid);
		assert_int_equal(a->processes[i].time_unix_ns, b->processes[i].time_unix_ns);
		assert_int_equal(a->processes[i].duration_ns, b->processes[i].duration_ns);
		assert_string_equal(a->processes[i].program, b->processes[i].program);
	}
	assert_int_equal(a->group_count, b->group_count);
	for (size_t i = 0; i < a->group_count; i++) {
		assert_string_equal(a->groups[i].module, b->groups[i].module);
		assert_string_equal(a->groups[i].identity, b->groups[i].identity);
		assert_int_equal(a->groups[i].samples, b->groups[i].samples);
		assert_int_equal(a->groups[i].wall_ns, b->groups[i].wall_ns);
		assert_memory_equal(a->groups[i].samples_by_state, b->groups[i].samples_by_state,
				    sizeof(a->groups[i].samples_by_state));
	}
	for (size_t i = 0; i < a->stat_count; i++)
		assert_int_equal(recording_stat(b, a->stats[i].name), a->stats[i].value);
	assert_int_equal(a->requested_hz, b->requested_hz);
	assert_int_equal(a->own_cpu_ns, b->own_cpu_ns);
	assert_string_equal(a->stacks, b->stacks);
	assert_string_equal(a->filter, b->filter);
}

static void a_recording_reads_back(void **state)
{
	struct recording *list[] = { small_read(), small_read_other(11, 5) };
	struct recording *merged = recording_merge(list, 2), *again;

	(void)state;
	again = write_and_read(list[0], NULL);
	expect_same(list[0], again);
	recording_free(again);
	again = write_and_read(merged, NULL);
	expect_same(merged, again);
	recording_free(again);
	recording_free(merged);
	recording_free(list[0]);
	recording_free(list[1]);
}

static void other_tools_get_few_labels(void **state)
{
	struct recording *small = small_read();
	struct recording *again = write_and_read(small, &(struct pprof_options){ 0 });

	(void)state;
	assert_false(again->is_ours);
	assert_int_equal(small_count(again), small_count(small));
	for (size_t i = 0; i < again->sample_count; i++) {
		assert_string_equal(again->samples[i].instance, "");
		assert_string_equal(again->samples[i].thread_name, "");
		assert_int_equal(again->samples[i].thread_id, 0);
		assert_int_equal(again->samples[i].time_ns, 0);
		assert_true(again->samples[i].module[0] != '\0');
		assert_int_equal(again->samples[i].label_count, 0);
	}
	/* Ids are 1..n: the reader would have sorted them. */
	for (size_t i = 0; i < again->location_count; i++)
		assert_int_equal(again->locations[i].id, i + 1);
	recording_free(again);
	again = write_and_read(small, &(struct pprof_options){ .by_instance = true });
	assert_string_equal(again->samples[0].instance, "app.wasm#1");
	recording_free(again);
	recording_free(small);
}

/* The number of different wasm_module. */
static size_t count_modules(const struct recording *recording)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->sample_count; i++) {
		bool is_new = true;

		for (size_t k = 0; is_new && k < i; k++)
			is_new = strcmp(recording->samples[k].module,
					recording->samples[i].module) != 0;
		count += is_new;
	}
	return count;
}

static void few_series_of_many_modules(void **state)
{
	enum { MODULES = 120, THREADS = 8 };
	static char names[MODULES][24];
	struct built *built = calloc(1, sizeof(*built));
	uint64_t function, location, other = 0;
	struct recording *many, *again;

	(void)state;
	built_begin(built);
	function = built_function(built, "run", "");
	location = built_location(built, 0, 1, FRAME_GUEST, (uint64_t[]){ function, 0 });
	for (uint64_t i = 0; i < MODULES * THREADS; i++) {
		snprintf(names[i % MODULES], sizeof(names[0]), "module%d", (int)(i % MODULES));
		built_add_sample(built, &(struct built_sample){ .module = names[i % MODULES],
								.state = "guest",
								.locations = { location },
								.count = 1 + i % MODULES,
								.cpu_ns = 10 * (1 + i % MODULES),
								.thread_id = i / MODULES + 1,
								.time_ns = i });
	}
	many = small_read_built(built);
	again = write_and_read(many, &(struct pprof_options){ 0 });
	assert_int_equal(again->sample_count, 51);
	assert_int_equal(count_modules(again), 51);
	assert_int_equal(small_count(again), small_count(many));
	/* the lightest are the others */
	for (size_t i = 0; i < again->sample_count; i++) {
		if (strcmp(again->samples[i].module, "(other)") == 0)
			other = again->samples[i].count;
	}
	assert_int_equal(other, THREADS * 70 * 71 / 2);
	recording_free(again);
	again = write_and_read(many, &(struct pprof_options){ .group_max = 200 });
	assert_int_equal(count_modules(again), MODULES);
	recording_free(again);
	recording_free(many);
	built_free(built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_reads_back),
		cmocka_unit_test(other_tools_get_few_labels),
		cmocka_unit_test(few_series_of_many_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
