/* SPDX-License-Identifier: MIT */
/* unwind_image_test.c - stacks through code that is made at run time, with tables and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/stacks.h"

static void test_generated_code(void **state)
{
	static const uint8_t encodings[] = { 0x00, 0x1b, 0x1c };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(encodings); i++) {
		struct jit jit = jit_map();
		uint32_t id = 10 + (uint32_t)i;

		self.count = 0;
		jit_fill(&jit, id, 0x28, encodings[i], 1);
		call_jit(&jit);
		assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
		assert_chain();
		assert_int_equal(self.expected[1], jit.text + CODE_RETURN);
		unwind_retire_image(id, 2);
		unwind_forget_images(2);
		munmap(jit.memory, 8192);
	}
}

/* Two modules, one after the other at one address: each sample gets the tables of its time. */
static void test_reused_address(void **state)
{
	static struct capture older, newer;
	struct jit jit = jit_map();
	int round;

	(void)state;
	jit_fill(&jit, 20, 0x28, 0x1b, 1);
	call_jit(&jit);
	older = self.capture;
	unwind_retire_image(20, 5);
	jit_fill(&jit, 21, 0x68, 0x1b, 5);
	self.count = 0;
	call_jit(&jit);
	newer = self.capture;
	for (round = 0; round < 4; round++) {
		self.capture = older;
		assert_int_equal(unwind_capture(4), UNWIND_COMPLETE);
		assert_true(has_frame(main_return));
		assert_true(has_frame(jit.text + CODE_RETURN));
		self.capture = newer;
		assert_int_equal(unwind_capture(5), UNWIND_COMPLETE);
		assert_chain();
	}
	unwind_retire_image(21, 9);
	unwind_forget_images(5);
	assert_int_equal(unwind_capture(8), UNWIND_COMPLETE);
	assert_int_not_equal(unwind_capture(9), UNWIND_COMPLETE);
	unwind_forget_images(9);
	assert_int_not_equal(unwind_capture(8), UNWIND_COMPLETE);
	munmap(jit.memory, 8192);
}

/* On the ret the tables are wrong (they know no epilogue), and the caller would be lost. */
static void test_leaf_on_return(void **state)
{
	struct bytes code = { 0 }, tables = { 0 };
	struct jit jit = jit_map();
	size_t i;

	(void)state;
	put_code(&code, 0x28);
	memcpy(jit.memory, code.at, code.size);
	put_tables_without_epilogue(&tables, 0x28, jit.text, jit.tables);
	assert_int_equal(
		unwind_add_image(30, jit.text, CODE_SIZE, tables.at, tables.size, jit.tables, 1),
		0);
	call_jit(&jit);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	for (i = 0; self.frames[i].pc != jit.text + CODE_RETURN; i++)
		;
	rewind_to_return(i, jit.text + CODE_SIZE - 1);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frames[0].pc, jit.text + CODE_SIZE - 1);
	assert_int_equal(self.frames[2].pc, self.expected[2]);
	assert_true(has_frame(main_return));
	unwind_retire_image(30, 2);
	unwind_forget_images(2);
	munmap(jit.memory, 8192);
}

/* The leaf's own pc counts, not one less: before the first instruction is nobody's code. */
static void test_leaf_on_entry(void **state)
{
	struct jit jit = jit_map();
	size_t i;

	(void)state;
	jit_fill(&jit, 31, 0x28, 0x1b, 1);
	call_jit(&jit);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	for (i = 0; self.frames[i].pc != jit.text + CODE_RETURN; i++)
		;
	rewind_to_return(i, jit.text);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frames[2].pc, self.expected[2]);
	assert_true(has_frame(main_return));
	unwind_retire_image(31, 2);
	unwind_forget_images(2);
	munmap(jit.memory, 8192);
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret, with no tables at all. */
static void test_code_without_tables(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	/* the program counter and how many words the frame has by then */
	static const struct {
		uint8_t pc, pushed;
	} moments[] = { { 0, 0 }, { 1, 1 }, { 7, 0 } };
	struct jit jit = jit_map();
	static struct capture whole;
	size_t i;

	(void)state;
	memcpy(jit.memory, code, sizeof(code));
	assert_int_equal(unwind_add_image(40, jit.text, sizeof(code), NULL, 0, 0, 1), 0);
	call_jit(&jit);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_chain();
	assert_int_equal(self.expected[1], jit.text + 6);
	whole = self.capture;
	for (i = 0; i < ARRAY_SIZE(moments); i++) {
		size_t at;

		self.capture = whole;
		assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
		for (at = 0; self.frames[at].pc != jit.text + 6; at++)
			;
		rewind_to_return(at, jit.text + moments[i].pc);
		memmove(self.capture.slice + 8 * moments[i].pushed, self.capture.slice,
			self.capture.size - 8 * moments[i].pushed);
		if (moments[i].pushed > 0)
			memcpy(self.capture.slice, &self.capture.registers[6], 8);
		self.capture.registers[7] -= 8 * moments[i].pushed;
		assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
		assert_int_equal(self.frames[2].pc, self.expected[2]);
		assert_true(has_frame(main_return));
	}
	/* in the middle of it, with the frame pointer used for something else: the code tells */
	memmove(self.capture.slice + 8, self.capture.slice, self.capture.size - 8);
	memcpy(self.capture.slice, &self.capture.registers[6], 8);
	self.capture.registers[6] = 12345;
	self.capture.registers[16] = jit.text + 6;
	self.capture.registers[7] -= 8;
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frames[2].pc, self.expected[2]);
	/* but not once it is gone */
	unwind_retire_image(40, 2);
	assert_int_equal(unwind_capture(2), UNWIND_NO_TABLE);
	assert_int_equal(self.frame_count, 1);
	unwind_forget_images(2);
	munmap(jit.memory, 8192);
}

extern void _init(void);

/* The linker's own function has no tables, and no frame pointer either. */
static void test_linker_made_code(void **state)
{
	size_t at;

	(void)state;
	level_three(level_two);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	for (at = 0; self.frames[at].pc != self.expected[0]; at++)
		;
	rewind_to_return(at, (uintptr_t)_init);
	assert_int_equal(unwind_capture(1), UNWIND_COMPLETE);
	assert_int_equal(self.frames[1].pc, self.expected[1]);
	assert_true(has_frame(main_return));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_generated_code, begin),
		cmocka_unit_test_setup(test_reused_address, begin),
		cmocka_unit_test_setup(test_leaf_on_return, begin),
		cmocka_unit_test_setup(test_leaf_on_entry, begin),
		cmocka_unit_test_setup(test_code_without_tables, begin),
		cmocka_unit_test_setup(test_linker_made_code, begin),
	};

	main_return = CALLED_FROM();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
