/* SPDX-License-Identifier: MIT */
/*
 * budget_test.c - when the rate goes down and up, told by costs that the test makes up.
 *
 * The made-up process uses one CPU, and sampling costs a share of it at the full rate, less at a
 * lower one; besides there may be what no rate changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/sampler/budget.h"

#define SECOND UINT64_C(1000000000)

enum { PERCENT = 10000 };

struct source {
	struct budget budget;
	struct budget_cost now;
	uint32_t full_ppm;  /* cost at the full rate */
	uint32_t fixed_ppm; /* ... at any */
	uint32_t busy_ppm;  /* CPU time of the process by the clock */
};

static void start(struct source *source, uint32_t budget_ppm, uint32_t hz)
{
	*source = (struct source){ .busy_ppm = 100 * PERCENT, .now.time_ns = 1000 * SECOND };
	source->now.process_ns = 5 * SECOND;
	source->now.work_ns = 3 * SECOND; /* of before: nothing of it counts */
	budget_start(&source->budget, budget_ppm, hz, &source->now);
}

/* A second more, in which BURST_NS more were spent. True when the rate has changed. */
static bool second(struct source *source, uint64_t burst_ns)
{
	uint64_t cpu_ns = SECOND / 1000000 * source->busy_ppm;
	uint64_t cost_ns =
		cpu_ns / 1000000 * (source->full_ppm / source->budget.divisor + source->fixed_ppm);

	source->now.time_ns += SECOND;
	source->now.process_ns += cpu_ns;
	/* In three parts: all of them count. */
	source->now.handler_ns += cost_ns / 4;
	source->now.delivery_ns += cost_ns / 4;
	source->now.work_ns += cost_ns / 2 + burst_ns;
	return budget_judge(&source->budget, &source->now);
}

static unsigned int seconds(struct source *source, unsigned int count)
{
	unsigned int changes = 0;

	while (count-- > 0)
		changes += second(source, 0);
	return changes;
}

static void stays_within_the_budget(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, PERCENT, 250);
	source.full_ppm = PERCENT - 1000;
	assert_int_equal(seconds(&source, 3600), 0);
	assert_int_equal(source.budget.divisor, 1);
	assert_in_range(source.budget.cost_ppm, PERCENT - 1010, PERCENT - 990);
	assert_int_equal(source.budget.change_count, 0);
}

static void goes_down_until_it_fits(void **unused)
{
	const struct budget_change *first, *last;
	struct source source;

	(void)unused;
	start(&source, PERCENT, 1000);
	source.full_ppm = 6 * PERCENT;
	assert_int_equal(seconds(&source, 3600), 3);
	assert_int_equal(source.budget.divisor, 8);
	first = &source.budget.changes[0];
	last = &source.budget.changes[2];
	/* Two windows of two seconds where it is far too much, three where it is too much. */
	assert_int_equal(first->time_ns, 1004 * SECOND);
	assert_int_equal(first->from, 1);
	assert_int_equal(first->to, 2);
	assert_in_range(first->cost_ppm, 6 * PERCENT - 10, 6 * PERCENT + 10);
	assert_int_equal(first->budget_ppm, PERCENT);
	assert_int_equal(last->from, 4);
	assert_int_equal(last->to, 8);
	assert_int_equal(last->time_ns, (1004 + 4 + 6) * SECOND);
}

static void one_sample_a_second_is_the_least(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, 1, 100);
	source.fixed_ppm = PERCENT;
	assert_int_equal(seconds(&source, 3600), 6);
	assert_int_equal(source.budget.divisor, 64);
	start(&source, 1, 1);
	source.fixed_ppm = PERCENT;
	assert_int_equal(seconds(&source, 3600), 0);
}

static void off_means_off(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, 0, 10000);
	source.full_ppm = 50 * PERCENT;
	assert_int_equal(seconds(&source, 3600), 0);
	/* It is shown all the same. */
	assert_in_range(source.budget.cost_ppm, 50 * PERCENT - 10, 50 * PERCENT + 10);
}

/* Names, tables, the disk: bursts of a whole second each, now and then, also at the start. */
static void bursts_are_borne(void **unused)
{
	struct source source;
	unsigned int changes = 0;

	(void)unused;
	start(&source, PERCENT, 250);
	source.full_ppm = PERCENT / 5;
	for (int i = 0; i < 3600; i++)
		changes += second(&source, i % 6 == 0 ? SECOND / 2 : 0);
	assert_int_equal(changes, 0);
}

