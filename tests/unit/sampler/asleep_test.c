/* SPDX-License-Identifier: MIT */
/* asleep_test.c - stacks made by hand become samples: with an exit record, without, damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/sampler/asleep.h"
#include "preload/sig/exitrec.h"
#include "tests/unit/sig/synthetic.h"

enum { EXIT_FP = 0, EXIT_PC = 8, ENTRY_FP = 16, RECORD_AT = 64, LIBC = 0x4242 };

static struct synthetic s;
static struct thread thread;
static struct exit_layout layout;
static uint64_t context[EXIT_SEARCH_SIZE / 8 + 8];

static uintptr_t chain[3]; /* where the guest called out, and its callers */

/* host wrapper -> trampoline -> outer -> inner -> host function, asleep; the record says so. */
static int setup(void **unused)
{
	uintptr_t entry_fp, wrapper;

	(void)unused;
	synthetic_init(&s);
	ranges_publish(s.ranges);
	memset(&thread, 0, sizeof(thread));
	memset(context, 0, sizeof(context));
	synthetic_push(&s, 0);
	wrapper = synthetic_sp(&s);
	s.top -= 8;
	synthetic_call(&s, 0x1234, 4);
	entry_fp = s.fp;
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 2);
	synthetic_call(&s, synthetic_pc(&s, CODE_OUTER), 3);
	context[(RECORD_AT + EXIT_FP) / 8] = s.fp;
	context[(RECORD_AT + EXIT_PC) / 8] = synthetic_pc(&s, CODE_INNER);
	context[(RECORD_AT + ENTRY_FP) / 8] = entry_fp;
	synthetic_push(&s, synthetic_pc(&s, CODE_INNER));
	s.top -= 20; /* the host function's */
	layout = (struct exit_layout){ .exit_fp = EXIT_FP,
				       .exit_pc = EXIT_PC,
				       .entry_fp = ENTRY_FP,
				       .offset = RECORD_AT,
				       .candidate = -1 };
	thread.depth = 1;
	thread.entries[0] = (struct entry){
		.sp = wrapper, .context = (uintptr_t)context, .layout = &layout, .instance = 7
	};
	thread.stack_start = (uintptr_t)s.stack;
	thread.stack_end = (uintptr_t)s.stack + sizeof(s.stack);
	chain[0] = synthetic_pc(&s, CODE_INNER);
	chain[1] = synthetic_pc(&s, CODE_OUTER);
	chain[2] = synthetic_pc(&s, CODE_TRAMPOLINE);
	return 0;
}

static struct sample *take(bool whole)
{
	struct sample *sample = NULL;

	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, whole, &sample),
			 ASLEEP_TAKEN);
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_int_equal(sample->generation, s.ranges->generation);
	assert_int_equal(sample->size, sizeof(*sample) + (sample->pc_count + SAMPLE_REGISTERS) * 8 +
					       sample->slice_size);
	assert_int_equal(sample->slice_address, synthetic_sp(&s));
	assert_memory_equal(sample_slice(sample), (void *)synthetic_sp(&s), sample->slice_size);
	assert_int_equal(sample_registers(sample)[7], synthetic_sp(&s));
	assert_int_equal(sample_registers(sample)[16], LIBC);
	assert_int_equal(sample_registers(sample)[6], 0);
	return sample;
}

static void expect_chain(const struct sample *sample)
{
	assert_int_equal(sample->pc_count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sample_pcs(sample)[i], chain[i]);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD);
	assert_int_equal(sample->instance, 7);
}

static void the_exit_record_gives_the_guest(void **unused)
{
	struct sample *sample;

	(void)unused;
	sample = take(false);
	expect_chain(sample);
	/* The host's part and some more, but not all. */
	assert_true(sample->slice_address + sample->slice_size > s.fp);
	assert_true(sample->slice_size < 1024);
}

static void whole_stacks_reach_to_the_top(void **unused)
{
	struct sample *sample;

	(void)unused;
	sample = take(true);
	expect_chain(sample);
	assert_int_equal(sample->slice_address + sample->slice_size, thread.stack_end);
}

static void through_the_exit_trampoline(void **unused)
{
	struct sample *sample;
	uint64_t trampoline_fp;

	(void)unused;
	/* The host's trampoline pushed the guest's frame pointer below the return address. */
	s.top += 20;
	synthetic_push(&s, s.fp);
	trampoline_fp = synthetic_sp(&s);
	s.top -= 20;
	layout.exit_fp_is_trampoline = true;
	context[(RECORD_AT + EXIT_FP) / 8] = trampoline_fp;
	expect_chain(take(false));
	/* Another word has taken the return address's place: the guest is not there any more. */
	s.stack[(trampoline_fp + 8 - (uintptr_t)s.stack) / 8] = 0x77;
	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, false, &sample),
			 ASLEEP_NO_GUEST);
}

