/* SPDX-License-Identifier: MIT */
/*
 * insn_x86_64.h - the length of an instruction, and what it does to the stack pointer and the flow
 * of control (Intel SDM vol. 2). 64-bit code only. Threads: any.
 */
#ifndef PRELOAD_UNWIND_INSN_X86_64_H
#define PRELOAD_UNWIND_INSN_X86_64_H

#include "symtab/base.h"

enum { INSN_MAX = 15 };

enum insn_kind {
	INSN_OTHER,	     /* goes on, and leaves the stack pointer alone */
	INSN_PUSH,	     /* of register number `reg`, or of something else: INSN_NO_REGISTER */
	INSN_POP,	     /* into that */
	INSN_ADD_STACK,	     /* stack pointer += value */
	INSN_STACK_OF_FRAME, /* stack pointer = frame pointer + value */
	INSN_LEAVE,	     /* the same with 0, then the frame pointer is popped */
	INSN_RETURN,
	INSN_CALL,
	INSN_JUMP,	  /* by value, from the end of the instruction */
	INSN_JUMP_AWAY,	  /* through a pointer */
	INSN_BRANCH,	  /* as INSN_JUMP, or not */
	INSN_STOP,	  /* traps */
	INSN_LOSES_STACK, /* the stack pointer becomes something else */
};

enum { INSN_NO_REGISTER = 0xff };

struct insn {
	uint8_t length;
	uint8_t kind; /* enum insn_kind */
	uint8_t reg;  /* DWARF number */
	int32_t value;
};

/* Decodes the instruction that starts BYTES[SIZE]. False: unknown, or longer than SIZE. */
bool insn_decode(const uint8_t *bytes, size_t size, struct insn *insn);

#endif /* PRELOAD_UNWIND_INSN_X86_64_H */
