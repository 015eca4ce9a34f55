/* SPDX-License-Identifier: MIT */
/*
 * modinfo.h - what an image whose wasm bytes nobody saw says of its core module.
 */
#ifndef SYMTAB_MODINFO_H
#define SYMTAB_MODINFO_H

#include "symtab/elfimg.h"

struct modinfo {
	char *name; /* printable, NULL when there is none */
	bool imports_are_known;
	uint32_t imported_functions;
};

/*
 * Reads .wasmtime.info of a core module's image, not a component's. VERSION is the engine's major
 * version, 0 when unknown: then nothing is. Returns 0 or -ENOMEM; the caller calls modinfo_fini().
 */
int modinfo_read(const struct blob *info, unsigned long version, struct modinfo *out);
void modinfo_fini(struct modinfo *info);

#endif /* SYMTAB_MODINFO_H */
