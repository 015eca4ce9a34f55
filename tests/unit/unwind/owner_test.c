/* SPDX-License-Identifier: MIT */
/*
 * owner_test.c - whose instance, from code, stack, registers and engine memory made by hand.
 *
 *	host -> trampoline -> entered -> inner (leaf); entered keeps its context in a slot, inner in
 *	%rbx, which it saves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "preload/unwind/owner.h"
#include "preload/unwind/stores.h"

enum {
	TRAMPOLINE,
	ENTERED = 0x100,
	INNER = 0x200,
	CODE_SIZE = 0x300,
	MAGIC = 0x65726f63,
	WORDS = 64
};

static const struct context_layout good = {
	.entry_fp = 72, .magic = MAGIC, .self = -16, .record = 8, .types = 0x28
};
static uint8_t code[CODE_SIZE];
static const struct symbol symbols[] = {
	{ SYMBOL_ENTRY, 0, UINT32_MAX, 0, TRAMPOLINE, TRAMPOLINE + 32 },
	{ SYMBOL_GUEST, 0, 1, 1, ENTERED, ENTERED + 64 },
	{ SYMBOL_GUEST, 0, 2, 2, INNER, INNER + 64 },
};
static struct symtab_entry entry = {
	.id = 1, .text = (uintptr_t)code, .text_size = CODE_SIZE, .died = UINT64_MAX
};

const struct symtab_entry *symtab_find(const struct symtab *symtab, uintptr_t address,
				       uint64_t generation)
{
	(void)symtab, (void)generation;
	return address - (uintptr_t)code < CODE_SIZE ? &entry : NULL;
}

const struct symbol *module_find(const struct module *module, uint64_t offset)
{
	(void)module;
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		if (offset >= symbols[i].start && offset < symbols[i].end)
			return &symbols[i];
	return NULL;
}

/* ---- what a host looks like -------------------------------------------------------------------
 */

static uint64_t records[2][16], contexts[3][16]; /* contexts point to their 4th word */

static uint64_t record_at(int i)
{
	return (uint64_t)(uintptr_t)records[i];
}

static uint64_t context_at(int i)
{
	return (uint64_t)(uintptr_t)&contexts[i][4];
}

static void make_context(int i, int record)
{
	contexts[i][2] = context_at(i);
	contexts[i][4] = MAGIC;
	contexts[i][5] = record_at(record);
	contexts[i][9] = record_at(record); /* any pointer */
}

static void put_call(int at, int target)
{
	int32_t distance = target - (at + 5);

	code[at] = 0xe8;
	memcpy(&code[at + 1], &distance, sizeof(distance));
}

enum { TRAMPOLINE_CALL = 8, ENTERED_CALL = ENTERED + 13, INNER_BODY = INNER + 16 };

static void make_code(void)
{
	memset(code, 0x90, sizeof(code));
	memcpy(&code[TRAMPOLINE], "\x55\x48\x89\xe5\x48\x83\xec\x10", 8);
	put_call(TRAMPOLINE_CALL, ENTERED);
	/* mov %rdi, 8(%rsp) */
	memcpy(&code[ENTERED], "\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x89\x7c\x24\x08", 13);
	put_call(ENTERED_CALL, INNER);
	/* mov %rbx, 16(%rsp); mov %rdi, %rbx */
	memcpy(&code[INNER], "\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x89\x5c\x24\x10\x48\x89\xfb",
	       16);
}

/* One after the other, as in a ring. */
static uint64_t
	record_words[sizeof(struct sample) / 8 + 3 + sizeof(struct sample_anchor) / 8 + WORDS];
static struct {
	struct sample *sample;
	uint64_t *pcs;
	struct sample_anchor *anchor;
	uint64_t *stack;
} made;

enum { INNER_FP = 8, ENTERED_FP = 20, ENTRY_FP = 32 }; /* words of the stack */

static uint64_t stack_at(int word)
{
	return (uint64_t)(uintptr_t)&made.stack[word];
}

