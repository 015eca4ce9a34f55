/* SPDX-License-Identifier: MIT */
/* walk_test.c - chains on synthetic stacks: every leaf, every kind of broken frame pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/sig/reach.h"
#include "preload/sig/walk.h"
#include "tests/unit/sig/synthetic.h"

static struct synthetic s;
static struct reach reach;
static uint64_t pcs[64];
static struct walk walk;

static int setup(void **unused)
{
	(void)unused;
	synthetic_init(&s);
	walk = synthetic_walk(&s, &reach, pcs, ARRAY_SIZE(pcs));
	return 0;
}

static enum walk_end go(int offset)
{
	return walk_interrupted(&walk, synthetic_pc(&s, offset), s.fp, synthetic_sp(&s), true);
}

static void assert_chain(int leaf)
{
	assert_int_equal(walk.count, 4);
	assert_true(pcs[0] == synthetic_pc(&s, leaf));
	assert_true(pcs[1] == synthetic_pc(&s, CODE_INNER));
	assert_true(pcs[2] == synthetic_pc(&s, CODE_OUTER));
	assert_true(pcs[3] == synthetic_pc(&s, CODE_TRAMPOLINE));
}

static void chain_ends_at_the_host(void **unused)
{
	(void)unused;
	synthetic_guest(&s);
	assert_int_equal(go(CODE_LEAF), WALK_COMPLETE);
	assert_chain(CODE_LEAF);
	/* The trampoline's frame is the first that was made. */
	assert_true(walk.last_fp == (uintptr_t)&s.stack[STACK_WORDS - 64 - 2]);
}

/* The leaf has no frame: its return address is on top of the stack, rbp still the caller's. */
static void leaf_without_frame(int offset, int words_above)
{
	synthetic_call(&s, 0x1234, 4);
	synthetic_call(&s, synthetic_pc(&s, CODE_TRAMPOLINE), 2);
	synthetic_call(&s, synthetic_pc(&s, CODE_OUTER), 3);
	synthetic_push(&s, synthetic_pc(&s, CODE_INNER));
	for (int i = 0; i < words_above; i++)
		synthetic_push(&s, s.fp);
	assert_int_equal(go(offset), WALK_COMPLETE);
	assert_chain(offset);
}

static void on_ret(void **unused)
{
	(void)unused;
	leaf_without_frame(CODE_RET, 0);
}

static void on_ret_immediate(void **unused)
{
	(void)unused;
	leaf_without_frame(CODE_RET_IMMEDIATE, 0);
}

static void on_the_first_instruction(void **unused)
{
	(void)unused;
	leaf_without_frame(CODE_ENTRY, 0);
}

static void after_the_push(void **unused)
{
	(void)unused;
	leaf_without_frame(CODE_PUSHED, 1);
}

static void on_ret_in_the_last_byte_of_the_range(void **unused)
{
	(void)unused;
	s.code[CODE_SIZE - 1] = 0xc3;
	leaf_without_frame(CODE_SIZE - 1, 0);
}

static void move_at_the_start_of_the_range_is_no_second_instruction(void **unused)
{
	(void)unused;
	/* The byte before it is not ours to look at, whatever it is. */
	s.ranges->range[0].start = synthetic_pc(&s, CODE_PUSHED);
	synthetic_call(&s, 0x1234, 4);
	assert_int_equal(go(CODE_PUSHED), WALK_COMPLETE);
	assert_int_equal(walk.count, 1);
	assert_true(walk.last_fp == s.fp);
}

static void unreadable_code_is_not_read(void **unused)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	assert_ptr_not_equal(page, MAP_FAILED);
	s.ranges->range[0].start = (uintptr_t)page;
	s.ranges->range[0].end = (uintptr_t)page + 4096;
	synthetic_call(&s, 0x1234, 4);
	assert_int_equal(
		walk_interrupted(&walk, (uintptr_t)page + 8, s.fp, synthetic_sp(&s), false),
		WALK_COMPLETE);
	assert_int_equal(walk.count, 1);
	munmap(page, 4096);
}

static void call_as_the_last_instruction_of_a_range(void **unused)
{
	(void)unused;
	synthetic_call(&s, 0x1234, 4);
	synthetic_call(&s, synthetic_pc(&s, CODE_SIZE), 2);
	assert_int_equal(go(CODE_LEAF), WALK_COMPLETE);
	assert_int_equal(walk.count, 2);
}

static void second_range_is_found(void **unused)
{
	(void)unused;
	s.ranges->count = 2;
	s.ranges->range[0].end = synthetic_pc(&s, CODE_OUTER) - 0x80;
	s.ranges->range[1].start = synthetic_pc(&s, CODE_OUTER) - 0x80;
	s.ranges->range[1].end = synthetic_pc(&s, CODE_SIZE);
	s.ranges->range[1].has_frame_pointers = 1;
	synthetic_guest(&s);
	assert_int_equal(go(CODE_LEAF), WALK_COMPLETE);
	assert_chain(CODE_LEAF);
}

static void code_without_frame_pointers_ends_the_chain(void **unused)
{
	(void)unused;
	s.ranges->range[0].has_frame_pointers = 0;
	synthetic_guest(&s);
	assert_int_equal(walk_caller(&walk, synthetic_pc(&s, CODE_INNER), s.fp, s.fp), WALK_BROKEN);
	assert_int_equal(walk.count, 1);
}

static void full_is_said(void **unused)
{
	(void)unused;
	walk.max = 3;
	synthetic_guest(&s);
	assert_int_equal(go(CODE_LEAF), WALK_FULL);
	assert_int_equal(walk.count, 3);
}

