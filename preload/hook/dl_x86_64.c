/* SPDX-License-Identifier: MIT */
/*
 * dl_x86_64.c - the entry points of dlsym and dlvsym.
 *
 * In assembler, for the jump to the libc's function must leave the host's return address on top of
 * the stack, in every build: a compiler does so only where it happens to make a tail call.
 *
 *   entry: rdi handle, rsi name, (rdx version), [rsp] the host's return address
 */
#include "preload/hook/dl_x86_64.h"

__asm__(".macro dl_entry name, real, version\n"
	".globl \\name\n"
	".type \\name, @function\n"
	".globl dl_\\name\n"
	".hidden dl_\\name\n"
	".type dl_\\name, @function\n"
	"\\name:\n"
	"dl_\\name:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushq %rdi\n.cfi_adjust_cfa_offset 8\n"
	"pushq %rsi\n.cfi_adjust_cfa_offset 8\n"
	"pushq %rdx\n.cfi_adjust_cfa_offset 8\n"
	"pushq %rcx\n.cfi_adjust_cfa_offset 8\n"
	"pushq %r8\n.cfi_adjust_cfa_offset 8\n"
	"pushq %r9\n.cfi_adjust_cfa_offset 8\n"
	"subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n" /* 8 * 8 with the return address: aligned to 16
						     */
	"movq 56(%rsp), %rcx\n"
	".if \\version == 0\n"
	"xorl %edx, %edx\n"
	".endif\n"
	"call dl_pick\n"
	"testq %rdx, %rdx\n"
	"movq %rax, %r11\n"
	"jz 1f\n"
	"call \\real\n"
	"movq %rax, %r11\n"
	"movl $1, %eax\n" /* passed */
	"jmp 2f\n"
	"1: xorl %eax, %eax\n"
	"2: addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"popq %r9\n.cfi_adjust_cfa_offset -8\n"
	"popq %r8\n.cfi_adjust_cfa_offset -8\n"
	"popq %rcx\n.cfi_adjust_cfa_offset -8\n"
	"popq %rdx\n.cfi_adjust_cfa_offset -8\n"
	"popq %rsi\n.cfi_adjust_cfa_offset -8\n"
	"popq %rdi\n.cfi_adjust_cfa_offset -8\n"
	"testl %eax, %eax\n"
	"jz 3f\n"
	"jmp *%r11\n"
	"3: movq %r11, %rax\n"
	"ret\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".size dl_\\name, . - dl_\\name\n"
	".endm\n"
	".text\n"
	"dl_entry dlsym, dl_real_dlsym, 0\n"
	"dl_entry dlvsym, dl_real_dlvsym, 1\n");
