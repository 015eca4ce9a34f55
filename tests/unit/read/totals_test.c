/* SPDX-License-Identifier: MIT */
/* totals_test.c - sums by group, instance and function, of one recording and of several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/read/totals.h"
#include "tests/unit/encode/recordings.h"
#include "tests/unit/encode/waiting.h"

static struct recording *read_small(void)
{
	struct built *built = calloc(1, sizeof(*built));
	char *why = NULL, *name;
	struct recording *recording;

	build_small(built);
	name = write_bytes(NULL, built->out.bytes, built->out.size);
	recording = recording_read(name, &why);
	assert_non_null(recording);
	unlink(name);
	free(name);
	built_free(built);
	return recording;
}

static const struct totals_function *function_named(const struct totals *totals, const char *name)
{
	for (uint32_t i = 0; i < totals->function_count; i++) {
		if (strcmp(totals->functions[i].name, name) == 0)
			return &totals->functions[i];
	}
	return NULL;
}

static void sums_one_recording(void **state)
{
	struct recording *recording = read_small();
	struct totals *totals = totals_new();
	const struct totals_row *app, *heaviest;

	(void)state;
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	assert_int_equal(totals->group_count, 2);
	app = &totals->groups[totals->group_order[0]];
	assert_string_equal(app->module, "app.wasm");
	assert_string_equal(app->identity, SMALL_IDENTITY);
	assert_int_equal(app->weight.samples, 170);
	assert_int_equal(app->weight.cpu_ns, 1600000000);
	assert_int_equal(app->instances_created, 3);
	assert_int_equal(app->samples_by_state[STATE_BUILTIN], 40);
	assert_string_equal(totals->functions[app->hottest].name,
			    "wasi_snapshot_preview1.fd_write");
	/* #1, #2 and the hostile one: `app.wasm#*` is nobody. */
	assert_int_equal(totals->instance_count, 3);
	heaviest = &totals->instances[totals->instance_order[0]];
	assert_int_equal(heaviest->weight.samples, 70);
	assert_string_equal(heaviest->instance, "app.wasm#2");
	assert_int_equal(totals->lost, 6);
	assert_int_equal(totals->duration_ns, 2000000000);
	totals_free(totals);
	recording_free(recording);
}

static void counts_a_function_once_a_sample(void **state)
{
	struct recording *recording = read_small();
	struct totals *totals = totals_new();
	const struct totals_function *start, *kernel, *helper;

	(void)state;
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	start = function_named(totals, "_start");
	kernel = function_named(totals, "math::kernel<[u8; 32]>");
	helper = function_named(totals, "math::helper");
	assert_int_equal(start->total.samples, 170);
	assert_int_equal(start->self.samples, 0);
	/* Its own line, and the line that helper was inlined into. */
	assert_int_equal(kernel->total.samples, 120);
	assert_int_equal(kernel->self.samples, 10);
	assert_int_equal(helper->self.samples, 50);
	totals_free(totals);
	recording_free(recording);
}

/* The root of a tree is a group; parents come before what they call. */
static void makes_a_call_tree(void **state)
{
	struct recording *recording = read_small();
	struct totals *totals = totals_new();
	const struct totals_node *root, *start, *call;

	(void)state;
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	/* app: _start, kernel, helper, grow, the host call below kernel and _start; the other's two
	 */
	assert_int_equal(totals->node_count, 1 + 1 + 2 + 1 + 2 + 3);
	root = &totals->nodes[totals->node_order[0]];
	assert_int_equal(root->parent, TOTALS_NONE);
	assert_string_equal(totals->groups[root->function].module, "app.wasm");
	assert_int_equal(root->total.cpu_ns, 1600000000);
	assert_int_equal(root->self.cpu_ns, 0);
	start = &totals->nodes[totals->node_order[1]];
	assert_int_equal(start->parent, totals->node_order[0]);
	assert_string_equal(totals->functions[start->function].name, "_start");
	for (uint32_t i = 0; i < totals->node_count; i++) {
		call = &totals->nodes[i];
		assert_true(call->parent == TOTALS_NONE || call->parent < i);
	}
	totals_free(totals);
	recording_free(recording);
}

static void expect_parts(enum totals_by by, const char *first, uint64_t first_samples,
			 const char *second, uint64_t second_samples)
{
	struct recording *recording = read_small();
	struct totals *totals = totals_new();
	const struct totals_row *part;

	totals->by = by;
	totals->label_key = "tenant";
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	assert_int_equal(totals->part_count, second != NULL ? 2 : 1);
	part = &totals->parts[totals->part_order[0]];
	assert_string_equal(part->module, first);
	assert_int_equal(part->weight.samples, first_samples);
	assert_int_not_equal(part->hottest, TOTALS_NONE);
	if (second != NULL) {
		part = &totals->parts[totals->part_order[1]];
		assert_string_equal(part->module, second);
		assert_int_equal(part->weight.samples, second_samples);
	}
	totals_free(totals);
	recording_free(recording);
}

