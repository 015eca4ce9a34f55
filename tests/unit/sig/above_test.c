/* SPDX-License-Identifier: MIT */
/* above_test.c - whole stacks: what a sample carries of the host's frames above the guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/sig/sample.h"
#include "tests/unit/sig/handled.h"

enum { FIBER_WORDS = 2048 };

static uint64_t fiber[FIBER_WORDS] __attribute__((aligned(4096)));

static int setup(void **unused)
{
	(void)unused;
	handled_setup(true);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	handled_teardown();
	return 0;
}

static const struct sample *tick_with(const ucontext_t *context)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = &blocks[0];
	handler_on_signal(SIGPROF, &info, (void *)context);
	return atomic_load(&blocks[0].ring) != NULL ? ring_peek(atomic_load(&blocks[0].ring))
						    : NULL;
}

static const struct sample *tick_at(uintptr_t pc)
{
	ucontext_t context = synthetic_context(&s, pc);

	return tick_with(&context);
}

static size_t whole_size(const struct sample *sample)
{
	uint64_t address;
	size_t size;

	(void)sample_resumer(sample, &address, &size);
	return sizeof(*sample) + (sample->pc_count + SAMPLE_REGISTERS) * 8 + sample->slice_size +
	       (size != 0 ? 16 + size : 0);
}

/* From the frame that returns to the host, with what lies below it of saved registers, to the top.
 */
static void test_guest(void **unused)
{
	const struct sample *sample;
	uintptr_t entry_fp, start;

	(void)unused;
	synthetic_call(&s, 0x1234, 40);
	entry_fp = s.fp;
	synthetic_call(&s, PC(TRAMPOLINE), 200);
	synthetic_call(&s, PC(OUTER), 3);
	sample = tick_at(PC(LEAF));
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	assert_int_equal(sample->pc_count, 3);
	assert_true(sample->flags & SAMPLE_AT_ENTRY);
	assert_true(sample_registers(sample)[16] == PC(TRAMPOLINE));
	assert_true(sample_registers(sample)[6] == entry_fp);
	start = sample->slice_address;
	assert_true(sample_registers(sample)[7] == start);
	assert_true(start < entry_fp && start >= entry_fp - 256);
	assert_true(start + sample->slice_size == (uintptr_t)(s.stack + STACK_WORDS));
	assert_memory_equal(sample_slice(sample), (void *)start, sample->slice_size);
	assert_int_equal(sample->size, whole_size(sample));
}

/* Where the chain says nothing the unwinder begins with the leaf. */
static void test_leaf_at_the_edge(void **unused)
{
	const struct sample *sample;

	(void)unused;
	synthetic_push(&s, 0x1234);
	sample = tick_at(PC(RET)); /* the next instruction is in the host */
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	assert_false(sample->flags & SAMPLE_AT_ENTRY);
	assert_true(sample_registers(sample)[16] == PC(RET));
	assert_true(sample->slice_address == synthetic_sp(&s));
	assert_true(sample->slice_address + sample->slice_size ==
		    (uintptr_t)(s.stack + STACK_WORDS));
}

static void test_host(void **unused)
{
	const struct sample *sample;

	(void)unused;
	blocks[0].had_guest = true;
	synthetic_guest(&s);
	synthetic_call(&s, 0x5678, 20);
	sample = tick_at(0x5600);
	assert_int_equal(sample->kind, SAMPLE_HOST);
	assert_true(sample->slice_address == synthetic_sp(&s));
	assert_true(sample->slice_address + sample->slice_size ==
		    (uintptr_t)(s.stack + STACK_WORDS));
}

static void test_off(void **unused)
{
	const struct sample *sample;

	(void)unused;
	handler_setup.whole_stacks = false;
	synthetic_guest(&s);
	sample = tick_at(PC(LEAF));
	assert_null(sample_registers(sample));
	assert_int_equal(sample->size, sizeof(*sample) + sample->pc_count * 8);
}

/* A guest on the fiber: trampoline, leaf. */
static ucontext_t on_fiber(void)
{
	ucontext_t context = synthetic_context(&s, PC(LEAF));
	uint64_t *entry = &fiber[FIBER_WORDS - 64], *leaf = entry - 16;

	entry[0] = 0;
	entry[1] = 0x1234;
	leaf[0] = (uintptr_t)entry;
	leaf[1] = PC(TRAMPOLINE);
	context.uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)leaf;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(leaf - 4);
	return context;
}

