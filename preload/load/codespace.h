/* SPDX-License-Identifier: MIT */
/*
 * codespace.h - what engines told of single functions becomes modules and places. Threads: ours.
 *
 * Functions of the engine's own language, its builtins and glue are one module; wasm has one for
 * each module that the engine holds, as far as its memory and its names tell (codemodule.h).
 */
#ifndef PRELOAD_LOAD_CODESPACE_H
#define PRELOAD_LOAD_CODESPACE_H

#include "symtab/base.h"

struct load_observer;
struct symtab;

/* Takes what waits in the queue into SYMTAB. */
void codespace_work(struct symtab *symtab, const struct load_observer *observer);

/* All that OWNER told of ends. */
void codespace_end_owner(struct symtab *symtab, uint32_t owner);

/* Frees places that had ended a minute ago: whatever asks for them asks soon. */
void codespace_reclaim(struct symtab *symtab);

#endif /* PRELOAD_LOAD_CODESPACE_H */
