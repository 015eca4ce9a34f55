/* SPDX-License-Identifier: MIT */
/* frameless_test.c - ticks while a guest is interpreted: what stands for it, and for what it
 * called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/sig/frameless.h"
#include "preload/sig/handler.h"
#include "preload/sig/sample.h"
#include "preload/sig/tick.h"
#include "tests/unit/sig/synthetic.h"

enum { LIBC = 0x4242, NAME = 5 };

static struct synthetic s;
static struct thread thread;
static uint64_t room[(SAMPLE_LARGEST + 64 * 1024 + 16) / 8];
static struct sample *const sample = (struct sample *)room;

static int setup(void **unused)
{
	(void)unused;
	synthetic_init(&s);
	memset(&thread, 0, sizeof(thread));
	atomic_store(&thread.stack_start, (uintptr_t)s.stack);
	atomic_store(&thread.stack_end, (uintptr_t)(s.stack + STACK_WORDS));
	handler_setup = (struct handler_setup){ .copy_slices = true };
	return 0;
}

static uintptr_t enter(uint32_t instance, uint32_t flags)
{
	uintptr_t sp = synthetic_sp(&s);
	struct entry entry = { .sp = sp, .instance = instance, .flags = flags, .call = NAME };

	thread_enter(&thread, &entry);
	s.top -= 16;
	return sp;
}

static void tick_at(uintptr_t pc)
{
	ucontext_t context = synthetic_context(&s, pc);
	struct tick tick = { .thread = &thread,
			     .context = &context,
			     .weight = 1,
			     .buffer = sample,
			     .ranges = s.ranges };

	sample->size = 0;
	tick_sample(&tick);
}

static void expect_words(size_t count, const uint64_t *words)
{
	assert_int_not_equal(sample->size, 0);
	assert_int_equal(sample->pc_count, count);
	assert_memory_equal(sample_pcs(sample), words, count * sizeof(*words));
}

#define EXPECT_WORDS(...)                                                    \
	expect_words(sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), \
		     (const uint64_t[]){ __VA_ARGS__ })

static void the_entry_is_all_there_is(void **unused)
{
	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	tick_at(LIBC);
	EXPECT_WORDS(SAMPLE_ENTRY | 70, SAMPLE_MARK);
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_int_equal(sample->flags, SAMPLE_FRAMELESS);
	assert_int_equal(sample->instance, 70);
	assert_int_equal(sample->slice_size, 0);
	thread_leave(&thread, 0);
	tick_at(LIBC);
	assert_int_equal(sample->size, 0);
}

static void a_host_call_comes_first(void **unused)
{
	uintptr_t call;

	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	call = enter(70, ENTRY_CALLED_OUT);
	tick_at(LIBC);
	EXPECT_WORDS(SAMPLE_CALL | NAME, SAMPLE_ENTRY | 70, SAMPLE_MARK | call);
	assert_int_equal(sample->instance, 70);
}

/* ... and the functions that called, no more than there is room for in the record. */
static void who_called_comes_between(void **unused)
{
	static struct called_from from = { .count = 3, .functions = { 5, 9, 7 } };
	uint64_t words[8];
	uintptr_t call;

	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	call = enter(70, ENTRY_CALLED_OUT);
	thread.entries[1].from = &from;
	tick_at(LIBC);
	EXPECT_WORDS(SAMPLE_CALL | NAME, SAMPLE_FUNCTION | 5, SAMPLE_FUNCTION | 9,
		     SAMPLE_FUNCTION | 7, SAMPLE_ENTRY | 70, SAMPLE_MARK | call);
	assert_false(sample_is_entry(SAMPLE_FUNCTION | 5) || sample_is_call(SAMPLE_FUNCTION | 5));
	assert_int_equal(frameless_append(words, 0, 3, &thread.entries[1], NULL), 3);
	from.count = UINT32_MAX; /* another thread is just writing it */
	assert_int_equal(frameless_append(words, 0, 8, &thread.entries[1], NULL), 8);
}

