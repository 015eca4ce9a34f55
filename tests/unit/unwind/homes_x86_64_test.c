/* SPDX-License-Identifier: MIT */
/* homes_x86_64_test.c - functions written by hand, and where they keep their first argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/unwind/effect_x86_64.h"
#include "preload/unwind/homes.h"
#include "preload/unwind/insn_x86_64.h"

static struct homes homes;

/* CODE as a function: a text of bytes. */
#define FIND(code) homes_find((const uint8_t *)(code), sizeof(code) - 1, &homes)

#define PROLOGUE "\x55\x48\x89\xe5"	    /* push %rbp; mov %rsp, %rbp */
#define FRAME "\x48\x83\xec\x20"	    /* sub $32, %rsp */
#define SAVE "\x48\x89\x5c\x24\x10"	    /* mov %rbx, 16(%rsp) */
#define KEEP "\x48\x89\xfb"		    /* mov %rdi, %rbx */
#define CALL "\xe8\0\0\0\0"		    /* call */
#define RESTORE "\x48\x8b\x5c\x24\x10"	    /* mov 16(%rsp), %rbx */
#define EPILOGUE "\x48\x83\xc4\x20\x5d\xc3" /* add $32, %rsp; pop %rbp; ret */

static const struct home *home_at(uint8_t reg, int32_t slot, uint32_t at)
{
	for (size_t i = 0; i < homes.home_count; i++) {
		const struct home *home = &homes.homes[i];

		if (home->reg == reg && (reg != HOMES_REGISTERS || home->slot == slot) &&
		    at >= home->from && at < home->until)
			return home;
	}
	return NULL;
}

static void test_register(void **unused)
{
	(void)unused;
	/* 0, 4, 8, 13, 16, 21, 26 */
	assert_int_equal(FIND(PROLOGUE FRAME SAVE KEEP CALL RESTORE EPILOGUE), 0);
	assert_non_null(home_at(CPU_RDI, 0, 0));
	assert_non_null(home_at(CPU_RDI, 0, 16));
	assert_null(home_at(CPU_RDI, 0, 21));
	assert_null(home_at(CPU_RBX, 0, 13));
	assert_non_null(home_at(CPU_RBX, 0, 16));
	assert_non_null(home_at(CPU_RBX, 0, 21));
	assert_int_equal(homes.saved_count, 1);
	assert_int_equal(homes.saved[0].reg, CPU_RBX);
	assert_int_equal(homes.saved[0].slot, -16);
	assert_int_equal(homes.saved[0].from, 13);
	assert_false(homes_are_leaving(&homes, 20));
	assert_true(homes_are_leaving(&homes, 21));
	assert_true(homes_are_leaving(&homes, 31));
	/* the slot of a caller's value is nobody's home */
	assert_null(home_at(HOMES_REGISTERS, -16, 21));
}

static void test_register_of_two_values(void **unused)
{
	(void)unused;
	assert_int_equal(FIND(PROLOGUE FRAME SAVE KEEP CALL "\x48\x89\xc3" /* mov %rax, %rbx */
			      RESTORE EPILOGUE),
			 0);
	assert_null(home_at(CPU_RBX, 0, 16));
	assert_null(home_at(CPU_RBX, 0, 21));
}

/* Who does not save it: others need not either. */
static void test_unsaved_register(void **unused)
{
	(void)unused;
	assert_int_equal(FIND(PROLOGUE FRAME KEEP CALL EPILOGUE), 0);
	assert_non_null(home_at(CPU_RBX, 0, 11));
	assert_null(home_at(CPU_RBX, 0, 16));
	assert_true(homes.written >> CPU_RBX & 1);
}

/* To a slot, and from there to a register for another call. */
static void test_slot(void **unused)
{
	(void)unused;
	assert_int_equal(FIND(PROLOGUE FRAME "\x48\x89\x7c\x24\x08" /* mov %rdi, 8(%rsp) */
			      CALL "\x48\x8b\x7c\x24\x08"	    /* mov 8(%rsp), %rdi */
			      CALL EPILOGUE),
			 0);
	assert_null(home_at(HOMES_REGISTERS, -24, 8));
	assert_non_null(home_at(HOMES_REGISTERS, -24, 13));
	assert_non_null(home_at(HOMES_REGISTERS, -24, 28));
	assert_non_null(home_at(HOMES_REGISTERS, -24, 18));
}

static void test_spoilt_slot(void **unused)
{
	(void)unused;
	/* movups %xmm0, (%rsp): 16 bytes, the slot's among them */
	assert_int_equal(FIND(PROLOGUE FRAME "\x48\x89\x7c\x24\x08"
					     "\x0f\x11\x04\x24" CALL EPILOGUE),
			 0);
	assert_null(home_at(HOMES_REGISTERS, -24, 17));
	/* mov %eax, 12(%rsp): half of it */
	assert_int_equal(FIND(PROLOGUE FRAME "\x48\x89\x7c\x24\x08"
					     "\x89\x44\x24\x0c" CALL EPILOGUE),
			 0);
	assert_null(home_at(HOMES_REGISTERS, -24, 17));
	/* a load spoils nothing: movups (%rsp), %xmm0 */
	assert_int_equal(FIND(PROLOGUE FRAME "\x48\x89\x7c\x24\x08"
					     "\x0f\x10\x04\x24" CALL EPILOGUE),
			 0);
	assert_non_null(home_at(HOMES_REGISTERS, -24, 17));
	/* what is indexed may be anywhere: mov %rax, (%rsp,%rcx,8) */
	assert_int_equal(FIND(PROLOGUE FRAME "\x48\x89\x7c\x24\x08"
					     "\x48\x89\x04\xcc" CALL EPILOGUE),
			 0);
	assert_null(home_at(HOMES_REGISTERS, -24, 17));
}

