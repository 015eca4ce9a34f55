/* SPDX-License-Identifier: MIT */
/* anchor_test.c - the store that a guest runs in, found from the frame of its entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/sig/anchor.h"
#include "tests/unit/sig/handled.h"

enum { MAGIC = 0x65726f63, PLACE = 0x48, RECORD = 0x600 / 8, STORE = 0x1000 / 8 };

static const struct context_layout good = {
	.entry_fp = 72, .magic = MAGIC, .self = -16, .record = 8, .types = 0x28
};
/* Of engines' memory: two stores with their records, and contexts. Far from the stack. */
static uint64_t *stores, *contexts;
static uintptr_t entry_fp;

static int setup(void **unused)
{
	(void)unused;
	handled_setup(false);
	stores = calloc(4, 0x1000);
	contexts = calloc(1, 0x1000);
	assert_true(stores != NULL && contexts != NULL);
	memset(&anchor_setup, 0, sizeof(anchor_setup));
	atomic_store(&anchor_setup.number_at, SAMPLE_NUMBER_UNKNOWN);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	handled_teardown();
	free(stores);
	free(contexts);
	return 0;
}

static uintptr_t record_of(int store)
{
	return (uintptr_t)&stores[store * STORE + RECORD];
}

static uintptr_t context_of(int i)
{
	return (uintptr_t)&contexts[i * 16 + 4];
}

/* A guest is in STORE, entered by a host that has the record's address PLACE above the entry. */
static void enter(int store, int place)
{
	s.top = STACK_WORDS - 200;
	s.fp = (uintptr_t)&s.stack[STACK_WORDS - 2];
	memset(s.stack, 0, sizeof(s.stack));
	synthetic_call(&s, 0x1234, 4);
	entry_fp = s.fp;
	*(uint64_t *)(entry_fp + (uintptr_t)place) = record_of(store);
	*(uint64_t *)(record_of(store) + 72) = entry_fp;
	synthetic_call(&s, PC(TRAMPOLINE), 2);
	synthetic_call(&s, PC(OUTER), 3);
}

static void make_context(int i, int store)
{
	uint64_t *context = (uint64_t *)context_of(i);

	context[-2] = context_of(i);
	context[0] = MAGIC;
	context[1] = record_of(store);
	context[5] = 0x5678;
}

static const struct sample *tick_with(const ucontext_t *context)
{
	struct ring *ring = atomic_load(&blocks[0].ring);
	const struct sample *sample;
	siginfo_t info;

	while (ring != NULL && (sample = ring_peek(ring)) != NULL)
		ring_release(ring, sample);
	memset(&info, 0, sizeof(info));
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = &blocks[0];
	handler_on_signal(SIGPROF, &info, (void *)context);
	ring = atomic_load(&blocks[0].ring);
	return ring != NULL ? ring_peek(ring) : NULL;
}

static const struct sample_anchor *tick(void)
{
	ucontext_t context = synthetic_context(&s, PC(LEAF));
	const struct sample *sample = tick_with(&context);

	assert_non_null(sample);
	assert_int_equal(sample->kind, SAMPLE_GUEST);
	assert_int_equal(sample->pc_count, 3);
	return sample_anchor(sample);
}

static void test_off(void **unused)
{
	(void)unused;
	enter(0, PLACE);
	assert_null(tick());
}

static void test_found(void **unused)
{
	const struct sample_anchor *anchor;
	const struct sample *sample;

	(void)unused;
	assert_true(anchor_start(&good));
	enter(0, PLACE);
	anchor = tick();
	assert_non_null(anchor);
	assert_true(anchor->record == record_of(0) && anchor->entry_fp == entry_fp);
	assert_true(anchor->stack_address == synthetic_sp(&s));
	assert_true(anchor->stack_size == entry_fp + ANCHOR_REACH - synthetic_sp(&s));
	assert_memory_equal(anchor->words, (void *)synthetic_sp(&s), anchor->stack_size);
	assert_int_equal(anchor->window_size, SAMPLE_WINDOW_BELOW + SAMPLE_WINDOW_ABOVE);
	assert_memory_equal(anchor->words + anchor->stack_size / 8,
			    (void *)(record_of(0) - SAMPLE_WINDOW_BELOW), anchor->window_size);
	assert_true(anchor->registers[6] == s.fp && anchor->registers[16] == PC(LEAF));
	sample = ring_peek(atomic_load(&blocks[0].ring));
	assert_int_equal(sample->size, (const uint8_t *)anchor - (const uint8_t *)sample +
					       sample_anchor_size(anchor));
	/* another store by the same call of the host; and the number instead of the window */
	stores[STORE + RECORD - 4] = 77;
	atomic_store(&anchor_setup.number_at, -32);
	enter(1, PLACE);
	anchor = tick();
	assert_true(anchor->record == record_of(1) && anchor->number == 77);
	assert_int_equal(anchor->window_size, 0);
	/* from another place in the host's code */
	enter(0, PLACE + 8);
	assert_true(tick()->record == record_of(0));
	assert_int_equal(atomic_load(&anchor_setup.records.at[0]), PLACE);
	assert_int_equal(atomic_load(&anchor_setup.records.at[1]), PLACE + 8);
}

