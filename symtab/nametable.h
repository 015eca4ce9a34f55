/* SPDX-License-Identifier: MIT */
/*
 * nametable.h - full function names of an image, found without knowing the engine's version.
 *
 * wasmtime keeps all names one after another in .name.wasm, and for each core module that has
 * names a table (function, offset, length)... somewhere in .wasmtime.info, whose encoding differs
 * from version to version. The tables are recognised by their shape: offsets run on without a gap,
 * the tables of all modules fill .name.wasm exactly, and each agrees with the names in .symtab.
 */
#ifndef SYMTAB_NAMETABLE_H
#define SYMTAB_NAMETABLE_H

#include "symtab/elfimg.h"
#include "symtab/strings.h"
#include "symtab/symbols.h"

struct nametable_entry {
	uint32_t core, function;
	struct span name; /* in .name.wasm */
};

struct nametable {
	struct nametable_entry *entries; /* ascending by core and function */
	uint32_t count;
	bool is_read; /* the owner's: whether nametable_read() was called */
};

/*
 * Finds the tables. IS_COMPONENT allows more than one. Leaves TABLE empty when the image has no
 * names, or none that can be trusted. Returns 0 or -ENOMEM.
 */
int nametable_read(const struct image_tables *tables, const struct symbols *symbols,
		   bool is_component, struct nametable *table);
void nametable_free(struct nametable *table);

/* The entry of FUNCTION of CORE, or NULL. */
const struct nametable_entry *nametable_find(const struct nametable *table, uint32_t core,
					     uint32_t function);

#endif /* SYMTAB_NAMETABLE_H */
