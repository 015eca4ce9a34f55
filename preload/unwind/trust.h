/* SPDX-License-Identifier: MIT */
/*
 * trust.h - may libunwind run this unwind program?
 *
 * It checks most of what a program does. But (1.6.2) it takes the second register of
 * DW_CFA_register as an index without looking, divides INT64_MIN by -1, and remembers states
 * without end: each of these ends the host. And it misreads expressions that name a register
 * (DW_OP_reg), as wasmtime's fibers have. What is not trusted is left to cfi.h.
 */
#ifndef PRELOAD_UNWIND_TRUST_H
#define PRELOAD_UNWIND_TRUST_H

#include "symtab/base.h"
#include "symtab/memory.h"

/* True when the FDE at address FDE and its CIE can be read and hold nothing dangerous. */
bool trust_fde(const struct memory *memory, uintptr_t fde);

#endif /* PRELOAD_UNWIND_TRUST_H */
