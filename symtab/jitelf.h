/* SPDX-License-Identifier: MIT */
/*
 * jitelf.h - functions in an object file that a JIT shows to debuggers.
 *
 * ELF64, little-endian. In relocatable files, as LLVM's, a symbol's value counts from its section,
 * whose sh_addr is where it was loaded; in others it is the address. Threads: any.
 */
#ifndef SYMTAB_JITELF_H
#define SYMTAB_JITELF_H

#include "symtab/base.h"

struct jitelf_function {
	uintptr_t start;
	size_t size;
	const char *name; /* within the file, not terminated; never empty */
	size_t name_length;
};

/*
 * Calls VISIT for each function with a name, an address and a size in the file of SIZE bytes at
 * BYTES, any bytes: 65,536 of them at most. Returns 0 or -EINVAL: not such a file, or no symbols.
 */
int jitelf_functions(const uint8_t *bytes, size_t size,
		     void (*visit)(void *context, const struct jitelf_function *function),
		     void *context);

#endif /* SYMTAB_JITELF_H */
