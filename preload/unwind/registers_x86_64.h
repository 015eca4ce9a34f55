/* SPDX-License-Identifier: MIT */
/* registers_x86_64.h - DWARF numbers of the registers (System V ABI, AMD64 supplement, 3.6.2). */
#ifndef PRELOAD_UNWIND_REGISTERS_X86_64_H
#define PRELOAD_UNWIND_REGISTERS_X86_64_H

#include "symtab/base.h"

enum {
	REGISTER_RBX = 3,
	REGISTER_FRAME = 6,
	REGISTER_STACK = 7,
	REGISTER_R12 = 12,
	REGISTER_R15 = 15,
	REGISTER_PC = 16,
};

/* Of the register that instructions call NUMBER, 0 to 15 (Intel SDM vol. 2, table 3-1). */
static inline uint8_t register_of_cpu(uint8_t number)
{
	static const uint8_t low[8] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return number < ARRAY_SIZE(low) ? low[number] : number;
}

#endif /* PRELOAD_UNWIND_REGISTERS_X86_64_H */
