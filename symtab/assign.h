/* SPDX-License-Identifier: MIT */
/*
 * assign.h - which function each code range is, where the image has no symbols.
 */
#ifndef SYMTAB_ASSIGN_H
#define SYMTAB_ASSIGN_H

#include "symtab/modinfo.h"
#include "symtab/module.h"

/*
 * Sets kind, core and function of MODULE's symbols, which were made from frames: from the engine's
 * own table, else from the wasm's counts, else from the address map. A function whose index nobody
 * knows gets UINT32_MAX.
 */
void assign_functions(struct module *module, const struct modinfo *info);

#endif /* SYMTAB_ASSIGN_H */
