/* SPDX-License-Identifier: MIT */
/*
 * cpu_x86_64.h - what the handler must know of the CPU: contexts, system calls, raw loads.
 *
 * The loads are assembly so that no sanitizer or compiler takes them for accesses to an object:
 * they read other functions' stacks. Everything is async-signal-safe and leaves errno alone.
 */
#ifndef PRELOAD_SIG_CPU_X86_64_H
#define PRELOAD_SIG_CPU_X86_64_H

#include <signal.h>
#include <sys/ucontext.h>

#include "symtab/base.h"

/* The word at ADDRESS, which must be readable. */
enum { CPU_BLOCK = 64 }; /* bytes */

/*
 * Whether one of the eight words at ADDRESS has UPPER as its upper half; or as its lower half, so
 * that a yes needs a closer look. SSE2, which every x86_64 has: a third of the time that a look at
 * each word takes.
 */
static inline bool cpu_block_has_upper(uintptr_t address, uint32_t upper)
{
	uint32_t mask;

	__asm__ volatile("movd %2, %%xmm0\n\t"
			 "pshufd $0, %%xmm0, %%xmm0\n\t"
			 "movdqu (%1), %%xmm1\n\t"
			 "movdqu 16(%1), %%xmm2\n\t"
			 "movdqu 32(%1), %%xmm3\n\t"
			 "movdqu 48(%1), %%xmm4\n\t"
			 "pcmpeqd %%xmm0, %%xmm1\n\t"
			 "pcmpeqd %%xmm0, %%xmm2\n\t"
			 "pcmpeqd %%xmm0, %%xmm3\n\t"
			 "pcmpeqd %%xmm0, %%xmm4\n\t"
			 "por %%xmm1, %%xmm2\n\t"
			 "por %%xmm3, %%xmm4\n\t"
			 "por %%xmm2, %%xmm4\n\t"
			 "pmovmskb %%xmm4, %0"
			 : "=r"(mask)
			 : "r"(address), "r"(upper)
			 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4");
	return mask != 0;
}

static inline uint64_t cpu_word(uintptr_t address)
{
	uint64_t word;

	__asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(address));
	return word;
}

/* Four bytes of code at ADDRESS, which must be readable; the first is the lowest. */
static inline uint32_t cpu_code(uintptr_t address)
{
	uint32_t bytes;

	__asm__ volatile("movl (%1), %0" : "=r"(bytes) : "r"(address));
	return bytes;
}

static inline uint8_t cpu_code_byte(uintptr_t address)
{
	uint8_t byte;

	__asm__ volatile("movb (%1), %0" : "=q"(byte) : "r"(address));
	return byte;
}

static inline void cpu_copy_words(uint64_t *to, uintptr_t from, size_t words)
{
	/* The ABI keeps the direction flag clear on entry to a handler. */
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}

/* A system call without errno: the kernel's answer, -4095..-1 for an error. */
static inline long cpu_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long answer;

	__asm__ volatile("syscall"
			 : "=a"(answer)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return answer;
}

static inline uintptr_t cpu_pc(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t cpu_fp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
}

static inline uintptr_t cpu_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* The registers of CONTEXT in DWARF order (System V psABI x86-64, figure 3.36), rip last. */
static inline void cpu_registers(const ucontext_t *context, uint64_t out[17])
{
	static const uint8_t order[17] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	for (int i = 0; i < 17; i++)
		out[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* The same of a frame of which only these are known; 0 for the others. */
static inline void cpu_caller_registers(uintptr_t pc, uintptr_t fp, uintptr_t sp, uint64_t out[17])
{
	for (int i = 0; i < 17; i++)
		out[i] = 0;
	out[6] = fp;
	out[7] = sp;
	out[16] = pc;
}

#endif /* PRELOAD_SIG_CPU_X86_64_H */
