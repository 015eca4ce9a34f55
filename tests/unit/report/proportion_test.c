/* SPDX-License-Identifier: MIT */
/* proportion_test.c - intervals, tests and limits against values of R. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/cmd/report/proportion.h"

/* Wilson's interval, against values of R's binom::binom.wilson. */
static void estimates_shares(void **state)
{
	uint64_t low, high;

	(void)state;
	proportion_interval(500000, 100, &low, &high);
	assert_in_range(low, 403800, 403860);
	assert_in_range(high, 596140, 596200);
	proportion_interval(0, 50, &low, &high);
	assert_int_equal(low, 0);
	assert_in_range(high, 71300, 71400);
	proportion_interval(1000000, 50, &low, &high);
	assert_int_equal(high, 1000000);
	proportion_interval(1000000, 0, &low, &high);
	assert_int_equal(low, 0);
	assert_int_equal(proportion_ppm(1, 3), 333333);
	assert_int_equal(proportion_ppm(1, 0), 0);
}

/* R: prop.test(c(200, 250), c(1000, 1000), correct = FALSE): X-squared = 7.1685, z = 2.677. */
static void tests_a_change(void **state)
{
	struct proportion_pair pair = { 200000, 250000, 1000, 1000 };
	double z = proportion_z(&pair);

	(void)state;
	assert_true(z > 2.676 && z < 2.679);
	pair = (struct proportion_pair){ 250000, 200000, 1000, 1000 };
	assert_true(proportion_z(&pair) == -z);
	/* Nothing and everything in both: no error to measure by, and no change. */
	pair = (struct proportion_pair){ 0, 0, 1000, 1000 };
	assert_true(proportion_z(&pair) == 0);
	pair = (struct proportion_pair){ 1000000, 1000000, 1000, 1000 };
	assert_true(proportion_z(&pair) == 0);
	pair = (struct proportion_pair){ 500000, 0, 1000, 0 };
	assert_true(proportion_z(&pair) == 0);
}

/* Newcombe, Statistics in Medicine 17 (1998), table II, method 10: 56/70 and 48/80, 9/10 and 3/10.
 */
static void estimates_a_change(void **state)
{
	struct proportion_pair pair = { 600000, 800000, 80, 70 };
	int64_t low, high;

	(void)state;
	proportion_change(&pair, &low, &high);
	assert_in_range(low, 52300, 52500);
	assert_in_range(high, 333800, 334000);
	pair = (struct proportion_pair){ 300000, 900000, 10, 10 };
	proportion_change(&pair, &low, &high);
	assert_in_range(low, 170400, 170600);
	assert_in_range(high, 808900, 809100);
	pair = (struct proportion_pair){ 0, 0, 0, 0 };
	proportion_change(&pair, &low, &high);
	assert_int_equal(low, -1000000);
	assert_int_equal(high, 1000000);
}

static void asks_more_of_one_of_many(void **state)
{
	(void)state;
	assert_true(proportion_limit(0) == 1.960 && proportion_limit(1) == 1.960);
	assert_true(proportion_limit(6) == 2.690 && proportion_limit(7) == 2.690);
	for (size_t count = 1; count < 2000; count++)
		assert_true(proportion_limit(count) <= proportion_limit(count + 1));
	assert_true(proportion_limit(SIZE_MAX) == 5.026);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_shares),
		cmocka_unit_test(tests_a_change),
		cmocka_unit_test(estimates_a_change),
		cmocka_unit_test(asks_more_of_one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