/* A jump's table lies in the code, and what it has would not decode. */
static void test_table(void **unused)
{
	(void)unused;
	assert_int_equal(FIND(PROLOGUE FRAME SAVE KEEP "\xff\xe0" /* jmp *%rax */
						       "\x0c\0\0\0\x0d\0\0\0\x0c\0\0\0"
						       "\x90\x90" RESTORE EPILOGUE),
			 0);
	assert_non_null(home_at(CPU_RBX, 0, 30));
	assert_true(homes_are_leaving(&homes, 32));
}

static void test_not_understood(void **unused)
{
	(void)unused;
	assert_int_equal(FIND("\x06"), -EINVAL);
	assert_int_equal(FIND(PROLOGUE "\x48\x89\xc4" /* mov %rax, %rsp */ EPILOGUE), -EINVAL);
	assert_int_equal(homes_find((const uint8_t *)"", 0, &homes), -EINVAL);
}

/* Whatever the bytes are, it ends, and what it says is within bounds. */
static void test_any_bytes(void **unused)
{
	uint8_t code[300];

	(void)unused;
	srand(1);
	for (int i = 0; i < 30000; i++) {
		size_t size = 1 + (size_t)rand() % sizeof(code);

		for (size_t k = 0; k < size; k++)
			code[k] = (uint8_t)(rand() >> 8);
		if (i % 2 == 0 && size > 8)
			memcpy(code, PROLOGUE FRAME, 8);
		if (homes_find(code, size, &homes) != 0)
			continue;
		assert_true(homes.home_count <= HOMES_MAX && homes.saved_count <= HOMES_SAVED_MAX);
		for (size_t k = 0; k < homes.home_count; k++)
			assert_true(homes.homes[k].from <= size);
	}
}

static void test_effects(void **unused)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint16_t writes;
	} rows[] = {
#define ROW(text, writes) { text, sizeof(text) - 1, (writes) }
		ROW("\x48\x01\xc3", 1 << CPU_RBX),	    /* add %rax, %rbx */
		ROW("\x48\x03\x1f", 1 << CPU_RBX),	    /* add (%rdi), %rbx */
		ROW("\x48\x39\xc3", 0),			    /* cmp %rax, %rbx */
		ROW("\x48\x83\xfb\x01", 0),		    /* cmp $1, %rbx */
		ROW("\x48\x83\xc3\x01", 1 << CPU_RBX),	    /* add $1, %rbx */
		ROW("\x48\x85\xdb", 0),			    /* test %rbx, %rbx */
		ROW("\x4c\x8b\x6f\x08", 1 << 13),	    /* mov 8(%rdi), %r13 */
		ROW("\x4d\x89\xe5", 1 << 13),		    /* mov %r12, %r13 */
		ROW("\x49\xbd\1\2\3\4\5\6\7\x08", 1 << 13), /* movabs, %r13 */
		ROW("\x0f\xb6\xd8", 1 << CPU_RBX),	    /* movzbl %al, %ebx */
		ROW("\x0f\x94\xc3", 1 << CPU_RBX),	    /* sete %bl */
		ROW("\x48\x0f\x44\xd8", 1 << CPU_RBX),	    /* cmove %rax, %rbx */
		ROW("\x66\x0f\xef\xdb", 0),		    /* pxor %xmm3, %xmm3 */
		ROW("\x66\x48\x0f\x7e\xdb", 1 << CPU_RBX),  /* movq %xmm3, %rbx */
		ROW("\xf2\x48\x0f\x2d\xd8", 1 << CPU_RBX),  /* cvtsd2si %xmm0, %rbx */
		ROW("\xc5\xe1\xef\xdb", 0),		    /* vpxor %xmm3, %xmm3, %xmm3 */
		ROW("\x48\xf7\xe3", 1 << CPU_RBX | 1 << CPU_RAX | 1 << CPU_RDX), /* mul %rbx */
		ROW("\x48\xf7\xc3\1\0\0\0", 0),					 /* test */
		ROW("\xff\xd3", 1 << CPU_RAX | 1 << CPU_RCX | 1 << CPU_RDX | 1 << CPU_RSI |
					1 << CPU_RDI | 0xf00), /* call *%rbx */
		ROW("\x48\x8d\x5f\x08", 1 << CPU_RBX),	       /* lea 8(%rdi), %rbx */
		ROW("\x48\x63\xd8", 1 << CPU_RBX),	       /* movslq %eax, %rbx */
		ROW("\x48\x89\x07", 0),			       /* mov %rax, (%rdi) */
	};
	struct effect effect;
	struct insn insn;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(insn_decode((const uint8_t *)rows[i].bytes, rows[i].size, &insn));
		assert_int_equal(insn.length, rows[i].size);
		effect_of((const uint8_t *)rows[i].bytes, insn.length, &effect);
		if (effect.writes != rows[i].writes)
			fail_msg("row %zu: %x, not %x", i, effect.writes, rows[i].writes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_register_of_two_values),
		cmocka_unit_test(test_unsaved_register),
		cmocka_unit_test(test_slot),
		cmocka_unit_test(test_spoilt_slot),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_not_understood),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_effects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