/* The word that was there is another store's by now: no entry of it is at E. */
static void test_other_store(void **unused)
{
	(void)unused;
	anchor_start(&good);
	enter(0, PLACE);
	*(uint64_t *)(entry_fp + PLACE) = record_of(1);
	assert_null(tick());
	/* two of them that both claim E: nothing is said */
	*(uint64_t *)(record_of(1) + 72) = entry_fp;
	*(uint64_t *)(entry_fp + PLACE + 8) = record_of(0);
	assert_null(tick());
}

static void test_shifted(void **unused)
{
	(void)unused;
	for (int shift = -8; shift <= 8; shift += 16) {
		struct context_layout layout = good;

		memset(&anchor_setup, 0, sizeof(anchor_setup));
		layout.entry_fp += shift;
		anchor_start(&layout);
		enter(0, PLACE);
		assert_null(tick());
	}
}

/* A second engine of another layout is not looked for, and leaves the first as it is. */
static void test_two_engines(void **unused)
{
	struct context_layout other = good;

	(void)unused;
	other.entry_fp = 64;
	assert_true(anchor_start(&good));
	assert_true(anchor_start(&good));
	assert_false(anchor_start(&other));
	enter(0, PLACE);
	assert_non_null(tick());
}

static void test_hopeless(void **unused)
{
	(void)unused;
	anchor_start(&good);
	enter(0, PLACE);
	*(uint64_t *)(entry_fp + PLACE) = 0;
	for (int i = 0; i < ANCHOR_HOPELESS_AFTER; i++)
		assert_null(tick());
	enter(0, PLACE);
	assert_null(tick());
}

static void test_contexts(void **unused)
{
	ucontext_t context;
	const struct sample_anchor *anchor;

	(void)unused;
	anchor_start(&good);
	enter(0, PLACE);
	make_context(0, 0);
	make_context(1, 0);
	make_context(2, 1); /* another store's */
	make_context(3, 0);
	((uint64_t *)context_of(3))[5] = 4; /* no instance's */
	*(uint64_t *)(entry_fp + 0x80) = context_of(1);
	context = synthetic_context(&s, PC(LEAF));
	context.uc_mcontext.gregs[REG_RBX] = (greg_t)context_of(0);
	context.uc_mcontext.gregs[REG_RDI] = (greg_t)context_of(0);
	context.uc_mcontext.gregs[REG_R12] = (greg_t)context_of(2);
	context.uc_mcontext.gregs[REG_R13] = (greg_t)context_of(3);
	anchor = sample_anchor(tick_with(&context));
	assert_true(anchor->above == context_of(1));
	assert_true(anchor->contexts[0] == context_of(0) && anchor->contexts[1] == 0);
	/* two above: neither is known to be the one that was entered */
	memset(&anchor_setup.contexts, 0, sizeof(anchor_setup.contexts));
	*(uint64_t *)(entry_fp + 0x88) = context_of(0);
	assert_true(tick()->above == 0);
}

/* In the host, called from the guest. */
static void test_outside(void **unused)
{
	const struct sample_anchor *anchor;
	const struct sample *sample;
	ucontext_t context;

	(void)unused;
	anchor_start(&good);
	enter(0, PLACE);
	tick();
	synthetic_call(&s, PC(INNER), 6);
	context = synthetic_context(&s, 0x4000);
	sample = tick_with(&context);
	assert_non_null(sample);
	assert_int_equal(sample->kind, SAMPLE_HOST);
	anchor = sample_anchor(sample);
	assert_non_null(anchor);
	assert_true(anchor->record == record_of(0) && anchor->entry_fp == entry_fp);
	assert_true(anchor->entry_pc == PC(TRAMPOLINE));
	assert_int_equal(anchor->stack_size, 0);
	/* dead words of a guest that has returned: its record has another entry by now */
	*(uint64_t *)(record_of(0) + 72) = 0;
	sample = tick_with(&context);
	assert_non_null(sample);
	assert_null(sample_anchor(sample));
}

/* Where hosts say what they enter nothing is copied. */
static void test_entries(void **unused)
{
	(void)unused;
	anchor_start(&good);
	enter(0, PLACE);
	atomic_store(&thread_table.has_entries, true);
	assert_null(tick());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shifted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_engines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hopeless, setup, teardown),
		cmocka_unit_test_setup_teardown(test_contexts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
