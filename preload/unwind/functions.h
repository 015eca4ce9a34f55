/* SPDX-License-Identifier: MIT */
/*
 * functions.h - homes of guests' functions, each found once. Threads: ours.
 */
#ifndef PRELOAD_UNWIND_FUNCTIONS_H
#define PRELOAD_UNWIND_FUNCTIONS_H

#include "preload/unwind/homes.h"
#include "symtab/symtab.h"

/*
 * The homes of SYMBOL of ENTRY's module, whose code is read if it was not yet; NULL when nothing is
 * known of them. Valid until the next call.
 */
const struct homes *functions_homes(const struct symtab_entry *entry, const struct symbol *symbol);

#endif /* PRELOAD_UNWIND_FUNCTIONS_H */
