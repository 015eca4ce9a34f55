/* SPDX-License-Identifier: MIT */
/* filter_test.c - what is left of a recording, and that its counters follow. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/export/folded.h"
#include "preload/read/filter.h"
#include "preload/read/merge.h"
#include "tests/unit/encode/golden.h"
#include "tests/unit/encode/scratch.h"
#include "tests/unit/encode/small.h"

#define SECOND ((uint64_t)1000000000)

static int apply(struct recording *recording, const struct filter_wish *wish, char **why)
{
	struct filter *filter = filter_new(wish, why);
	int error;

	if (filter == NULL)
		return -EINVAL;
	error = filter_apply(filter, recording, why);
	filter_free(filter);
	return error;
}

/* The small recording with WISH. */
static struct recording *filtered(const struct filter_wish *wish)
{
	struct recording *recording = small_read();
	char *why = NULL;

	assert_int_equal(apply(recording, wish, &why), 0);
	assert_null(why);
	return recording;
}

/* Small has app.wasm: 10 + 50 guest (#1), 60 host (#2), 40 builtin (#*), 10 waiting; 25 others. */
static void expect_count(const struct filter_wish *wish, uint64_t count)
{
	struct recording *recording = filtered(wish);

	assert_int_equal(small_count(recording), count);
	recording_free(recording);
}

static void keeps_what_is_asked_for(void **state)
{
	(void)state;
	expect_count(&(struct filter_wish){ 0 }, 195);
	expect_count(&(struct filter_wish){ .include = { "helper" } }, 50);
	expect_count(&(struct filter_wish){ .include = { "kernel", "fd_write" } }, 60);
	expect_count(&(struct filter_wish){ .exclude = { "helper", "grow$" } }, 105);
	expect_count(&(struct filter_wish){ .module = "app.wasm" }, 170);
	expect_count(&(struct filter_wish){ .instance = "app.wasm#2" }, 70);
	expect_count(&(struct filter_wish){ .instance = "app.wasm#2 (4242)" }, 70);
	expect_count(&(struct filter_wish){ .instance = "app.wasm#2 (11)" }, 0);
	expect_count(&(struct filter_wish){ .thread = "worker-1" }, 60);
	expect_count(&(struct filter_wish){ .thread = "4244" }, 135);
	expect_count(&(struct filter_wish){ .time = "1:" }, 185);
	expect_count(&(struct filter_wish){ .time = ":1" }, 10);
	expect_count(&(struct filter_wish){ .labels = { "wasm_state=host|builtin" } }, 100);
	/* a value matches as a whole */
	expect_count(&(struct filter_wish){ .labels = { "wasm_state=hos" } }, 0);
	expect_count(&(struct filter_wish){ .labels = { "tenant" } }, 0);
	expect_count(&(struct filter_wish){ .include = { "kernel" }, .thread = "worker-2" }, 60);
}

static void counters_follow(void **state)
{
	struct recording *recording =
		filtered(&(struct filter_wish){ .include = { "helper" }, .time = "1:" });
	const struct recording_group *group = &recording->groups[0];

	(void)state;
	assert_string_equal(recording->filter, "--include helper --time 1:");
	assert_int_equal(recording->group_count, 1);
	assert_int_equal(group->samples, 50);
	assert_int_equal(group->cpu_ns, 500000000);
	assert_int_equal(group->samples_by_state[STATE_GUEST], 50);
	assert_int_equal(group->samples_by_state[STATE_HOST], 0);
	assert_int_equal(group->instances_sampled, 1);
	assert_int_equal(recording_stat(recording, "truncated"), 0);
	assert_int_equal(recording_stat(recording, "unnamed"), 0);
	/* what is the process's stays */
	assert_int_equal(recording_stat(recording, "lost_ring_full"), 5);
	assert_int_equal(recording_stat(recording, "signals"), 198);
	assert_int_equal(recording->processes[0].duration_ns, SECOND);
	recording_free(recording);
	recording = filtered(&(struct filter_wish){ .module = "app.wasm" });
	assert_int_equal(recording->group_count, 1);
	assert_int_equal(recording->groups[0].instances_created, 3);
	assert_int_equal(recording->groups[0].samples, 170);
	recording_free(recording);
}

static void write_folded(struct recording *recording, const char *path)
{
	struct output *output = output_open(path, false);

	assert_int_equal(folded_write(recording, false, false, output), 0);
	assert_int_equal(output_close(output, true), 0);
	recording_free(recording);
}

/* What each leaves, one after the other. */
static void stacks_match_the_golden_file(void **state)
{
	static const struct filter_wish wishes[] = {
		{ .focus = "kernel" }, /* an inlined caller's frame and the rest of it */
		{ .focus = "helper" }, /* the callers within one location go */
		{ .view = "guest" },	     { .view = "hostcalls" },
		{ .exclude = { "^\\[0x" } }, { .focus = "_start", .include = { "write" } },
	};
	FILE *all = fopen("all.folded", "w");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		struct recording *recording = filtered(&wishes[i]);
		char *text;

		fprintf(all, "# %s\n", recording->filter);
		write_folded(recording, "one.folded");
		text = slurp("one.folded");
		fputs(text, all);
		free(text);
	}
	fclose(all);
	expect_golden("all.folded", scratch_root("tests/data/small-filtered.folded"));
}

