/* SPDX-License-Identifier: MIT */
/* trap_x86_64.c - the interrupted context on an alternate stack, found by what it must hold. */
#include "preload/sig/trap.h"

#include "preload/sig/cpu.h"
#include "preload/sig/thread.h"

enum {
	/*
	 * The kernel's frame begins at the top: registers saved by xsave (2.7 KiB with AVX-512, 11
	 * KiB with AMX), then the context.
	 */
	SEARCH_SIZE = 32 * 1024,
	USER_CS = 0x33, /* of a 64-bit process, arch/x86/include/asm/segment.h */
};

SIGNAL_SAFE bool trap_on_alternate_stack(const ucontext_t *context, uintptr_t sp)
{
	const stack_t *stack = &context->uc_stack;

	return (stack->ss_flags & SS_DISABLE) == 0 && stack->ss_size != 0 &&
	       sp - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* Is the word at AT the rip in a struct sigcontext? rbp is 6 below, rsp 1 below, cs 2 above. */
SIGNAL_SAFE static bool is_context(uintptr_t at, uintptr_t start, uintptr_t end)
{
	uintptr_t sp = cpu_word(at - 8);

	if ((cpu_word(at + 16) & 0xffff) != USER_CS)
		return false;
	return (sp & 7) == 0 && (sp < start || sp >= end);
}

SIGNAL_SAFE bool trap_find(const ucontext_t *context, struct reach *reach,
			   const struct ranges *ranges, uintptr_t sp, struct interrupted *out)
{
	uintptr_t start = (uintptr_t)context->uc_stack.ss_sp;
	uintptr_t end = start + context->uc_stack.ss_size;
	uintptr_t at = (sp + 7) & ~(uintptr_t)7;

	if (end - at > SEARCH_SIZE)
		at = (end - SEARCH_SIZE + 7) & ~(uintptr_t)7;
	end = reach_span(reach, at, end) & ~(uintptr_t)7;
	for (at += 48; at + 24 <= end; at += 8) {
		if (ranges_find(ranges, cpu_word(at)) == NULL || !is_context(at, start, end))
			continue;
		out->pc = cpu_word(at);
		out->sp = cpu_word(at - 8);
		out->fp = cpu_word(at - 48);
		return true;
	}
	return false;
}

_Static_assert(REG_RIP - REG_RSP == 1 && REG_RIP - REG_RBP == 6 && REG_CSGSFS - REG_RIP == 2,
	       "is_context() counts words in gregs");
