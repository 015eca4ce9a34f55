/* SPDX-License-Identifier: MIT */
/*
 * code_x86_64.h - the few instructions that unwinding looks for, by their bytes (Intel SDM vol. 2).
 */
#ifndef PRELOAD_UNWIND_CODE_X86_64_H
#define PRELOAD_UNWIND_CODE_X86_64_H

#include "symtab/base.h"

enum {
	CODE_CALL_MAX = 7, /* longest call without prefixes */
	CODE_SIGRETURN_SIZE = 9,
	CODE_LEAF_SIZE = 11,
};

/* Where the return address of a function without tables may be: 8 bytes pushed more than that. */
enum code_leaf {
	CODE_LEAF_UNKNOWN,
	CODE_LEAF_ON_TOP, /* at (%rsp): before the prologue, at a ret, in a PLT entry */
	CODE_LEAF_PUSHED, /* at 8(%rsp): after the push of the prologue or of a lazy PLT entry */
};

/* Whether BEFORE[CODE_CALL_MAX] ends in a near call. */
bool code_ends_in_call(const uint8_t *before);
/* The same of a call to a fixed *TARGET; what follows BEFORE is at AFTER. */
bool code_ends_in_direct_call(const uint8_t *before, uint64_t after, uint64_t *target);
bool code_is_sigreturn_text(const uint8_t *bytes);

/* True when BYTES[0] is a return. */
bool code_is_return(uint8_t byte);

/* BYTES[CODE_LEAF_SIZE]: from one byte before the program counter; zero where unknown. */
enum code_leaf code_leaf_at(const uint8_t *bytes);

#endif /* PRELOAD_UNWIND_CODE_X86_64_H */