static void frames_above_the_limit_are_not_ours(void **unused)
{
	(void)unused;
	synthetic_guest(&s);
	walk.limit = (uintptr_t)&s.stack[STACK_WORDS - 64 - 2];
	assert_int_equal(go(CODE_LEAF), WALK_BROKEN);
	assert_int_equal(walk.count, 4);
}

static void hostile_frame_pointers_end_the_walk(void **unused)
{
	const uintptr_t hostile[] = {
		0,
		1,
		7,
		0x8000000000000000u, /* not canonical */
		0xffffffffffffff00u,
		UINTPTR_MAX - 7,
		UINTPTR_MAX,
		(uintptr_t)s.stack,  /* below sp */
		0x7ffffffff000u - 8, /* the last word of user space */
		0xffffffffff600000u, /* vsyscall */
	};

	(void)unused;
	synthetic_guest(&s);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		walk.count = 0;
		assert_int_equal(walk_interrupted(&walk, synthetic_pc(&s, CODE_LEAF), hostile[i],
						  synthetic_sp(&s), true),
				 WALK_BROKEN);
		assert_int_equal(walk.count, 1);
	}
}

static void hostile_stack_pointers_end_the_walk(void **unused)
{
	const uintptr_t hostile[] = { 0, 3, 0x8000000000000000u, UINTPTR_MAX - 7, UINTPTR_MAX };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		walk.count = 0;
		assert_int_equal(
			walk_interrupted(&walk, synthetic_pc(&s, CODE_RET), 0, hostile[i], true),
			WALK_BROKEN);
	}
}

static void self_pointing_frame_ends_the_walk(void **unused)
{
	(void)unused;
	synthetic_guest(&s);
	*(uint64_t *)s.fp = s.fp;
	assert_int_equal(go(CODE_LEAF), WALK_BROKEN);
	assert_int_equal(walk.count, 2);
}

static void falling_frame_ends_the_walk(void **unused)
{
	(void)unused;
	synthetic_guest(&s);
	*(uint64_t *)s.fp = s.fp - 8;
	assert_int_equal(go(CODE_LEAF), WALK_BROKEN);
	assert_int_equal(walk.count, 2);
}

/* A fiber's stack that ends with its mapping, a guard page above: nothing above is touched. */
static void guard_page_is_not_touched(void **unused)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *end = (uint64_t *)(pages + 4096);

	(void)unused;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	reach = (struct reach){ .page = 1 };
	/* The frame's saved rbp is the mapping's last word, its return address beyond. */
	assert_int_equal(walk_interrupted(&walk, synthetic_pc(&s, CODE_LEAF), (uintptr_t)(end - 1),
					  (uintptr_t)(end - 4), true),
			 WALK_BROKEN);
	/* A frame that is whole leads to one that is not. */
	end[-3] = (uintptr_t)(end - 1);
	end[-2] = synthetic_pc(&s, CODE_INNER);
	walk.count = 0;
	assert_int_equal(walk_interrupted(&walk, synthetic_pc(&s, CODE_LEAF), (uintptr_t)(end - 3),
					  (uintptr_t)(end - 4), true),
			 WALK_BROKEN);
	assert_int_equal(walk.count, 2);
	/* On ret with sp at the very end. */
	walk.count = 0;
	assert_int_equal(
		walk_interrupted(&walk, synthetic_pc(&s, CODE_RET), 0, (uintptr_t)end, true),
		WALK_BROKEN);
	munmap(pages, 8192);
}

/* Whatever is on the stack, the walk ends, and stays in what it may read. */
static void random_stacks_never_fault(void **unused)
{
	enum { WORDS = 512 };
	char *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *stack = (uint64_t *)(pages + 4096);
	uint64_t state = 12345;

	(void)unused;
	assert_int_equal(mprotect(stack, 4096, PROT_READ | PROT_WRITE), 0);
	for (int round = 0; round < 20000; round++) {
		uintptr_t sp = (uintptr_t)stack + (uintptr_t)(round % WORDS) * 8;

		for (int i = round % 64; i < WORDS; i += 64) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			switch (state >> 61) {
			case 0:
			case 1:
			case 2:
				stack[i] = (uintptr_t)stack + (state >> 33) % 8200;
				break;
			case 3:
			case 4:
			case 5:
				stack[i] = (uintptr_t)s.code + (state >> 33) % CODE_SIZE;
				break;
			case 6:
				stack[i] = state;
				break;
			default:
				stack[i] = UINTPTR_MAX - (state >> 50);
			}
		}
		reach = (struct reach){ .page = 1 };
		walk.count = 0;
		walk_interrupted(&walk, synthetic_pc(&s, (int)(state >> 40) % CODE_SIZE),
				 stack[(state >> 20) % WORDS], sp, true);
		assert_in_range(walk.count, 1, walk.max);
	}
	munmap(pages, 3 * 4096);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		CASE(chain_ends_at_the_host),
		CASE(on_ret),
		CASE(on_ret_immediate),
		CASE(on_the_first_instruction),
		CASE(after_the_push),
		CASE(on_ret_in_the_last_byte_of_the_range),
		CASE(move_at_the_start_of_the_range_is_no_second_instruction),
		CASE(unreadable_code_is_not_read),
		CASE(call_as_the_last_instruction_of_a_range),
		CASE(second_range_is_found),
		CASE(code_without_frame_pointers_ends_the_chain),
		CASE(full_is_said),
		CASE(frames_above_the_limit_are_not_ours),
		CASE(hostile_frame_pointers_end_the_walk),
		CASE(hostile_stack_pointers_end_the_walk),
		CASE(self_pointing_frame_ends_the_walk),
		CASE(falling_frame_ends_the_walk),
		CASE(guard_page_is_not_touched),
		CASE(random_stacks_never_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
