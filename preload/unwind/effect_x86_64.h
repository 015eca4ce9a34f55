/* SPDX-License-Identifier: MIT */
/*
 * effect_x86_64.h - what an instruction writes, of registers and of the stack frame, and what it
 * copies from where (Intel SDM vol. 2).
 *
 * Errs on the side of more writes: an instruction that nobody knows writes all that it names.
 * Threads: any.
 */
#ifndef PRELOAD_UNWIND_EFFECT_X86_64_H
#define PRELOAD_UNWIND_EFFECT_X86_64_H

#include "symtab/base.h"

/* The CPU's numbers, not DWARF's. */
enum { CPU_RAX, CPU_RCX, CPU_RDX, CPU_RBX, CPU_RSP, CPU_RBP, CPU_RSI, CPU_RDI, CPU_COUNT = 16 };

/* A register, or 8 bytes relative to the stack or the frame pointer. */
struct effect_place {
	uint8_t reg; /* CPU_COUNT: none. Of a slot: CPU_RSP or CPU_RBP */
	bool is_slot;
	int32_t at; /* of a slot: from that register */
};

struct effect {
	uint16_t writes;	  /* a bit for each register that may have changed */
	bool is_call;		  /* `writes` has what the System V ABI lets it change */
	bool is_copy;		  /* of 64 bits, from `from` to `to` */
	bool writes_all_slots;	  /* or one that nobody can tell */
	struct effect_place from; /* of a copy */
	struct effect_place to;	  /* of a copy; else a slot that is written, or reg CPU_COUNT */
	uint8_t to_size;	  /* bytes */
};

/* The effect of the instruction of LENGTH bytes at BYTES, as insn_decode() measured it. */
void effect_of(const uint8_t *bytes, size_t length, struct effect *effect);

#endif /* PRELOAD_UNWIND_EFFECT_X86_64_H */
