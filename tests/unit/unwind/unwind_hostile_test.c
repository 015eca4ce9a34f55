/* SPDX-License-Identifier: MIT */
/* unwind_hostile_test.c - unwind programs that a compiler would not make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "preload/unwind/unwind.h"
#include "tests/unit/unwind/stacks.h"

/* What unwind programs may do to an unwinder; each must end soon, and give the leaf at least. */
static void test_hostile_programs(void **state)
{
#define PROGRAM(bytes)                   \
	{                                \
		bytes, sizeof(bytes) - 1 \
	}
	static const struct {
		const char *bytes;
		size_t size;
	} programs[] = {
		PROGRAM("\x0f\x03\x2f\xfd\xff"),	 /* CFA = loop: DW_OP_skip -3 */
		PROGRAM("\x10\x10\x03\x2f\xfd\xff"),	 /* rip at loop */
		PROGRAM("\x0f\x01\x06"),		 /* CFA = deref of nothing */
		PROGRAM("\x0f\x02\x30\x06"),		 /* CFA = *0 */
		PROGRAM("\x0f\xff\xff\xff\xff\x0f\x30"), /* expression of 4 GiB */
		PROGRAM("\x0c\xff\xff\xff\xff\x0f\x08"), /* CFA = r4294967295 + 8 */
		PROGRAM("\x0c\x07\x00"),		 /* CFA = rsp: never rises */
		PROGRAM("\x0c\x07\xf8\xff\xff\xff\x0f"), /* CFA far above */
		PROGRAM("\x0b\x0b\x0b"),		 /* restore_state without any */
		PROGRAM("\x3f\x3f"),			 /* unknown opcodes */
		PROGRAM("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
		PROGRAM("\x09\x10\x10"),	     /* rip = rip */
		PROGRAM("\x09\x10\x07"),	     /* rip = rsp */
		PROGRAM("\x16\x10\x02\x30\x1b"),     /* rip = 0 / ... */
		PROGRAM("\x16\x10\x03\x31\x30\x1b"), /* rip = 1 / 0 */
		PROGRAM("\x16\x10\x03\x31\x30\x1d"), /* rip = 1 % 0 */
		PROGRAM("\x01"),		     /* set_loc, cut */
		/* rip = INT64_MIN / -1: traps */
		PROGRAM("\x16\x10\x0c\x0e\x00\x00\x00\x00\x00\x00\x00\x80\x31\x1f\x1b"),
	};
	struct jit jit = jit_map();
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		struct bytes code = { 0 }, tables = { 0 };
		uint32_t id = 60 + (uint32_t)i;
		clock_t before;

		self.count = 0;
		put_code(&code, 0x28);
		memcpy(jit.memory, code.at, code.size);
		put_program(&tables, 0x1b, jit.text, jit.tables, programs[i].bytes,
			    programs[i].size);
		assert_int_equal(unwind_add_image(id, jit.text, CODE_SIZE, tables.at, tables.size,
						  jit.tables, 1),
				 0);
		call_jit(&jit);
		before = clock();
		(void)unwind_capture(1);
		assert_true(clock() - before < CLOCKS_PER_SEC);
		assert_in_range(self.frame_count, 4, FRAMES);
		unwind_retire_image(id, 2);
		unwind_forget_images(2);
	}
	munmap(jit.memory, 8192);
}

/* Bytes that look like programs: small numbers, known instructions, some of anything. */
static size_t random_program(uint8_t *program, size_t room)
{
	static const uint8_t instructions[] = { 0x02, 0x05, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
						0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x16,
						0x2e, 0x2f, 0x41, 0x83, 0x86, 0x90, 0xc6, 0xd0 };
	size_t size = 1 + (size_t)rand() % room, i;

	for (i = 0; i < size; i++) {
		int kind = rand() % 8;

		program[i] = (uint8_t)(rand() % 17);
		if (kind < 4)
			program[i] = instructions[(size_t)rand() % sizeof(instructions)];
		if (kind == 7)
			program[i] = (uint8_t)rand();
	}
	return size;
}

static void test_random_programs(void **state)
{
	struct bytes code = { 0 };
	struct jit jit = jit_map();
	int round;

	(void)state;
	srand(2);
	put_code(&code, 0x28);
	memcpy(jit.memory, code.at, code.size);
	call_jit(&jit);
	for (round = 0; round < 20000; round++) {
		struct bytes tables = { 0 };
		uint8_t program[64];
		size_t size = random_program(program, sizeof(program));

		put_program(&tables, 0x1b, jit.text, jit.tables, program, size);
		assert_int_equal(unwind_add_image(100, jit.text, CODE_SIZE, tables.at, tables.size,
						  jit.tables, 1),
				 0);
		(void)unwind_capture(1);
		assert_in_range(self.frame_count, 4, FRAMES);
		unwind_retire_image(100, 2);
		unwind_forget_images(2);
	}
	munmap(jit.memory, 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_hostile_programs, begin),
		cmocka_unit_test_setup(test_random_programs, begin),
	};

	main_return = CALLED_FROM();
	self.may_differ = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
