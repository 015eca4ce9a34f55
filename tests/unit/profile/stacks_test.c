/* SPDX-License-Identifier: MIT */
/*
 * stacks_test.c - a stack comes back as it went in, shares its trunk, and stops at the bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/stacks.h"
#include "preload/profile/tables.h"

static struct stack_tree tree;

static int start(void **unused)
{
	(void)unused;
	return stacks_init(&tree, 1 << 20);
}

static int end(void **unused)
{
	(void)unused;
	stacks_fini(&tree);
	return 0;
}

static void test_round_trip(void **unused)
{
	const uint32_t stack[] = { 9, 8, 7, 7, 2 }, other[] = { 5, 7, 7, 2 };
	uint64_t back[8];
	uint32_t id = stacks_add(&tree, stack, 5);

	(void)unused;
	assert_int_equal(stacks_get(&tree, id, back), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(back[i], stack[i]);
	assert_int_equal(stacks_add(&tree, stack, 5), id);
	assert_true(stacks_add(&tree, stack + 1, 4) != id);
	assert_int_equal(tree.count, 6);
	stacks_add(&tree, other, 4);
	assert_int_equal(tree.count, 7); /* only its leaf is new */
	assert_int_equal(stacks_get(&tree, id, NULL), 5);
}

static void test_no_frames_is_other(void **unused)
{
	uint64_t back[1];

	(void)unused;
	assert_int_equal(stacks_add(&tree, NULL, 0), STACK_OTHER);
	assert_int_equal(stacks_get(&tree, STACK_OTHER, back), 1);
	assert_int_equal(back[0], LOCATION_OTHER);
}

static void test_the_bound(void **unused)
{
	uint32_t stack[2] = { 0, 3 }, first;

	(void)unused;
	stack[0] = 1;
	first = stacks_add(&tree, stack, 2);
	for (uint32_t i = 0; i < 100000; i++) {
		stack[0] = i;
		stacks_add(&tree, stack, 2);
	}
	assert_int_equal(stacks_add(&tree, stack, 2), STACK_OTHER);
	assert_int_equal(tree.count, tree.limit);
	stack[0] = 1;
	assert_int_equal(stacks_add(&tree, stack, 2), first);
	/* What it is made of stays within its memory. */
	assert_true(tree.capacity * sizeof(*tree.nodes) +
			    tree.lookup.capacity * sizeof(*tree.lookup.slots) <=
		    1 << 20);
}

#define STACKS_TEST(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STACKS_TEST(test_round_trip),
		STACKS_TEST(test_no_frames_is_other),
		STACKS_TEST(test_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