static void expect_refused(const struct filter_wish *wish, int error, const char *text)
{
	struct recording *recording = small_read();
	char *why = NULL;

	assert_int_equal(apply(recording, wish, &why), error);
	assert_non_null(why);
	assert_non_null(strstr(why, text));
	assert_null(strchr(why, '\n'));
	free(why);
	recording_free(recording);
}

static void says_what_makes_no_sense(void **state)
{
	char *pattern = calloc(1, FILTER_PATTERN_SIZE + 1);

	(void)state;
	memset(pattern, 'a', FILTER_PATTERN_SIZE);
	expect_refused(&(struct filter_wish){ .include = { "(" } }, -EINVAL, "--include (: ");
	expect_refused(&(struct filter_wish){ .focus = "a{99999}" }, -EINVAL, "--focus");
	expect_refused(&(struct filter_wish){ .exclude = { pattern } }, -EINVAL, "less than 4096");
	expect_refused(&(struct filter_wish){ .labels = { "=x" } }, -EINVAL, "KEY");
	expect_refused(&(struct filter_wish){ .time = "2" }, -EINVAL, "FROM:TO");
	expect_refused(&(struct filter_wish){ .time = "0.5:1" }, -EINVAL, "whole seconds");
	expect_refused(&(struct filter_wish){ .time = "2:2" }, -EINVAL, "nothing lies there");
	expect_refused(&(struct filter_wish){ .view = "host" }, -EINVAL, "hostcalls");
	expect_refused(&(struct filter_wish){ .view = "full" }, -ENODATA,
		       "guestprof record --stacks full");
	free(pattern);
}

static void a_cut_stack_is_as_if_recorded_so(void **state)
{
	struct recording *recording = filtered(&(struct filter_wish){ .view = "guest" });
	char *why = NULL;

	(void)state;
	assert_string_equal(recording->stacks, "guest");
	assert_string_equal(recording->processes[0].stacks, "guest");
	assert_int_equal(apply(recording, &(struct filter_wish){ .view = "hostcalls" }, &why),
			 -ENODATA);
	free(why);
	recording_free(recording);
}

/* guest -> (host call, then host code): only full stacks have the latter. */
static void a_full_stack_becomes_host_calls(void **state)
{
	struct built *built = calloc(1, sizeof(*built));
	uint64_t app, guest, outer, call, libc, run, at_guest, at_outer, at_call, at_libc, at_run;
	struct recording *recording;
	char *why = NULL;

	(void)state;
	built_begin(built);
	app = built_mapping(built, "app.wasm", SMALL_IDENTITY);
	guest = built_function(built, "inner", "");
	outer = built_function(built, "outer", "");
	call = built_function(built, "env.log", "");
	libc = built_function(built, "write", "");
	run = built_function(built, "main", "");
	at_guest = built_location(built, app, 1, FRAME_GUEST, (uint64_t[]){ guest, 0 });
	at_outer = built_location(built, app, 2, FRAME_GUEST, (uint64_t[]){ outer, 0 });
	at_call = built_location(built, 0, 3, FRAME_HOST, (uint64_t[]){ call, 0 });
	at_libc = built_location(built, 0, 4, FRAME_HOST, (uint64_t[]){ libc, 0 });
	at_run = built_location(built, 0, 5, FRAME_HOST, (uint64_t[]){ run, 0 });
	built_add_sample(built, &(struct built_sample){ .module = "app.wasm",
							.state = "host",
							.locations = { at_libc, at_libc, at_call,
								       at_guest, at_libc, at_call,
								       at_outer, at_run, at_run },
							.count = 1 });
	recording = small_read_built(built);
	assert_int_equal(apply(recording, &(struct filter_wish){ .view = "hostcalls" }, &why), 0);
	assert_int_equal(recording->samples[0].location_count, 4);
	assert_int_equal(recording->samples[0].locations[0]->id, at_call);
	assert_int_equal(recording->samples[0].locations[1]->id, at_guest);
	assert_int_equal(recording->samples[0].locations[2]->id, at_call);
	assert_int_equal(recording->samples[0].locations[3]->id, at_outer);
	assert_int_equal(apply(recording, &(struct filter_wish){ .view = "guest" }, &why), 0);
	assert_int_equal(recording->samples[0].location_count, 2);
	assert_string_equal(recording->filter, "--view hostcalls --view guest");
	recording_free(recording);
	built_free(built);
}

static void instances_of_processes_are_told_apart(void **state)
{
	struct recording *list[] = { small_read(), small_read_other(11, SECOND) };
	struct recording *merged = recording_merge(list, 2);
	char *why = NULL;

	(void)state;
	assert_int_equal(
		apply(merged, &(struct filter_wish){ .instance = "app.wasm#2 (11)" }, &why), 0);
	assert_int_equal(small_count(merged), 70);
	for (size_t i = 0; i < merged->sample_count; i++)
		assert_int_equal(recording_process(merged, &merged->samples[i])->pid, 11);
	recording_free(merged);
	recording_free(list[0]);
	recording_free(list[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_asked_for),
		cmocka_unit_test(counters_follow),
		cmocka_unit_test(stacks_match_the_golden_file),
		cmocka_unit_test(says_what_makes_no_sense),
		cmocka_unit_test(a_cut_stack_is_as_if_recorded_so),
		cmocka_unit_test(a_full_stack_becomes_host_calls),
		cmocka_unit_test(instances_of_processes_are_told_apart),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
