/* SPDX-License-Identifier: MIT */
/* insn_x86_64_test.c - lengths and effects of instructions, as objdump has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "preload/unwind/insn_x86_64.h"

#define INSN(bytes, kind, reg, value)                      \
	{                                                  \
		bytes, sizeof(bytes) - 1, kind, reg, value \
	}
enum { NO = INSN_NO_REGISTER };

static const struct {
	const char *bytes;
	uint8_t size, kind, reg;
	int32_t value;
} known[] = {
	INSN("\x55", INSN_PUSH, 6, 0),			   /* push %rbp */
	INSN("\x41\x57", INSN_PUSH, 15, 0),		   /* push %r15 */
	INSN("\x5b", INSN_POP, 3, 0),			   /* pop %rbx */
	INSN("\x41\x5c", INSN_POP, 12, 0),		   /* pop %r12 */
	INSN("\x68\x01\x00\x00\x00", INSN_PUSH, NO, 1),	   /* push $1 */
	INSN("\x48\x83\xc4\x20", INSN_ADD_STACK, NO, 32),  /* add $0x20,%rsp */
	INSN("\x48\x83\xec\x28", INSN_ADD_STACK, NO, -40), /* sub $0x28,%rsp */
	INSN("\x48\x81\xec\x10\x02\x00\x00", INSN_ADD_STACK, NO, -528),
	INSN("\x48\x8d\x65\xd8", INSN_STACK_OF_FRAME, NO, -40), /* lea -0x28(%rbp),%rsp */
	INSN("\x48\x8d\x64\x24\x08", INSN_ADD_STACK, NO, 8),	/* lea 8(%rsp),%rsp */
	INSN("\x48\x89\xec", INSN_STACK_OF_FRAME, NO, 0),	/* mov %rbp,%rsp */
	INSN("\x48\x8b\xe5", INSN_STACK_OF_FRAME, NO, 0),
	INSN("\x48\x89\xc4", INSN_LOSES_STACK, NO, 0),	     /* mov %rax,%rsp */
	INSN("\x48\x89\xe5", INSN_OTHER, NO, 0),	     /* mov %rsp,%rbp */
	INSN("\x48\x83\xe4\xe0", INSN_LOSES_STACK, NO, -32), /* and $-32,%rsp */
	INSN("\xc9", INSN_LEAVE, NO, 0),
	INSN("\xc3", INSN_RETURN, NO, 0),
	INSN("\xf3\xc3", INSN_RETURN, NO, 0),
	INSN("\xc2\x08\x00", INSN_RETURN, NO, 8),
	INSN("\xe8\x00\x01\x00\x00", INSN_CALL, NO, 256),
	INSN("\xff\xd0", INSN_CALL, NO, 0),		    /* call *%rax */
	INSN("\xff\x15\x00\x00\x00\x00", INSN_CALL, NO, 0), /* call *0(%rip) */
	INSN("\xeb\xfe", INSN_JUMP, NO, -2),
	INSN("\xe9\x10\x00\x00\x00", INSN_JUMP, NO, 16),
	INSN("\xff\xe0", INSN_JUMP_AWAY, NO, 0), /* jmp *%rax */
	INSN("\x3e\xff\xe0", INSN_JUMP_AWAY, NO, 0),
	INSN("\x74\x05", INSN_BRANCH, NO, 5),
	INSN("\x0f\x84\x00\x10\x00\x00", INSN_BRANCH, NO, 4096),
	INSN("\x0f\x0b", INSN_STOP, NO, 0),
	INSN("\xcc", INSN_STOP, NO, 0),
	INSN("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", INSN_OTHER, NO, 0), /* nopw */
	INSN("\xf3\x0f\x1e\xfa", INSN_OTHER, NO, 0),			     /* endbr64 */
	INSN("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", INSN_OTHER, NO, 0x04030201),
	INSN("\x66\xb8\x01\x00", INSN_OTHER, NO, 1),
	INSN("\xf7\xc1\x01\x00\x00\x00", INSN_OTHER, NO, 1), /* test $1,%ecx */
	INSN("\xf7\xd9", INSN_OTHER, NO, 0),		     /* neg %ecx */
	INSN("\x41\x0f\xb6\x06", INSN_OTHER, NO, 0),
	INSN("\x66\x0f\x3a\x0f\xc1\x08", INSN_OTHER, NO, 8),	     /* palignr */
	INSN("\xc5\xf8\x77", INSN_OTHER, NO, 0),		     /* vzeroupper */
	INSN("\xc4\xe3\x7d\x39\xc1\x01", INSN_OTHER, NO, 1),	     /* vextracti128 */
	INSN("\x62\xf1\xfe\x48\x6f\x06", INSN_OTHER, NO, 0),	     /* vmovdqu64 */
	INSN("\x48\x8b\x04\xc5\x00\x10\x00\x00", INSN_OTHER, NO, 0), /* mov 0x1000(,%rax,8),%rax */
};

static void test_known(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint8_t bytes[32];
		struct insn insn;

		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes, known[i].bytes, known[i].size);
		assert_true(insn_decode(bytes, sizeof(bytes), &insn));
		assert_int_equal(insn.length, known[i].size);
		assert_int_equal(insn.kind, known[i].kind);
		assert_int_equal(insn.reg, known[i].reg);
		assert_int_equal(insn.value, known[i].value);
		/* one byte less is not enough */
		assert_false(insn_decode(bytes, known[i].size - 1u, &insn));
	}
}

static void test_anything(void **state)
{
	uint8_t bytes[32];
	size_t round, i;

	(void)state;
	srand(1);
	for (round = 0; round < 200000; round++) {
		struct insn insn;
		size_t size = (size_t)rand() % sizeof(bytes);

		for (i = 0; i < size; i++)
			bytes[i] = (uint8_t)rand();
		if (insn_decode(bytes, size, &insn))
			assert_in_range(insn.length, 1, size < INSN_MAX ? size : INSN_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
