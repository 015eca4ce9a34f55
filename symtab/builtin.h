/* SPDX-License-Identifier: MIT */
/*
 * builtin.h - which instruction an engine's helper function stands for.
 */
#ifndef SYMTAB_BUILTIN_H
#define SYMTAB_BUILTIN_H

#include "symtab/base.h"

/*
 * The instruction's name (memory.grow) for the symbol of a builtin (wasmtime_builtin_memory_grow),
 * a static string; NULL when SYMBOL is no builtin that we know.
 */
const char *builtin_instruction(const char *symbol, size_t length);

/* Length of what precedes the builtin's own name in SYMBOL: 0 when it is no builtin. */
size_t builtin_prefix(const char *symbol, size_t length);

#endif /* SYMTAB_BUILTIN_H */