static void a_record_of_another_time(void **unused)
{
	struct sample *sample;

	(void)unused;
	/* The chain does not end where the record says that the host came in. */
	context[(RECORD_AT + ENTRY_FP) / 8] += 16;
	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, false, &sample),
			 ASLEEP_NO_GUEST);
	/* Below the stack pointer, or above the wrapper: of a call that is over. */
	context[(RECORD_AT + ENTRY_FP) / 8] = thread.entries[0].sp + 8;
	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, false, &sample),
			 ASLEEP_NO_GUEST);
	context[(RECORD_AT + EXIT_FP) / 8] = synthetic_sp(&s) - 64;
	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, false, &sample),
			 ASLEEP_NO_GUEST);
}

static void without_a_record_the_stack_must_tell(void **unused)
{
	struct sample *sample;
	uint64_t words[64];
	bool found = false;

	(void)unused;
	layout.offset = EXIT_NOT_LEARNED;
	sample = take(false);
	assert_int_equal(sample->pc_count, 0);
	assert_int_equal(sample->flags, 0);
	assert_true(sample->slice_size <= sizeof(words));
	assert_int_equal(sample->slice_address + sample->slice_size, thread.entries[0].sp);
	memcpy(words, sample_slice(sample), sample->slice_size);
	for (size_t i = 0; i < sample->slice_size / 8; i++)
		found |= words[i] == chain[2];
	assert_true(found);
}

static void a_stack_without_a_guest(void **unused)
{
	struct sample *sample;

	(void)unused;
	layout.offset = EXIT_NOT_LEARNED;
	s.ranges->range[0].start = s.ranges->range[0].end - 1;
	assert_int_equal(asleep_take(&thread, synthetic_sp(&s), LIBC, false, &sample),
			 ASLEEP_NO_GUEST);
}

/* The host function calls a guest again, which calls a host function that sleeps. */
static struct entry *enter_again(void)
{
	static uint64_t inner_context[32];
	struct entry *inner = &thread.entries[1];
	uintptr_t entry_fp;

	*inner = thread.entries[0];
	inner->sp = synthetic_sp(&s);
	inner->context = (uintptr_t)inner_context;
	inner->instance = 8;
	inner->outer_pc = chain[0];
	inner->outer_fp = context[(RECORD_AT + EXIT_FP) / 8];
	thread.depth = 2;
	s.fp = 0;
	synthetic_call(&s, 0x1234, 2);
	entry_fp = s.fp;
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 4);
	inner_context[(RECORD_AT + EXIT_FP) / 8] = s.fp;
	inner_context[(RECORD_AT + EXIT_PC) / 8] = synthetic_pc(&s, CODE_LEAF);
	inner_context[(RECORD_AT + ENTRY_FP) / 8] = entry_fp;
	s.top -= 8;
	return inner;
}

static void the_activation_below(void **unused)
{
	const struct sample *sample;

	(void)unused;
	enter_again();
	sample = take(false);
	assert_int_equal(sample->instance, 8);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD);
	assert_int_equal(sample->pc_count, 6);
	assert_int_equal(sample_pcs(sample)[0], synthetic_pc(&s, CODE_LEAF));
	assert_int_equal(sample_pcs(sample)[1], synthetic_pc(&s, CODE_TRAMPOLINE));
	assert_int_equal(sample_pcs(sample)[2], 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sample_pcs(sample)[3 + i], chain[i]);
}

/* The place was not known yet when the inner activation began. */
static void the_record_of_then_was_not_read(void **unused)
{
	struct entry *inner = enter_again();
	const struct sample *sample;

	(void)unused;
	inner->outer_pc = inner->outer_fp = 0;
	sample = take(false);
	assert_int_equal(sample->pc_count, 0);
	assert_int_equal(sample->slice_address + sample->slice_size, thread.entries[0].sp);
}

static void both_activations_without_records(void **unused)
{
	struct entry *inner = enter_again();
	const struct sample *sample;

	(void)unused;
	inner->layout = NULL;
	sample = take(false);
	assert_int_equal(sample->pc_count, 0);
	assert_int_equal(sample->flags, 0);
	assert_int_equal(sample->slice_address + sample->slice_size, thread.entries[0].sp);
}

/* Two stacks that agree settle where the record is; then it is read. */
static void the_record_s_place_is_learned(void **unused)
{
	(void)unused;
	layout.offset = EXIT_NOT_LEARNED;
	assert_int_equal(take(false)->pc_count, 0);
	assert_false(exitrec_is_learned(&layout));
	assert_int_equal(take(false)->pc_count, 0);
	expect_chain(take(false));
	assert_int_equal(atomic_load(&layout.offset), RECORD_AT);
}

