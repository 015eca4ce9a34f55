/* SPDX-License-Identifier: MIT */
/* exitrec_test.c - learning the record's place, and believing it only when it fits the stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/sig/exitrec.h"
#include "tests/unit/sig/synthetic.h"

enum { RECORD = 0x468 / 8, EXIT_FP = 48, EXIT_PC = 56, ENTRY_FP = 72, TRAMPOLINE_FP = 0x7000 };

static struct synthetic s;
static uint64_t context[0xb00 / 8];
static struct exit_layout layout;
static struct entry entry;
static struct reach reach;

static int setup(void **unused)
{
	(void)unused;
	synthetic_init(&s);
	memset(context, 0, sizeof(context));
	layout = (struct exit_layout){ .exit_fp = EXIT_FP,
				       .exit_pc = EXIT_PC,
				       .entry_fp = ENTRY_FP };
	layout.exit_fp_is_trampoline = true;
	atomic_init(&layout.offset, -1);
	atomic_init(&layout.candidate, -1);
	entry = (struct entry){ .sp = (uintptr_t)&s.stack[STACK_WORDS - 32] };
	entry.context = (uintptr_t)context;
	entry.layout = &layout;
	reach = (struct reach){ .page = 1 };
	return 0;
}

static void learn(uintptr_t fp)
{
	context[RECORD + ENTRY_FP / 8] = fp;
	exitrec_learn(&entry, &reach, s.ranges, fp);
}

static void two_samples_must_agree(void **unused)
{
	(void)unused;
	learn(TRAMPOLINE_FP);
	assert_false(exitrec_is_learned(&layout));
	learn(TRAMPOLINE_FP + 0x100);
	assert_true(exitrec_is_learned(&layout));
	assert_int_equal(atomic_load(&layout.offset), RECORD * 8);
}

static void coincidence_is_not_believed(void **unused)
{
	(void)unused;
	context[7 + ENTRY_FP / 8] = TRAMPOLINE_FP;
	exitrec_learn(&entry, &reach, s.ranges, TRAMPOLINE_FP);
	context[7 + ENTRY_FP / 8] = 0;
	learn(TRAMPOLINE_FP);
	assert_false(exitrec_is_learned(&layout));
	learn(TRAMPOLINE_FP);
	assert_int_equal(atomic_load(&layout.offset), RECORD * 8);
}

static void record_without_guest_code_is_passed_over(void **unused)
{
	(void)unused;
	/* The same word elsewhere, but what would be its exit pc is no guest code. */
	context[20 + ENTRY_FP / 8] = TRAMPOLINE_FP;
	context[20 + EXIT_PC / 8] = 0x1234;
	context[20 + EXIT_FP / 8] = 0x6000;
	context[RECORD + EXIT_PC / 8] = synthetic_pc(&s, CODE_INNER);
	context[RECORD + EXIT_FP / 8] = 0x6000;
	learn(TRAMPOLINE_FP);
	learn(TRAMPOLINE_FP);
	assert_int_equal(atomic_load(&layout.offset), RECORD * 8);
}

static void several_places_for_long_are_hopeless(void **unused)
{
	(void)unused;
	context[20 + ENTRY_FP / 8] = TRAMPOLINE_FP;
	for (int i = 0; i < 1000; i++)
		learn(TRAMPOLINE_FP);
	assert_false(exitrec_is_learned(&layout));
	assert_true(atomic_load(&layout.hopeless));
}

static void unreadable_context_teaches_nothing(void **unused)
{
	const uintptr_t hostile[] = { 0, 1, 0x1000, 0x8000000000000000u, UINTPTR_MAX - 0x800 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		entry.context = hostile[i];
		exitrec_learn(&entry, &reach, s.ranges, TRAMPOLINE_FP);
		exitrec_learn(&entry, &reach, s.ranges, TRAMPOLINE_FP);
		assert_false(exitrec_is_learned(&layout));
	}
	entry.context = (uintptr_t)context;
	entry.layout = NULL;
	exitrec_learn(&entry, &reach, s.ranges, TRAMPOLINE_FP);
}

