/* SPDX-License-Identifier: MIT */
/* warnings_test.c - each limit of a recording is told, with what to do about it, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/report/report.h"
#include "preload/read/totals.h"
#include "tests/unit/encode/small.h"

/* What RECORDING is warned of, with COUNTER, if any, as its only one. */
struct warned {
	struct report_warning rows[REPORT_WARNINGS_MAX];
	size_t count;
};

static void warn(struct warned *warned, struct recording *recording, const char *counter,
		 uint64_t value, bool has_lines)
{
	struct recording_stat stat = { .name = counter, .value = value };
	struct totals *totals = totals_new();
	struct report report = { .recording = recording, .totals = totals, .has_lines = has_lines };

	recording->stats = &stat;
	recording->stat_count = counter != NULL;
	assert_non_null(totals);
	totals->by_line = has_lines;
	assert_int_equal(totals_add(totals, recording), 0);
	assert_int_equal(totals_finish(totals), 0);
	warned->count = report_warnings(&report, warned->rows);
	totals_free(totals);
	recording_free(recording);
}

/* The warning ID is there, with TEXT and CURE in it. */
static void expect_warning(const struct warned *warned, const char *id, const char *text,
			   const char *cure)
{
	for (size_t i = 0; i < warned->count; i++) {
		const struct report_warning *row = &warned->rows[i];

		if (strcmp(row->id, id) != 0)
			continue;
		if (strstr(row->text, text) == NULL || strstr(row->cure, cure) == NULL)
			fail_msg("%s: %s: %s", id, row->text, row->cure);
		return;
	}
	fail_msg("no warning %s of %zu", id, warned->count);
}

/* A recording that nothing limits. */
static struct recording *read_good(void)
{
	struct recording *recording = small_read();

	recording->clock_why = "";
	for (size_t i = 0; i < recording->sample_count; i++) {
		recording->samples[i].count *= 10;
		recording->samples[i].cpu_ns *= 10;
	}
	for (size_t i = 0; i < recording->group_count; i++) {
		recording->groups[i].samples *= 10;
		recording->groups[i].cpu_ns *= 10;
	}
	for (size_t i = 0; i < recording->location_count; i++) {
		if (recording->locations[i].kind == FRAME_JIT)
			recording->locations[i].kind = FRAME_GUEST;
	}
	return recording;
}

static void a_good_one_has_none(void **state)
{
	struct warned warned;

	(void)state;
	warn(&warned, read_good(), NULL, 0, false);
	for (size_t i = 0; i < warned.count; i++)
		fail_msg("%s: %s", warned.rows[i].id, warned.rows[i].text);
}

/* VALUE of some 2,000 samples. */
static void counters_are_told(void **state)
{
	static const struct row {
		const char *counter;
		uint64_t value;
		const char *text, *cure;
	} rows[] = {
		{ "lost_ring_full", 200, "a thread's ring was full", "GUESTPROF_MEMORY=" },
		{ "lost_no_ring", 200, "no ring was free", "GUESTPROF_MEMORY=" },
		{ "lost_nested", 200, "inside our own handler", "-F 100" },
		{ "lost_no_thread", 200, "their thread was not known", "-F 100" },
		{ "lost_stack", 200, "their stack could not be read", "--stacks guest" },
		{ "lost_memory", 200, "GUESTPROF_MEMORY is used up", "GUESTPROF_MEMORY=256M" },
		{ "lost_write", 200, "could not be written", "record -o" },
		{ "lost_fork", 200, "just before a fork", "-F 100" },
		{ "no_guest_found", 200, "no guest frame", "GUESTPROF_UNWINDER=own" },
		{ "modules_refused", 1, "modules refused: 1", "guest_debug(false)" },
		{ "modules_broken", 1, "not understood: 1", "guestprof id" },
		{ "unlisted", 1, "not in GUESTPROF_MODULES", "env -u GUESTPROF_MODULES" },
		{ "clock_failed", 1, "threads not sampled: 1", "ulimit" },
		{ "waits_refused", 1, "refused by the kernel", "PR_SET_DUMPABLE" },
		{ "parked_too_many", 1, "parked calls not timed", "GUESTPROF_MEMORY=" },
		{ "entries_too_deep", 1, "nested too deep", "--by module" },
		{ "real_missing", 1, "without a real function", "LD_DEBUG=bindings" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct warned warned;

		warn(&warned, read_good(), rows[i].counter, rows[i].value, false);
		expect_warning(&warned, rows[i].counter, rows[i].text, rows[i].cure);
		assert_int_equal(warned.count, 1);
	}
}

/* One sample of two thousand is not worth a line. */
static void few_losses_are_not(void **state)
{
	struct warned warned;

	(void)state;
	warn(&warned, read_good(), "lost_ring_full", 1, false);
	assert_int_equal(warned.count, 0);
	warn(&warned, read_good(), "no_guest_found", 10, false);
	assert_int_equal(warned.count, 0);
}

static void the_clock_is_told(void **state)
{
	struct warned warned;

	(void)state;
	warn(&warned, small_read(), NULL, 0, false);
	expect_warning(&warned, "clock_fallback", "perf_event: EPERM", "perf_event_paranoid");
	expect_warning(&warned, "few_samples", "195 samples are few", "-F 1000");
	warn(&warned, read_good(), "threads_blocking", 5, false);
	expect_warning(&warned, "threads_blocking", "5 threads blocked", "--wall");
	/* no tick was delivered of a thousand */
	warn(&warned, read_good(), "overruns", 1000, false);
	expect_warning(&warned, "low_rate", "0 % of the clock's ticks", "-F 250");
}

static void what_samples_lack_is_told(void **state)
{
	struct recording *recording = read_good();
	struct warned warned;

	(void)state;
	recording->functions[1].name = "app!wasm-function[7]";
	warn(&warned, recording, NULL, 0, false);
	expect_warning(&warned, "no_names", "numbers only", "guestprof symbolize --wasm");
	warn(&warned, small_read(), NULL, 0, false);
	expect_warning(&warned, "jit", "that no engine described", "--stacks full");
	recording = read_good();
	for (size_t i = 0; i < recording->location_count; i++)
		recording->locations[i].kind = FRAME_INTERPRETER;
	warn(&warned, recording, NULL, 0, false);
	expect_warning(&warned, "interpreted", "leave no frames on the stack", "no pulley target");
	warn(&warned, read_good(), "unnamed", 100, false);
	expect_warning(&warned, "unnamed", "without a name", "guestprof symbolize --wasm");
	warn(&warned, read_good(), "truncated", 100, false);
	expect_warning(&warned, "truncated", "stacks were cut", "--stacks guest");
	recording = read_good();
	for (size_t i = 0; i < recording->function_count; i++)
		recording->functions[i].filename = "";
	warn(&warned, recording, NULL, 0, true);
	expect_warning(&warned, "no_lines", "no source lines", "--lines --wasm");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one_has_none),	     cmocka_unit_test(counters_are_told),
		cmocka_unit_test(few_losses_are_not),	     cmocka_unit_test(the_clock_is_told),
		cmocka_unit_test(what_samples_lack_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
