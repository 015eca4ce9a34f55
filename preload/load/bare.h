/* SPDX-License-Identifier: MIT */
/*
 * bare.h - whose code it is that came with unwind tables only, and what its functions are called.
 */
#ifndef PRELOAD_LOAD_BARE_H
#define PRELOAD_LOAD_BARE_H

#include "symtab/symtab.h"

struct loading;

/*
 * Completes SOURCE of a LOADING whose wasm bytes nobody showed: engine and version by its maker;
 * for wasm, the binary among the files that the host opened; for other code, a name. Our thread,
 * without the registry's lock. What it puts into LOADING is LOADING's; the reference to the binary
 * is the caller's.
 */
void bare_know(struct loading *loading, struct module_source *source);

#endif /* PRELOAD_LOAD_BARE_H */
