/* SPDX-License-Identifier: MIT */
/*
 * wamr_native_x86_64.c - the thunks, in assembler: which of the argument registers and how much of
 * the stack are in use only the host function knows.
 *
 *   rbp + 24  the caller's words, of which the first are arguments
 *       + 16  the return address
 *       +  8  the thunk's number
 *       +  0  the caller's rbp
 *   rsp + 176 C's, see the header
 *       + 48  xmm0 to xmm7
 *       +  0  rdi rsi rdx rcx r8 r9
 *
 * More words are passed on than there are arguments: they are the caller's, and there, for what
 * calls is deep in an interpreter. The host's function may throw through this, and jump over it.
 * Unwind tables go by rsp: of a thread that sleeps rbp is not known, and what called, assembler of
 * the engine's without tables, needs the one that is kept here.
 */
#include "preload/runtime/wamr_native_x86_64.h"

_Static_assert(WAMR_THUNKS == 1024 && WAMR_STACK_WORDS == 32 && WAMR_CALL_BYTES == 384,
	       "the text below has these numbers");

__asm__(".text\n"
	".balign 16\n"
	".globl wamr_thunks\n"
	".hidden wamr_thunks\n"
	".type wamr_thunks, @function\n"
	"wamr_thunks:\n"
	".cfi_startproc\n"
	".set number, 0\n"
	".rept 1024\n"
	".balign 16\n"
	"endbr64\n"
	"pushq $number\n.cfi_adjust_cfa_offset 8\n"
	"jmp wamr_call\n.cfi_adjust_cfa_offset -8\n"
	".set number, number + 1\n"
	".endr\n"
	".cfi_endproc\n"
	".size wamr_thunks, . - wamr_thunks\n"
	".type wamr_call, @function\n"
	"wamr_call:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 16\n"
	"pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -24\n"
	"movq %rsp, %rbp\n"
	"subq $568, %rsp\n.cfi_adjust_cfa_offset 568\n"
	"movq %rdi, (%rsp)\n"
	"movq %rsi, 8(%rsp)\n"
	"movq %rdx, 16(%rsp)\n"
	"movq %rcx, 24(%rsp)\n"
	"movq %r8, 32(%rsp)\n"
	"movq %r9, 40(%rsp)\n"
	".irp number, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"movups %xmm\\number, 48 + 16 * \\number(%rsp)\n"
	".endr\n"
	"movq %rdi, %rdx\n"
	"leaq 176(%rsp), %rdi\n"
	"movl 8(%rbp), %esi\n"
	"leaq 16(%rbp), %rcx\n"
	"call wamr_native_begin\n"
	"movq %rax, %r11\n"
	"movq (%rsp), %rdi\n"
	"movq 8(%rsp), %rsi\n"
	"movq 16(%rsp), %rdx\n"
	"movq 24(%rsp), %rcx\n"
	"movq 32(%rsp), %r8\n"
	"movq 40(%rsp), %r9\n"
	".irp number, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"movups 48 + 16 * \\number(%rsp), %xmm\\number\n"
	".endr\n"
	"subq $256, %rsp\n.cfi_adjust_cfa_offset 256\n"
	"movl $31, %eax\n"
	"1: movq 24(%rbp, %rax, 8), %r10\n"
	"movq %r10, (%rsp, %rax, 8)\n"
	"decl %eax\n"
	"jns 1b\n"
	"call *%r11\n"
	"addq $256, %rsp\n.cfi_adjust_cfa_offset -256\n"
	"movq %rax, (%rsp)\n"
	"movups %xmm0, 48(%rsp)\n"
	"leaq 176(%rsp), %rdi\n"
	"call wamr_native_end\n"
	"movq (%rsp), %rax\n"
	"movups 48(%rsp), %xmm0\n"
	"leave\n.cfi_def_cfa_offset 16\n.cfi_restore %rbp\n"
	"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size wamr_call, . - wamr_call\n");