static void an_entry_that_was_jumped_over(void **unused)
{
	struct sample *sample;

	(void)unused;
	thread.entries[1] = thread.entries[0];
	thread.entries[1].sp = synthetic_sp(&s) - 64;
	thread.entries[1].instance = 9;
	thread.depth = 2;
	sample = take(false);
	expect_chain(sample);
}

static void stacks_that_end_early(void **unused)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sample *sample;

	(void)unused;
	/* A fiber: its stack is elsewhere, and above it is nothing. */
	munmap(pages + 4096, 4096);
	thread.entries[0].flags = ENTRY_FIBER;
	layout.offset = EXIT_NOT_LEARNED;
	*(uint64_t *)(void *)(pages + 4096 - 64) = chain[1];
	assert_int_equal(asleep_take(&thread, (uintptr_t)pages + 2048, LIBC, false, &sample),
			 ASLEEP_TAKEN);
	assert_int_equal(sample->slice_size, 2048);
	assert_true((sample->flags & SAMPLE_FIBER) != 0);
	assert_int_equal(asleep_take(&thread, (uintptr_t)pages + 4096, LIBC, false, &sample),
			 ASLEEP_UNREADABLE);
	assert_int_equal(asleep_take(&thread, (uintptr_t)pages + 5, LIBC, false, &sample),
			 ASLEEP_UNREADABLE);
	munmap(pages, 4096);
}

static void chains_that_make_no_sense(void **unused)
{
	struct sample *sample;
	uintptr_t inner_fp = context[(RECORD_AT + EXIT_FP) / 8];

	(void)unused;
	/* The frame pointer leads down: the chain is cut there, and said to be. */
	s.stack[(inner_fp - (uintptr_t)s.stack) / 8] = inner_fp - 64;
	sample = take(false);
	assert_int_equal(sample->pc_count, 1);
	assert_int_equal(sample->flags, SAMPLE_EXIT_RECORD | SAMPLE_TRUNCATED);
	/* Into the void. */
	s.stack[(inner_fp - (uintptr_t)s.stack) / 8] = UINT64_C(0x7fffffff0000);
	assert_int_equal(take(false)->flags, SAMPLE_EXIT_RECORD | SAMPLE_TRUNCATED);
	/* A store that is gone. */
	thread.entries[0].context = 4096;
	assert_int_equal(take(false)->pc_count, 0);
	thread.depth = 1000;
	assert_true((take(false)->flags & SAMPLE_TRUNCATED) != 0);
}

/* An interpreted guest has no frames: its entry is all there is. */
static void the_entry_of_an_interpreted_guest(void **unused)
{
	struct sample *sample;

	(void)unused;
	thread.entries[0].flags = ENTRY_INTERPRETED;
	thread.entries[1] = (struct entry){
		.sp = synthetic_sp(&s) + 64, .instance = 7, .flags = ENTRY_CALLED_OUT, .call = 3
	};
	thread.depth = 2;
	sample = take(false);
	assert_int_equal(sample->flags, SAMPLE_FRAMELESS);
	assert_int_equal(sample->instance, 7);
	assert_int_equal(sample->slice_size, 0);
	assert_int_equal(sample->pc_count, 3);
	assert_true(sample_pcs(sample)[0] == (SAMPLE_CALL | 3));
	assert_true(sample_pcs(sample)[1] == (SAMPLE_ENTRY | 7));
	assert_true(sample_pcs(sample)[2] == (SAMPLE_MARK | thread.entries[1].sp));
	assert_int_not_equal(take(true)->slice_size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_exit_record_gives_the_guest, setup),
		cmocka_unit_test_setup(whole_stacks_reach_to_the_top, setup),
		cmocka_unit_test_setup(through_the_exit_trampoline, setup),
		cmocka_unit_test_setup(a_record_of_another_time, setup),
		cmocka_unit_test_setup(without_a_record_the_stack_must_tell, setup),
		cmocka_unit_test_setup(a_stack_without_a_guest, setup),
		cmocka_unit_test_setup(the_activation_below, setup),
		cmocka_unit_test_setup(the_record_of_then_was_not_read, setup),
		cmocka_unit_test_setup(both_activations_without_records, setup),
		cmocka_unit_test_setup(the_record_s_place_is_learned, setup),
		cmocka_unit_test_setup(an_entry_that_was_jumped_over, setup),
		cmocka_unit_test_setup(the_entry_of_an_interpreted_guest, setup),
		cmocka_unit_test_setup(stacks_that_end_early, setup),
		cmocka_unit_test_setup(chains_that_make_no_sense, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