/* A guest that called out: the exit trampoline's frame holds the guest's rbp and the exit pc. */
static struct exit_record guest_calls_out(void)
{
	struct exit_record expected;

	synthetic_call(&s, 0x1234, 4);
	expected.entry_fp = s.fp;
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 2);
	expected.fp = s.fp;
	expected.pc = synthetic_pc(&s, CODE_OUTER);
	synthetic_call(&s, expected.pc, 2);
	expected.frame = s.fp;
	synthetic_call(&s, 0x5678, 20); /* the host's function */
	context[RECORD + EXIT_FP / 8] = expected.frame;
	context[RECORD + EXIT_PC / 8] = expected.pc;
	context[RECORD + ENTRY_FP / 8] = expected.entry_fp;
	atomic_store(&layout.offset, RECORD * 8);
	return expected;
}

static enum exit_state read_record(struct exit_record *record)
{
	return exitrec_read(&entry, &reach, synthetic_sp(&s), record);
}

static void a_call_out_is_found(void **unused)
{
	struct exit_record expected = guest_calls_out(), record;

	(void)unused;
	assert_int_equal(read_record(&record), EXIT_FOUND);
	assert_memory_equal(&record, &expected, sizeof(record));
	/* wasmtime up to 36: the record holds the guest's own frame pointer. */
	layout.exit_fp_is_trampoline = false;
	context[RECORD + EXIT_FP / 8] = expected.fp;
	assert_int_equal(read_record(&record), EXIT_FOUND);
	assert_true(record.fp == expected.fp && record.frame == expected.fp);
}

static void not_learned_is_unknown(void **unused)
{
	struct exit_record record;

	(void)unused;
	guest_calls_out();
	atomic_store(&layout.offset, -1);
	assert_int_equal(read_record(&record), EXIT_UNKNOWN);
	atomic_store(&layout.offset, RECORD * 8);
	entry.context = 0x10000;
	assert_int_equal(read_record(&record), EXIT_UNKNOWN);
	entry.context = 0;
	assert_int_equal(read_record(&record), EXIT_UNKNOWN);
	entry.layout = NULL;
	assert_int_equal(read_record(&record), EXIT_UNKNOWN);
}

static void record_of_a_returned_call_is_refused(void **unused)
{
	struct exit_record record;
	uintptr_t frame = guest_calls_out().frame;

	(void)unused;
	/* The stack has shrunk above it. */
	assert_int_equal(exitrec_read(&entry, &reach, frame, &record), EXIT_NONE);
	/* Other frames lie where it was. */
	((uint64_t *)frame)[1] = 0x9999;
	assert_int_equal(read_record(&record), EXIT_NONE);
	((uint64_t *)frame)[1] = context[RECORD + EXIT_PC / 8];
	assert_int_equal(read_record(&record), EXIT_FOUND);
	/* Entered below the wrapper of this activation: another one's. */
	entry.sp = frame;
	assert_int_equal(read_record(&record), EXIT_NONE);
	entry.flags = ENTRY_FIBER;
	assert_int_equal(read_record(&record), EXIT_FOUND);
	context[RECORD + EXIT_FP / 8] = 0; /* after a trap */
	assert_int_equal(read_record(&record), EXIT_NONE);
}

static void garbage_in_the_record_is_refused(void **unused)
{
	const uint64_t garbage[] = {
		0, 1, 0x1000, 0x8000000000000000u, UINT64_MAX - 7, UINT64_MAX
	};
	struct exit_record record;

	(void)unused;
	guest_calls_out();
	entry.flags = ENTRY_FIBER;
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		context[RECORD + EXIT_FP / 8] = garbage[i];
		assert_int_equal(read_record(&record), EXIT_NONE);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		CASE(two_samples_must_agree),
		CASE(coincidence_is_not_believed),
		CASE(record_without_guest_code_is_passed_over),
		CASE(several_places_for_long_are_hopeless),
		CASE(unreadable_context_teaches_nothing),
		CASE(a_call_out_is_found),
		CASE(not_learned_is_unknown),
		CASE(record_of_a_returned_call_is_refused),
		CASE(garbage_in_the_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