/* interpreted -> host -> interpreted, and the same without a wrapped host function */
static void activations_are_separated(void **unused)
{
	uintptr_t call, inner;

	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	call = enter(70, ENTRY_CALLED_OUT);
	inner = enter(71, ENTRY_INTERPRETED);
	enter(72, ENTRY_INTERPRETED);
	tick_at(LIBC);
	EXPECT_WORDS(SAMPLE_ENTRY | 72, SAMPLE_MARK, 0, SAMPLE_ENTRY | 71,
		     SAMPLE_MARK | thread.entries[3].sp, 0, SAMPLE_CALL | NAME, SAMPLE_ENTRY | 70,
		     SAMPLE_MARK | call);
	assert_true(inner < call);
}

/* A native guest's frames are found as ever, with the interpreted one behind them. */
static void native_guests_within(void **unused)
{
	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	enter(71, 0);
	synthetic_guest(&s);
	tick_at(synthetic_pc(&s, CODE_LEAF));
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	EXPECT_WORDS(synthetic_pc(&s, CODE_LEAF), synthetic_pc(&s, CODE_INNER),
		     synthetic_pc(&s, CODE_OUTER), synthetic_pc(&s, CODE_TRAMPOLINE), 0,
		     SAMPLE_ENTRY | 70, SAMPLE_MARK | thread.entries[1].sp);
}

static void whole_stacks_are_copied(void **unused)
{
	(void)unused;
	handler_setup.whole_stacks = true;
	enter(70, ENTRY_INTERPRETED);
	tick_at(LIBC);
	assert_int_equal(sample->flags, SAMPLE_FRAMELESS);
	assert_int_equal(sample->slice_address, synthetic_sp(&s));
	assert_int_equal(sample->slice_size, (uintptr_t)(s.stack + STACK_WORDS) - synthetic_sp(&s));
	assert_int_equal(sample_registers(sample)[16], LIBC);
}

/* A longjmp over the wrapper: the thread stands above its frame. */
static void stale_entries_count_no_more(void **unused)
{
	(void)unused;
	enter(70, ENTRY_INTERPRETED);
	s.top += 17;
	tick_at(LIBC);
	assert_int_equal(sample->size, 0);
}

static void words_are_told_apart(void **unused)
{
	const struct entry entry = { .instance = UINT32_MAX, .flags = ENTRY_INTERPRETED };
	uint64_t words[4] = { 1 };

	(void)unused;
	assert_true(sample_is_entry(SAMPLE_ENTRY | UINT32_MAX));
	assert_false(sample_is_call(SAMPLE_ENTRY | UINT32_MAX));
	assert_true(sample_is_call(SAMPLE_CALL | UINT32_MAX));
	assert_false(sample_is_entry(SAMPLE_CALL | UINT32_MAX));
	assert_false(sample_is_entry(SAMPLE_MARK | 70) || sample_is_call(SAMPLE_MARK | 70));
	assert_false(sample_is_marked(SAMPLE_ENTRY | 70) || sample_is_marked(SAMPLE_CALL | 70));
	/* nothing of it where not all of it has room */
	assert_int_equal(frameless_append(words, 1, 3, &entry, NULL), 1);
	assert_int_equal(frameless_append(words, 1, 4, &entry, NULL), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_entry_is_all_there_is, setup),
		cmocka_unit_test_setup(a_host_call_comes_first, setup),
		cmocka_unit_test_setup(who_called_comes_between, setup),
		cmocka_unit_test_setup(activations_are_separated, setup),
		cmocka_unit_test_setup(native_guests_within, setup),
		cmocka_unit_test_setup(whole_stacks_are_copied, setup),
		cmocka_unit_test_setup(stale_entries_count_no_more, setup),
		cmocka_unit_test_setup(words_are_told_apart, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
