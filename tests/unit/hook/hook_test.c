/* SPDX-License-Identifier: MIT */
/*
 * hook_test.c - thunks leave a call as it was; the scope guard; REAL by slot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/stats.h"
#include "preload/hook/hook.h"

/* What the wrapper found on arrival: rdi rsi rdx rcx r8 r9 rax rsp rbx r10, xmm0..7, and [rsp+8].
 */
struct arrival {
	uint64_t integers[10];
	double vectors[8];
	uint64_t on_stack;
};
struct arrival arrival HOOK_HIDDEN;

void capture(void);

/* Naked: nothing of a prologue comes between the thunk and the look at the registers. */
HOOK(capture);
__attribute__((naked)) void capture(void)
{
	__asm__("leaq arrival(%rip), %r11\n"
		"movq %rdi, (%r11)\n movq %rsi, 8(%r11)\n movq %rdx, 16(%r11)\n"
		"movq %rcx, 24(%r11)\n movq %r8, 32(%r11)\n movq %r9, 40(%r11)\n"
		"movq %rax, 48(%r11)\n movq %rsp, 56(%r11)\n movq %rbx, 64(%r11)\n"
		"movq %r10, 72(%r11)\n"
		"movsd %xmm0, 80(%r11)\n movsd %xmm1, 88(%r11)\n movsd %xmm2, 96(%r11)\n"
		"movsd %xmm3, 104(%r11)\n movsd %xmm4, 112(%r11)\n movsd %xmm5, 120(%r11)\n"
		"movsd %xmm6, 128(%r11)\n movsd %xmm7, 136(%r11)\n"
		"movq 8(%rsp), %r10\n movq %r10, 144(%r11)\n"
		"movsd 144(%r11), %xmm0\n"
		"ret\n");
}

_Static_assert(offsetof(struct arrival, vectors) == 80, "capture() stores there");
_Static_assert(offsetof(struct arrival, on_stack) == 144, "capture() stores there");

typedef double variadic(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double, double,
			double, double, double, double, double, double, ...);

static void thunks_keep_all_arguments(void **context)
{
	(void)context;
	for (int slot = 0; slot < HOOK_SLOTS; slot++) {
		const char *thunk = hook_capture.thunks + slot * HOOK_THUNK_SIZE;

		memset(&arrival, 0, sizeof(arrival));
		hook_slot = 0;
		((variadic *)(void *)thunk)(11, 12, 13, 14, 15, 16, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5,
					    6.5, 7.5, UINT64_C(0x1122334455667788));
		for (uint64_t i = 0; i < 6; i++)
			assert_int_equal(arrival.integers[i], 11 + i);
		assert_int_equal(arrival.integers[6] & 0xff, 8); /* al: how many vectors */
		assert_int_equal(arrival.integers[7] & 15, 8);	 /* as right after a call */
		for (int i = 0; i < 8; i++)
			assert_true(arrival.vectors[i] == i + 0.5);
		assert_int_equal(arrival.on_stack, UINT64_C(0x1122334455667788));
		assert_int_equal(hook_slot, slot + 1);
	}
	hook_slot = 0;
}

static int answer_one(void)
{
	return 1;
}

static int answer_two(void)
{
	return 2;
}

int answer(void);

HOOK(answer);
int answer(void)
{
	return REAL(answer)();
}

static void slots_lead_to_their_targets(void **context)
{
	int (*first)(void) = (int (*)(void))(void *)hook_answer.thunks;
	int (*last)(void) = (int (*)(void))(void *)(hook_answer.thunks + 7 * HOOK_THUNK_SIZE);

	(void)context;
	atomic_store(&hook_answer.slot[0], (void *)answer_one);
	atomic_store(&hook_answer.slot[7], (void *)answer_two);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(first(), 1);
		assert_int_equal(last(), 2);
		assert_int_equal(hook_slot, 0);
	}
}

static void nothing_to_call_counts_and_returns_zero(void **context)
{
	unsigned long long before = stat_get(STAT_REAL_MISSING);

	(void)context;
	errno = 11;
	assert_int_equal(answer(), 0);
	assert_int_equal(answer(), 0);
	assert_int_equal(errno, 11);
	assert_int_equal(stat_get(STAT_REAL_MISSING), before + 2);
	assert_true(hook_is_missing(hook_real(&hook_answer, __builtin_return_address(0))));
	assert_false(hook_is_missing((void *)answer_one));
}

static void scope_guards_and_keeps_errno(void **context)
{
	(void)context;
	state.on = false;
	assert_false(hook_begin());
	state.on = true;
	errno = 5;
	assert_true(hook_begin());
	errno = 6;
	assert_false(hook_begin()); /* our own calls are not observed */
	hook_end();
	assert_int_equal(errno, 5);
	assert_true(hook_begin());
	hook_end();
	/* Off in the middle: the end still ends. */
	assert_true(hook_begin());
	state.on = false;
	hook_end();
	assert_false(hook_scope.is_inside);
}

static void the_table_is_found_by_name(void **context)
{
	(void)context;
	assert_ptr_equal(hook_find("answer"), &hook_answer);
	assert_ptr_equal(hook_find("capture"), &hook_capture);
	assert_null(hook_find("answe"));
	assert_null(hook_find("answers"));
	assert_int_equal(hook_count(), 4); /* and dlclose, dlerror */
}

static void dl_functions_leave_dlerror_alone(void **context)
{
	char *text;

	(void)context;
	assert_null(dlopen("/nothing/here.so", RTLD_NOW));
	assert_null(hook_symbol(RTLD_DEFAULT, "no_such_function"));
	assert_null(hook_next_symbol("no_such_function"));
	assert_non_null(hook_next_symbol("strlen"));
	assert_non_null(hook_symbol_near((void *)answer_one, "strlen"));
	assert_null(hook_symbol_near((void *)answer_one, "no_such_function"));
	assert_null(hook_symbol_near((void *)8, "strlen"));
	text = dlerror();
	assert_non_null(text);
	assert_non_null(strstr(text, "/nothing/here.so"));
	assert_null(dlerror());
}

static void siblings_are_in_the_same_object(void **context)
{
	uintptr_t start, end;

	(void)context;
	assert_ptr_equal(hook_sibling((void *)qsort, "bsearch"), dlsym(RTLD_DEFAULT, "bsearch"));
	assert_null(hook_sibling((void *)qsort, "cmocka_print_error"));
	assert_null(hook_sibling((void *)16, "bsearch"));
	assert_true(hook_object_range((void *)answer_one, &start, &end));
	assert_in_range((uintptr_t)answer_two, start, end - 1);
	assert_false(hook_object_range((void *)16, &start, &end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_call_counts_and_returns_zero),
		cmocka_unit_test(thunks_keep_all_arguments),
		cmocka_unit_test(slots_lead_to_their_targets),
		cmocka_unit_test(scope_guards_and_keeps_errno),
		cmocka_unit_test(the_table_is_found_by_name),
		cmocka_unit_test(dl_functions_leave_dlerror_alone),
		cmocka_unit_test(siblings_are_in_the_same_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
