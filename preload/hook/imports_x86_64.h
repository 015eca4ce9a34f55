/* SPDX-License-Identifier: MIT */
/*
 * imports_x86_64.h - the relocations that store a function's bare address in a word (psABI 4.4).
 */
#ifndef PRELOAD_HOOK_IMPORTS_X86_64_H
#define PRELOAD_HOOK_IMPORTS_X86_64_H

#include <elf.h>

#include "symtab/base.h"

static inline bool import_is_address(uint32_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

/* Filled at the first call, if the object is bound lazily. */
static inline bool import_is_lazy(uint32_t type)
{
	return type == R_X86_64_JUMP_SLOT;
}

#endif /* PRELOAD_HOOK_IMPORTS_X86_64_H */