static void test_fiber(void **unused)
{
	struct entry entry = { .sp = (uintptr_t)&s.stack[STACK_WORDS - 32], .flags = ENTRY_FIBER };
	ucontext_t context = on_fiber();
	const struct sample *sample;
	uint64_t address;
	size_t size;

	(void)unused;
	thread_enter(&blocks[0], &entry);
	/* First around the wrapper that polls; our thread is woken to find the very place. */
	sample = tick_with(&context);
	assert_int_equal(sample->pc_count, 2);
	assert_true(sample->flags & SAMPLE_FIBER);
	assert_non_null(sample_resumer(sample, &address, &size));
	assert_true(address <= entry.sp && address + size == (uintptr_t)(s.stack + STACK_WORDS));
	assert_memory_equal(sample_resumer(sample, &address, &size), (void *)address, size);
	assert_int_equal(sample->size, whole_size(sample));
	ring_release(atomic_load(&blocks[0].ring), sample);
	/* Then from there on. */
	thread_note_resumer(&blocks[0], (uintptr_t)&s.stack[1000]);
	sample = tick_with(&context);
	assert_non_null(sample_resumer(sample, &address, &size));
	assert_true(address <= (uintptr_t)&s.stack[1000] && address >= (uintptr_t)&s.stack[900]);
	assert_true(address + size == (uintptr_t)(s.stack + STACK_WORDS));
}

static void test_resumer_is_on_the_stack(void **unused)
{
	(void)unused;
	thread_note_resumer(&blocks[0], 0x1000);
	assert_int_equal(atomic_load(&blocks[0].resumer_sp), 0);
	thread_note_resumer(&blocks[0], 0);
	assert_int_equal(atomic_load(&blocks[0].resumer_sp), 0);
	thread_note_resumer(&blocks[0], (uintptr_t)&s.stack[100]);
	assert_true(atomic_load(&blocks[0].resumer_sp) == (uintptr_t)&s.stack[100]);
	/* What is copied from there reaches that far. */
	thread_note_resumer(&blocks[0], (uintptr_t)&s.stack[300]);
	assert_true(atomic_load(&blocks[0].resumer_sp) == (uintptr_t)&s.stack[100]);
	atomic_store(&blocks[0].resumer_sp, 0);
	/* Bounds that nobody knows exclude nothing. */
	atomic_store(&blocks[0].stack_end, 0);
	thread_note_resumer(&blocks[0], (uintptr_t)&fiber[0]);
	assert_true(atomic_load(&blocks[0].resumer_sp) == (uintptr_t)&fiber[0]);
}

/* No entry, no hint: our thread is asked, a few times at most. */
static void test_unknown_resumer(void **unused)
{
	ucontext_t context = on_fiber();
	int woken = atomic_load(&wake_word), i;

	(void)unused;
	for (i = 0; i < 20; i++) {
		const struct sample *sample = tick_with(&context);

		assert_false(sample->flags & SAMPLE_RESUMER);
		ring_release(atomic_load(&blocks[0].ring), sample);
	}
	assert_in_range(atomic_load(&wake_word) - woken, 1, 8);
}

/* The fiber's own frames point to where it was resumed: the lowest such place counts. */
static void test_resumer_by_pointer(void **unused)
{
	ucontext_t context = on_fiber();
	const struct sample *sample;
	uint64_t address;
	size_t size;

	(void)unused;
	fiber[FIBER_WORDS - 20] = (uintptr_t)&s.stack[2000];
	fiber[FIBER_WORDS - 10] = (uintptr_t)&s.stack[1700];
	fiber[FIBER_WORDS - 5] = (uintptr_t)&s.stack[1900];
	sample = tick_with(&context);
	assert_non_null(sample_resumer(sample, &address, &size));
	assert_true(address <= (uintptr_t)&s.stack[1700] && address >= (uintptr_t)&s.stack[1600]);
	assert_true(address + size == (uintptr_t)(s.stack + STACK_WORDS));
	assert_int_equal(sample->size, whole_size(sample));
	memset(fiber, 0, sizeof(fiber));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_guest),
		TEST(test_leaf_at_the_edge),
		TEST(test_host),
		TEST(test_off),
		TEST(test_fiber),
		TEST(test_resumer_is_on_the_stack),
		TEST(test_unknown_resumer),
		TEST(test_resumer_by_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
