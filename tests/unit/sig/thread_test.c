/* SPDX-License-Identifier: MIT */
/* thread_test.c - entries: nesting, depth, stale ones, what is noted of the one below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/base/stats.h"
#include "preload/sig/thread.h"
#include "tests/unit/sig/synthetic.h"

static struct thread thread;
static struct synthetic s;

static int setup(void **unused)
{
	(void)unused;
	memset(&thread, 0, sizeof(thread));
	synthetic_init(&s);
	atomic_store(&thread.stack_start, (uintptr_t)s.stack);
	atomic_store(&thread.stack_end, (uintptr_t)(s.stack + STACK_WORDS));
	return 0;
}

static struct entry entry_at(size_t index)
{
	return (struct entry){ .sp = (uintptr_t)&s.stack[index], .instance = (uint32_t)index };
}

static void enter_and_leave_nest(void **unused)
{
	struct entry outer = entry_at(3000), inner = entry_at(2000);
	uint32_t first, second;

	(void)unused;
	first = thread_enter(&thread, &outer);
	second = thread_enter(&thread, &inner);
	assert_int_equal(thread.depth, 2);
	assert_int_equal(thread.entries[1].instance, 2000);
	thread_leave(&thread, second);
	assert_int_equal(thread.depth, 1);
	assert_int_equal(thread.entries[0].instance, 3000);
	thread_leave(&thread, first);
	assert_int_equal(thread.depth, 0);
}

static void leave_drops_what_a_longjmp_skipped(void **unused)
{
	struct entry outer = entry_at(3000), skipped = entry_at(2000), next = entry_at(2500);
	uint32_t first;

	(void)unused;
	first = thread_enter(&thread, &outer);
	thread_enter(&thread, &skipped);
	/* Entered again from above it: the skipped one cannot be there any more. */
	assert_int_equal(thread_enter(&thread, &next), 1);
	assert_int_equal(thread.depth, 2);
	assert_int_equal(thread.entries[1].instance, 2500);
	thread_leave(&thread, first);
	assert_int_equal(thread.depth, 0);
}

static void fibers_are_never_stale(void **unused)
{
	struct entry fiber = entry_at(100), next = entry_at(2500);

	(void)unused;
	fiber.flags = ENTRY_FIBER;
	thread_enter(&thread, &fiber);
	thread_enter(&thread, &next);
	assert_int_equal(thread.depth, 2);
}

static void too_deep_is_counted_and_survived(void **unused)
{
	unsigned long long before = stat_get(STAT_ENTRIES_TOO_DEEP);
	uint32_t depths[ENTRY_DEPTH + 10];

	(void)unused;
	for (uint32_t i = 0; i < ARRAY_SIZE(depths); i++) {
		struct entry entry = entry_at(3000 - i * 10);

		depths[i] = thread_enter(&thread, &entry);
		assert_int_equal(depths[i], i);
	}
	assert_int_equal(stat_get(STAT_ENTRIES_TOO_DEEP) - before, 10);
	assert_int_equal(thread.entries[ENTRY_DEPTH - 1].instance, 3000 - (ENTRY_DEPTH - 1) * 10);
	for (uint32_t i = ARRAY_SIZE(depths); i-- > 0;)
		thread_leave(&thread, depths[i]);
	assert_int_equal(thread.depth, 0);
}

static void the_call_out_below_is_noted(void **unused)
{
	static uint64_t context[32];
	struct exit_layout layout = { .exit_fp = 0, .exit_pc = 8, .entry_fp = 16 };
	struct entry outer = entry_at(STACK_WORDS - 32), inner;

	(void)unused;
	layout.exit_fp_is_trampoline = true;
	atomic_init(&layout.offset, 64);
	outer.context = (uintptr_t)context;
	outer.layout = &layout;
	thread_enter(&thread, &outer);
	assert_int_equal(thread.entries[0].outer_pc, 0);

	synthetic_call(&s, 0x1234, 4);
	context[8 + 2] = s.fp;
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 2);
	synthetic_call(&s, synthetic_pc(&s, CODE_OUTER), 2);
	context[8] = s.fp;
	context[8 + 1] = synthetic_pc(&s, CODE_OUTER);
	synthetic_call(&s, 0x5678, 10);
	inner = (struct entry){ .sp = synthetic_sp(&s) };
	assert_int_equal(thread_enter(&thread, &inner), 1);
	assert_true(thread.entries[1].outer_pc == synthetic_pc(&s, CODE_OUTER));
	assert_true(thread.entries[1].outer_fp == *(uint64_t *)context[8]);
	thread_leave(&thread, 1);

	/* Not before it is learned. */
	atomic_store(&layout.offset, -1);
	thread_enter(&thread, &inner);
	assert_int_equal(thread.entries[1].outer_pc, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		CASE(enter_and_leave_nest),	   CASE(leave_drops_what_a_longjmp_skipped),
		CASE(fibers_are_never_stale),	   CASE(too_deep_is_counted_and_survived),
		CASE(the_call_out_below_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
