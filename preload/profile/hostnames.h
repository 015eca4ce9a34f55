/* SPDX-License-Identifier: MIT */
/*
 * hostnames.h - what the host's code at an address is called.
 *
 * From the symbol tables of the object that holds it (symtab/objsyms.h), kept for the next
 * question; demangled, and made short enough to read. Threads: ours.
 */
#ifndef PRELOAD_PROFILE_HOSTNAMES_H
#define PRELOAD_PROFILE_HOSTNAMES_H

#include "symtab/base.h"

struct hostname {
	char shown[512];  /* `wasmtime::Func::call`, `libx.so+0x1234`, `[jit 0xADDR+SIZE]` by its
			     mapping, `0x7f..`: never empty */
	char object[128]; /* the file that holds it, without folders; "" when no object does */
	bool is_symbol;	  /* a symbol's name, not a place */
};

/* Fills NAME for the code at PC. */
void hostnames_find(uint64_t pc, struct hostname *name);

/*
 * Makes the demangled NAME readable, in place: a Rust or C++ name without what its types are made
 * of. `<tokio::runtime::Runtime>::block_on::<X>` becomes `tokio::runtime::Runtime::block_on`.
 */
void hostnames_shorten(char *name);

/* Closes all files. */
void hostnames_forget(void);

#endif /* PRELOAD_PROFILE_HOSTNAMES_H */
