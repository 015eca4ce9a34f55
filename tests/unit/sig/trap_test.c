/* SPDX-License-Identifier: MIT */
/* trap_test.c - finding the interrupted guest, on real alternate stacks and on hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "preload/sig/trap.h"
#include "tests/unit/sig/synthetic.h"

enum { ALTERNATE_SIZE = 64 * 1024 };

static struct synthetic s;
static uint64_t alternate[ALTERNATE_SIZE / 8] __attribute__((aligned(4096)));

/* As a handler on the alternate stack sees it, and as ours would that interrupted it there. */
static struct {
	ucontext_t context;
	struct interrupted expected, found;
	bool is_found, is_alternate;
	uintptr_t pc; /* to be taken for a guest's */
} seen;

static void on_trap(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	struct reach reach = { .page = 1 };
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0) - 256;

	(void)signo, (void)info;
	seen.expected.pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
	seen.expected.sp = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP];
	seen.expected.fp = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RBP];
	/* Whatever page the raise came from is "guest code". */
	s.ranges->range[0].start = seen.expected.pc & ~0xffful;
	s.ranges->range[0].end = s.ranges->range[0].start + 0x1000;
	memset(&seen.context, 0, sizeof(seen.context));
	seen.context.uc_stack = (stack_t){ .ss_sp = alternate, .ss_size = sizeof(alternate) };
	seen.is_alternate = trap_on_alternate_stack(&seen.context, sp);
	seen.is_found = trap_find(&seen.context, &reach, s.ranges, sp, &seen.found);
}

static void kernel_frame_is_found(void **unused)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) }, before;
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	(void)unused;
	synthetic_init(&s);
	assert_int_equal(sigaltstack(&stack, &before), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	sigaltstack(&before, NULL);
	assert_true(seen.is_alternate);
	assert_true(seen.is_found);
	assert_true(seen.found.pc == seen.expected.pc);
	assert_true(seen.found.sp == seen.expected.sp);
	assert_true(seen.found.fp == seen.expected.fp);
}

static ucontext_t context_with_stack(void *start, size_t size)
{
	ucontext_t context;

	memset(&context, 0, sizeof(context));
	context.uc_stack.ss_sp = start;
	context.uc_stack.ss_size = size;
	return context;
}

static void only_inside_counts(void **unused)
{
	ucontext_t context = context_with_stack(alternate, sizeof(alternate));
	uintptr_t start = (uintptr_t)alternate;

	(void)unused;
	assert_true(trap_on_alternate_stack(&context, start));
	assert_true(trap_on_alternate_stack(&context, start + ALTERNATE_SIZE - 8));
	assert_false(trap_on_alternate_stack(&context, start - 8));
	assert_false(trap_on_alternate_stack(&context, start + ALTERNATE_SIZE));
	context.uc_stack.ss_flags = SS_DISABLE;
	assert_false(trap_on_alternate_stack(&context, start));
}

static void guest_words_alone_are_no_context(void **unused)
{
	ucontext_t context = context_with_stack(alternate, sizeof(alternate));
	struct reach reach = { .page = 1 };
	struct interrupted out;

	(void)unused;
	synthetic_init(&s);
	for (size_t i = 0; i < ARRAY_SIZE(alternate); i++)
		alternate[i] = synthetic_pc(&s, CODE_INNER);
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)alternate, &out));
	memset(alternate, 0, sizeof(alternate));
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)alternate, &out));
}

static void impossible_stacks_are_survived(void **unused)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucontext_t context = context_with_stack(pages, 8192);
	struct reach reach = { .page = 1 };
	struct interrupted out;

	(void)unused;
	synthetic_init(&s);
	mprotect(pages + 4096, 4096, PROT_NONE);
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)pages, &out));
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)pages + 4096, &out));
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)pages + 8184, &out));
	munmap(pages, 8192);
	reach.page = 1; /* it lasts for one signal only */
	assert_false(trap_find(&context, &reach, s.ranges, (uintptr_t)pages + 3, &out));
	context = context_with_stack((void *)8, UINTPTR_MAX - 8);
	assert_false(trap_find(&context, &reach, s.ranges, 16, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_frame_is_found),
		cmocka_unit_test(only_inside_counts),
		cmocka_unit_test(guest_words_alone_are_no_context),
		cmocka_unit_test(impossible_stacks_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
