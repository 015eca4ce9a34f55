/* SPDX-License-Identifier: MIT */
/* code_x86_64_test.c - calls, returns and prologues by their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "preload/unwind/code_x86_64.h"

static void test_calls(void **state)
{
	static const struct {
		uint8_t before[CODE_CALL_MAX];
		bool is_call;
		const char *what;
	} cases[] = {
		{ { 0x90, 0x90, 0xe8, 1, 2, 3, 4 }, true, "call rel32" },
		{ { 0x90, 0x90, 0xe9, 1, 2, 3, 4 }, false, "jmp rel32" },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 }, true, "call *%rax" },
		{ { 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd3 }, true, "call *%r11" },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10 }, true, "call *(%rax)" },
		{ { 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0x24 }, true, "call *(%rsp)" },
		{ { 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18 }, true, "call *0x18(%rax)" },
		{ { 0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08 }, true, "call *8(%rsp)" },
		{ { 0x90, 0xff, 0x15, 1, 2, 3, 4 }, true, "call *x(%rip)" },
		{ { 0x90, 0xff, 0x90, 1, 2, 3, 4 }, true, "call *x(%rax)" },
		{ { 0xff, 0x94, 0x24, 1, 2, 3, 4 }, true, "call *x(%rsp)" },
		{ { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, true, "call *x(,%rax,8)" },
		{ { 0x90, 0xff, 0x25, 1, 2, 3, 4 }, false, "jmp *x(%rip)" },
		{ { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0 }, false, "jmp *%rax" },
		{ { 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0, 0x90 }, false, "call, then nop" },
		{ { 0, 0, 0, 0, 0, 0, 0 }, false, "zeros" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (code_ends_in_call(cases[i].before) != cases[i].is_call)
			fail_msg("%s", cases[i].what);
	}
}

static void test_leaves(void **state)
{
	/* the first byte is the one before the program counter */
	static const struct {
		uint8_t bytes[CODE_LEAF_SIZE];
		enum code_leaf leaf;
	} cases[] = {
		{ { 0x90, 0xc3 }, CODE_LEAF_ON_TOP },
		{ { 0x5d, 0xc2, 0x08, 0x00 }, CODE_LEAF_ON_TOP },
		{ { 0x90, 0x55, 0x48, 0x89, 0xe5 }, CODE_LEAF_ON_TOP },
		{ { 0x55, 0x48, 0x89, 0xe5 }, CODE_LEAF_PUSHED },
		{ { 0x55, 0x48, 0x8b, 0xec }, CODE_LEAF_PUSHED },
		{ { 0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25 }, CODE_LEAF_ON_TOP },
		{ { 0x90, 0xff, 0x25, 1, 2, 3, 4 }, CODE_LEAF_ON_TOP },
		{ { 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4 }, CODE_LEAF_ON_TOP },
		{ { 0x04, 0x68, 5, 0, 0, 0, 0xe9, 1, 2, 3, 4 }, CODE_LEAF_ON_TOP },
		{ { 0x90, 0x48, 0x89, 0xe5 }, CODE_LEAF_UNKNOWN },
		{ { 0x90, 0x90, 0x90 }, CODE_LEAF_UNKNOWN },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(code_leaf_at(cases[i].bytes), cases[i].leaf);
}

static void test_sigreturn(void **state)
{
	uint8_t text[CODE_SIGRETURN_SIZE] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	(void)state;
	assert_true(code_is_sigreturn_text(text));
	text[3] = 0x0e;
	assert_false(code_is_sigreturn_text(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_sigreturn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
