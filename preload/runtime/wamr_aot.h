/* SPDX-License-Identifier: MIT */
/*
 * wamr_aot.h - WAMR's files of compiled code: which functions they hold, and where they came to be.
 *
 * Threads: any; all of it is the caller's. Untrusted: the file, and the engine's memory.
 */
#ifndef PRELOAD_RUNTIME_WAMR_AOT_H
#define PRELOAD_RUNTIME_WAMR_AOT_H

#include "symtab/base.h"

struct code_function;

struct wamr_aot;

/*
 * What the SIZE bytes at BYTES tell of their functions, names copied. NULL when they are no such
 * file, or one of a make that is not known (format 3 to 6), or memory is short.
 */
struct wamr_aot *wamr_aot_read(const uint8_t *bytes, size_t size);
void wamr_aot_free(struct wamr_aot *aot);

/* How many functions it defines. */
uint32_t wamr_aot_count(const struct wamr_aot *aot);

/*
 * Where the functions are in memory, of a MODULE that the engine just made of it: in FUNCTIONS,
 * which has room for wamr_aot_count(). IMPORTS: how many functions come before the first. The
 * module's list of addresses is looked for, and taken if all of it and the code there agree with
 * the file. False when there is none. The names are AOT's.
 */
bool wamr_aot_place(const struct wamr_aot *aot, uintptr_t module, uint32_t imports,
		    struct code_function *functions);

#endif /* PRELOAD_RUNTIME_WAMR_AOT_H */
