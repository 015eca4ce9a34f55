/* SPDX-License-Identifier: MIT */
/*
 * callsite_x86_64_test.c - the forms of CALL, read backwards from the return address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/profile/callsite.h"
#include "tests/unit/profile/fakes.h"

enum { PC = 0x10000 };

static uint64_t start_of_function;

static bool is_start(const void *context, uint64_t target)
{
	(void)context;
	return target == start_of_function;
}

static void expect(const void *code, size_t size, enum callsite_kind kind)
{
	uint64_t target;

	fake_call(PC, code, size);
	assert_int_equal(callsite_at(PC, is_start, NULL, &target), kind);
	if (kind == CALLSITE_DIRECT)
		assert_int_equal(target, start_of_function);
}

static void test_direct(void **unused)
{
	(void)unused;
	start_of_function = PC + 0x100;
	expect("\xe8\x00\x01\x00\x00", 5, CALLSITE_DIRECT);
	start_of_function = PC - 2;
	expect("\xe8\xfe\xff\xff\xff", 5, CALLSITE_DIRECT);
	/* Into the middle of something: these bytes are no call. */
	expect("\xe8\xfd\xff\xff\xff", 5, CALLSITE_UNKNOWN);
	expect("\xe9\xfe\xff\xff\xff", 5, CALLSITE_UNKNOWN);
}

static void test_indirect(void **unused)
{
	(void)unused;
	start_of_function = 0;
	expect("\xff\xd0", 2, CALLSITE_INDIRECT);			  /* rax */
	expect("\x41\xff\xd3", 3, CALLSITE_INDIRECT);			  /* r11 */
	expect("\xff\x10", 2, CALLSITE_INDIRECT);			  /* [rax] */
	expect("\xff\x50\x18", 3, CALLSITE_INDIRECT);			  /* [rax+24] */
	expect("\xff\x54\x24\x08", 4, CALLSITE_INDIRECT);		  /* [rsp+8] */
	expect("\xff\x14\xc8", 3, CALLSITE_INDIRECT);			  /* [rax+8*rcx] */
	expect("\xff\x90\x00\x01\x00\x00", 6, CALLSITE_INDIRECT);	  /* [rax+256] */
	expect("\xff\x15\x00\x01\x00\x00", 6, CALLSITE_INDIRECT);	  /* [rip+256] */
	expect("\x41\xff\x94\x24\x00\x01\x00\x00", 8, CALLSITE_INDIRECT); /* [r12+256] */
}

static void test_no_call(void **unused)
{
	uint64_t target;

	(void)unused;
	start_of_function = 0;
	expect("\x90", 1, CALLSITE_UNKNOWN);
	expect("\xff\xe0", 2, CALLSITE_UNKNOWN); /* jmp rax */
	expect("\xff\x50", 2, CALLSITE_UNKNOWN); /* cut */
	expect("\xff\x25\x00\x01\x00\x00", 6, CALLSITE_UNKNOWN);
	fake_code.pc = 0;
	assert_int_equal(callsite_at(PC, is_start, NULL, &target), CALLSITE_UNKNOWN);
	assert_int_equal(callsite_at(3, is_start, NULL, &target), CALLSITE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