/* A sample in INNER of the instance at CONTEXT in store number NUMBER at RECORD. */
static struct sample *make_sample(uint64_t record, uint64_t number, uint64_t context)
{
	memset(record_words, 0, sizeof(record_words));
	made.sample = (struct sample *)record_words;
	made.pcs = made.sample->words;
	made.anchor = (struct sample_anchor *)(made.pcs + 3);
	made.stack = made.anchor->words;
	*made.sample = (struct sample){
		.size = sizeof(record_words),
		.kind = SAMPLE_GUEST,
		.flags = SAMPLE_NO_ENTRY | SAMPLE_ANCHOR,
		.pc_count = 3,
	};
	made.pcs[0] = (uintptr_t)code + INNER_BODY;
	made.pcs[1] = (uintptr_t)code + ENTERED_CALL + 5;
	made.pcs[2] = (uintptr_t)code + TRAMPOLINE_CALL + 5;
	*made.anchor = (struct sample_anchor){
		.record = record,
		.number = number,
		.entry_fp = stack_at(ENTRY_FP),
		.stack_address = stack_at(0),
		.stack_size = WORDS * 8,
	};
	made.anchor->registers[6] = stack_at(INNER_FP);
	made.anchor->registers[7] = stack_at(2);
	made.anchor->registers[3] = context; /* %rbx */
	made.stack[INNER_FP] = stack_at(ENTERED_FP);
	made.stack[INNER_FP + 1] = made.pcs[1];
	made.stack[ENTERED_FP] = stack_at(ENTRY_FP);
	made.stack[ENTERED_FP + 1] = made.pcs[2];
	made.stack[ENTERED_FP - 3] = context; /* -32 + 8 */
	return made.sample;
}

static int start(void **unused)
{
	(void)unused;
	make_code();
	memset(contexts, 0, sizeof(contexts));
	for (int i = 0; i < 3; i++)
		make_context(i, 0);
	stores_reset();
	owner_start(&good);
	return 0;
}

static struct owner ask(const struct sample *sample)
{
	struct owner owner;

	owner_of(NULL, sample, 1, &owner);
	return owner;
}

/* Numbers are known for good once stores in two places were seen in turn. */
static void settle(void)
{
	enum { WINDOW = SAMPLE_WINDOW_BELOW + SAMPLE_WINDOW_ABOVE };
	struct sample_anchor *anchor = calloc(1, sizeof(*anchor) + WINDOW);
	bool is_sure = false;

	assert_non_null(anchor);
	for (uint64_t number = 1; number < 20 && !is_sure; number++) {
		anchor->record = 0x10000 + number % 2 * 0x10000;
		anchor->window_size = WINDOW;
		anchor->window_address = anchor->record - SAMPLE_WINDOW_BELOW;
		anchor->words[0x350 / 8] = number;
		stores_of(anchor, number % 2, 1, &is_sure);
	}
	assert_true(is_sure);
	free(anchor);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void test_exact(void **unused)
{
	struct owner first, second, third;

	(void)unused;
	settle();
	first = ask(make_sample(record_at(0), 100, context_at(0)));
	assert_int_equal(first.certainty, OWNER_EXACT);
	assert_true(first.context == context_at(0));
	assert_int_equal(first.loading, 1);
	second = ask(make_sample(record_at(0), 100, context_at(1)));
	assert_int_equal(second.certainty, OWNER_EXACT);
	assert_true(second.context == context_at(1) && second.store == first.store);
	third = ask(make_sample(record_at(0), 101, context_at(1)));
	assert_true(third.store != first.store);
}

/* While it is not known where stores have their numbers. */
static void test_likely(void **unused)
{
	struct owner owner = ask(make_sample(record_at(0), 0, context_at(0)));

	(void)unused;
	assert_int_equal(owner.certainty, OWNER_LIKELY);
	assert_true(owner.context == context_at(0));
}

/* The leaf's register is another instance's, as after a call through a table: no direct call. */
static void test_other_segment(void **unused)
{
	struct owner owner;

	(void)unused;
	settle();
	make_sample(record_at(0), 100, context_at(0));
	made.anchor->registers[3] = context_at(1);
	memcpy(&code[ENTERED_CALL], "\x90\x90\x90\xff\xd0", 5); /* call *%rax */
	owner = ask(made.sample);
	assert_int_equal(owner.certainty, OWNER_EXACT);
	assert_true(owner.context == context_at(0));
}

/* Two homes of one segment that say different things: then nothing is said. */
static void test_conflict(void **unused)
{
	(void)unused;
	make_sample(record_at(0), 0, context_at(0));
	made.anchor->registers[3] = context_at(1);
	assert_int_equal(ask(made.sample).certainty, OWNER_NONE);
}

/* The home is not in the copy; but the store was entered once, and through one instance only. */
static void test_only(void **unused)
{
	struct owner owner;

	(void)unused;
	settle();
	ask(make_sample(record_at(0), 100, context_at(2)));
	make_sample(record_at(0), 100, 0);
	owner = ask(made.sample);
	assert_int_equal(owner.certainty, OWNER_LIKELY);
	assert_true(owner.context == context_at(2));
	/* in the host there are no frames to look at */
	made.sample->kind = SAMPLE_HOST;
	made.sample->pc_count = 0;
	made.sample->flags |= SAMPLE_ANCHOR;
	assert_true(sizeof(*made.sample) + SAMPLE_REGISTERS * 8 < sizeof(record_words));
	memmove((uint8_t *)made.sample->words + SAMPLE_REGISTERS * 8, made.anchor,
		sizeof(*made.anchor));
	((struct sample_anchor *)(made.sample->words + SAMPLE_REGISTERS))->entry_pc =
		(uintptr_t)code + TRAMPOLINE_CALL + 5;
	((struct sample_anchor *)(made.sample->words + SAMPLE_REGISTERS))->stack_size = 0;
	owner = ask(made.sample);
	assert_int_equal(owner.certainty, OWNER_LIKELY);
	assert_true(owner.context == context_at(2));
	/* a second instance: it could be either */
	ask(make_sample(record_at(0), 100, context_at(1)));
	assert_int_equal(ask(make_sample(record_at(0), 100, 0)).certainty, OWNER_NONE);
}

/* An engine that has something elsewhere: every offset, and the magic. */
static void test_shifted(void **unused)
{
	struct context_layout layouts[8];

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		layouts[i] = good;
	layouts[0].self += 8;
	layouts[1].self -= 8;
	layouts[2].record += 8;
	layouts[3].record -= 8;
	layouts[4].types += 8;
	layouts[5].types -= 8;
	layouts[6].magic++;
	layouts[7].magic = 0;
	contexts[0][10] = contexts[0][8] = 4; /* beside the pointer */
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		stores_reset();
		/* another context in another place for each, as what was a context once stays one
		 */
		make_context(0, 0);
		contexts[0][10] = contexts[0][8] = 4;
		owner_start(&layouts[i]);
		assert_int_equal(ask(make_sample(record_at(0), 0, context_at(0))).certainty,
				 OWNER_NONE);
	}
}

