/* SPDX-License-Identifier: MIT */
/* registers_x86_64.h - DWARF numbers of the registers (System V ABI, AMD64 supplement, 3.6.2). */
#ifndef PRELOAD_UNWIND_REGISTERS_X86_64_H
#define PRELOAD_UNWIND_REGISTERS_X86_64_H

enum {
	REGISTER_RBX = 3,
	REGISTER_FRAME = 6,
	REGISTER_STACK = 7,
	REGISTER_R12 = 12,
	REGISTER_R15 = 15,
	REGISTER_PC = 16,
};

#endif /* PRELOAD_UNWIND_REGISTERS_X86_64_H */
