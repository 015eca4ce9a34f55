/* SPDX-License-Identifier: MIT */
/*
 * funckeys.h - what each code range of an image without symbols is, from the engine's own table.
 */
#ifndef SYMTAB_FUNCKEYS_H
#define SYMTAB_FUNCKEYS_H

#include "symtab/symbols.h"

/*
 * Finds the table in .wasmtime.info (wasmtime 37 and later have it) and sets kind and core of
 * SYMBOLS that were made from frames; function becomes the number among the functions that the core
 * module defines, UINT32_MAX for glue. Returns false, and changes nothing, when no table there
 * describes exactly these ranges.
 */
bool funckeys_apply(const struct blob *info, struct symbols *symbols);

#endif /* SYMTAB_FUNCKEYS_H */