/* A context of another store, one of no instance, one that is gone, a word that is none. */
static void test_no_context(void **unused)
{
	(void)unused;
	make_context(0, 1);
	assert_int_equal(ask(make_sample(record_at(0), 0, context_at(0))).certainty, OWNER_NONE);
	make_context(1, 0);
	contexts[1][9] = 4;
	assert_int_equal(ask(make_sample(record_at(0), 0, context_at(1))).certainty, OWNER_NONE);
	assert_int_equal(ask(make_sample(record_at(0), 0, 8)).certainty, OWNER_NONE);
	assert_int_equal(ask(make_sample(record_at(0), 0, UINT64_MAX - 7)).certainty, OWNER_NONE);
	assert_int_equal(ask(make_sample(0x123450, 0, 0x7ffffffff000)).certainty, OWNER_NONE);
}

/* What the handler found to be a context is one, though it is gone by now. */
static void test_gone(void **unused)
{
	(void)unused;
	make_sample(record_at(0), 0, context_at(0));
	made.anchor->contexts[0] = context_at(0);
	memset(contexts[0], 0, sizeof(contexts[0]));
	assert_int_equal(ask(made.sample).certainty, OWNER_LIKELY);
}

/* Any stack, registers and pcs: bounded, and it ends. */
static void test_hostile(void **unused)
{
	(void)unused;
	srand(2);
	for (int i = 0; i < 20000; i++) {
		make_sample(record_at(0), 0, context_at(0));
		for (int k = 0; k < 6; k++) {
			uint64_t value = rand() % 2 ? stack_at(rand() % WORDS)
						    : (uint64_t)rand() << 32 ^ (uint64_t)rand();

			switch (rand() % 4) {
			case 0:
				made.stack[rand() % WORDS] = value;
				break;
			case 1:
				made.anchor->registers[rand() % 17] = value;
				break;
			case 2:
				made.anchor->entry_fp = value;
				break;
			default:
				made.pcs[rand() % 3] =
					(uintptr_t)code + (uint64_t)(rand() % CODE_SIZE);
			}
		}
		ask(made.sample);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_shifted, start),
		cmocka_unit_test_setup(test_no_context, start),
		cmocka_unit_test_setup(test_gone, start),
		cmocka_unit_test_setup(test_exact, start),
		cmocka_unit_test_setup(test_likely, start),
		cmocka_unit_test_setup(test_other_segment, start),
		cmocka_unit_test_setup(test_conflict, start),
		cmocka_unit_test_setup(test_only, start),
		cmocka_unit_test_setup(test_hostile, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