static void splits_by_what_was_asked_for(void **state)
{
	(void)state;
	expect_parts(TOTALS_BY_MODULE, "app.wasm", 170, EVIL_NAME, 25);
	expect_parts(TOTALS_BY_LABEL, "(no tenant)", 195, NULL, 0);
}

static void splits_by_thread(void **state)
{
	struct recording *recording = read_small();
	struct totals *totals = totals_new();

	(void)state;
	totals->by = TOTALS_BY_THREAD;
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	/* A thread without a name is not the one of that number which has one. */
	assert_int_equal(totals->part_count, 3);
	assert_string_equal(totals->parts[totals->part_order[0]].module, "worker-2 (4244)");
	assert_int_equal(totals->parts[totals->part_order[0]].instances_sampled, 1);
	assert_string_equal(totals->parts[totals->part_order[1]].module, "worker-1 (4243)");
	assert_string_equal(totals->parts[totals->part_order[2]].module, "(4244)");
	totals_free(totals);
	recording_free(recording);
}

/* Groups add up by identity, instances stay apart, time at once is counted once. */
static void sums_several_recordings(void **state)
{
	struct recording *first = read_small(), *second = read_small();
	struct totals *totals = totals_new();

	(void)state;
	second->processes[0].time_unix_ns += 1000000000;
	assert_int_equal(totals_add(totals, first), 0);
	assert_int_equal(totals_add(totals, second), 0);
	assert_int_equal(totals_finish(totals), 0);
	assert_int_equal(totals->group_count, 2);
	assert_int_equal(totals->instance_count, 6);
	assert_int_equal(totals->groups[0].weight.samples, 340);
	assert_int_equal(totals->weight.samples, 390);
	assert_int_equal(totals->duration_ns, 3000000000);
	assert_int_equal(totals->lost, 12);
	totals_free(totals);
	recording_free(first);
	recording_free(second);
}

static void sums_waits_apart(void **state)
{
	struct recording *recording = read_waiting();
	struct totals *totals = totals_new();
	const struct totals_wait *wait;

	(void)state;
	assert_int_equal(recording->samples[1].descriptor, 7);
	assert_int_equal(recording->samples[2].descriptor, -1);
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	assert_int_equal(totals->weight.samples, 10);
	assert_int_equal(totals->weight.cpu_ns, 100000000);
	assert_int_equal(totals->weight.wall_ns, 2250000000);
	assert_int_equal(function_named(totals, "_start")->self.samples, 10);
	assert_int_equal(function_named(totals, "_start")->total.wall_ns, 2000000000);
	assert_int_equal(function_named(totals, "[read]")->total.samples, 0);
	/* The hottest function is the one that ran, whatever waited longer. */
	assert_string_equal(totals->functions[totals->groups[0].hottest].name, "_start");
	assert_int_equal(totals->wait_count, 3);
	wait = &totals->waits[totals->wait_order[0]];
	assert_int_equal(wait->wall_ns, 1500000000);
	assert_string_equal(totals->functions[wait->function].name, "math::kernel<[u8; 32]>");
	assert_string_equal(totals->functions[wait->call].name, "[read]");
	wait = &totals->waits[totals->wait_order[2]];
	assert_int_equal(wait->function, TOTALS_NONE);
	assert_string_equal(totals->functions[wait->call].name, "(parked)");
	assert_string_equal(totals->groups[wait->group].module, "app.wasm");
	totals_free(totals);
	recording_free(recording);
}

static void knows_how_sure_an_instance_is(void **state)
{
	(void)state;
	assert_int_equal(totals_certainty("app#3"), TOTALS_EXACT);
	assert_int_equal(totals_certainty("app (likely)#3"), TOTALS_EXACT);
	assert_int_equal(totals_certainty("app#3 (likely)"), TOTALS_LIKELY);
	assert_int_equal(totals_certainty("app#* (likely)"), TOTALS_LIKELY);
	assert_int_equal(totals_certainty("app (module only)"), TOTALS_MODULE_ONLY);
	assert_true(totals_is_named("app#3"));
	assert_true(totals_is_named("app#3 (likely)"));
	assert_false(totals_is_named(""));
	assert_false(totals_is_named("app#*"));
	assert_false(totals_is_named("app#* (likely)"));
	assert_false(totals_is_named("app (module only)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_one_recording),
		cmocka_unit_test(counts_a_function_once_a_sample),
		cmocka_unit_test(makes_a_call_tree),
		cmocka_unit_test(splits_by_what_was_asked_for),
		cmocka_unit_test(splits_by_thread),
		cmocka_unit_test(sums_several_recordings),
		cmocka_unit_test(sums_waits_apart),
		cmocka_unit_test(knows_how_sure_an_instance_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