static void an_idle_process_is_let_alone(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, PERCENT, 250);
	source.busy_ppm = 9 * PERCENT;
	source.full_ppm = 20 * PERCENT;
	assert_int_equal(seconds(&source, 3600), 0);
	assert_int_equal(source.budget.cost_ppm, BUDGET_UNKNOWN);
	/* Three tenths of a CPU are enough. */
	source.busy_ppm = 30 * PERCENT;
	assert_int_equal(seconds(&source, 60) > 0, true);
}

static void comes_back_when_it_is_cheap(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, PERCENT, 1000);
	source.full_ppm = 3 * PERCENT;
	assert_int_equal(seconds(&source, 60), 2);
	assert_int_equal(source.budget.divisor, 4);
	source.full_ppm = PERCENT / 2;
	/* Doubled after as many windows as patience says, twice. */
	assert_int_equal(seconds(&source, 2 * 2 * BUDGET_PATIENCE), 2);
	assert_int_equal(source.budget.divisor, 1);
	assert_int_equal(source.budget.changes[3].from, 2);
	assert_int_equal(source.budget.changes[3].to, 1);
	assert_int_equal(seconds(&source, 3600), 0);
}

/* Below, but doubled it would be above: nothing moves. */
static void does_not_swing(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, PERCENT, 1000);
	source.full_ppm = PERCENT + 1000;
	assert_int_equal(seconds(&source, 7200), 1);
	assert_int_equal(source.budget.divisor, 2);
}

/* A host that is cheap and dear by turns: it is tried less and less often. */
static void tries_less_often(void **unused)
{
	struct source source;
	unsigned int changes = 0;

	(void)unused;
	start(&source, PERCENT, 1000);
	for (int i = 0; i < 3600; i++) {
		/* Cheap at half the rate and dear at the whole one. */
		source.full_ppm = source.budget.divisor == 1 ? 3 * PERCENT : PERCENT / 2;
		changes += second(&source, 0);
	}
	assert_in_range(changes, 5, 40);
	assert_int_equal(source.budget.patience, BUDGET_PATIENCE_MAX);
}

static void keeps_the_last_changes(void **unused)
{
	struct source source;
	unsigned int changes = 0;

	(void)unused;
	start(&source, PERCENT, 1000);
	while (changes < 3 * BUDGET_CHANGES_MAX) {
		source.full_ppm = source.budget.divisor == 1 ? 3 * PERCENT : 0;
		changes += second(&source, 0);
		assert_true(source.budget.change_count <= BUDGET_CHANGES_MAX);
	}
	assert_int_equal(source.budget.change_count, BUDGET_CHANGES_MAX);
	assert_int_equal(source.budget.changes[BUDGET_CHANGES_MAX - 1].time_ns, source.now.time_ns);
	for (size_t i = 1; i < BUDGET_CHANGES_MAX; i++) {
		assert_true(source.budget.changes[i].time_ns >
			    source.budget.changes[i - 1].time_ns);
		assert_int_equal(source.budget.changes[i].from, source.budget.changes[i - 1].to);
	}
}

/* Clocks that go back, and estimates beyond what there was. */
static void nonsense_is_survived(void **unused)
{
	struct source source;

	(void)unused;
	start(&source, PERCENT, 1000);
	source.now = (struct budget_cost){ .time_ns = 1 };
	assert_false(budget_judge(&source.budget, &source.now));
	source.now = (struct budget_cost){ .time_ns = 2000 * SECOND };
	assert_false(budget_judge(&source.budget, &source.now));
	source.now.time_ns += 3 * SECOND;
	source.now.process_ns = 2 * SECOND;
	source.now.handler_ns = UINT64_MAX / 2;
	budget_judge(&source.budget, &source.now);
	assert_int_equal(source.budget.cost_ppm, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_within_the_budget),
		cmocka_unit_test(goes_down_until_it_fits),
		cmocka_unit_test(one_sample_a_second_is_the_least),
		cmocka_unit_test(off_means_off),
		cmocka_unit_test(bursts_are_borne),
		cmocka_unit_test(an_idle_process_is_let_alone),
		cmocka_unit_test(comes_back_when_it_is_cheap),
		cmocka_unit_test(does_not_swing),
		cmocka_unit_test(tries_less_often),
		cmocka_unit_test(keeps_the_last_changes),
		cmocka_unit_test(nonsense_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
