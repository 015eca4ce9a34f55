/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the functions of an image, in the order of their addresses, without overlaps.
 */
#ifndef SYMTAB_SYMBOLS_H
#define SYMTAB_SYMBOLS_H

#include "symtab/elfimg.h"
#include "symtab/strings.h"

enum { SYMBOLS_NO_NAME = UINT32_MAX }; /* offset of a name that is not there ("" is a name) */

struct symbol_record {
	struct symbol symbol;
	/* In .strtab: for guest functions what follows the index, else the whole symbol name. */
	struct span name;
};

struct symbols {
	struct symbol_record *records;
	uint32_t count;
	bool have_names;  /* some guest function's symbol names it: wasmtime 22 and later */
	bool from_frames; /* made from .eh_frame: no names, and core and function not known yet;
			     name.length is the place of its FDE among the others, from 0 */
};

/*
 * Reads .symtab, or, when that has none, the FDEs of .eh_frame. TEXT is the address and size of the
 * code. Entries that are damaged or outside of it are left out. Returns 0 or -ENOMEM.
 */
int symbols_read(const struct image_tables *tables, uintptr_t text, size_t text_size,
		 struct symbols *symbols);
void symbols_free(struct symbols *symbols);

/* The record that covers text OFFSET, or NULL. */
const struct symbol_record *symbols_find(const struct symbols *symbols, uint64_t offset);

/*
 * Whether the engine makes the symbol name CLEAN of NAME: each run of characters that are not
 * graphic ASCII (or are `?`, then) becomes one `?`, and what is over 96 characters is cut.
 */
bool symbols_cleaned(const uint8_t *name, size_t length, const char *clean, size_t clean_length);

#endif /* SYMTAB_SYMBOLS_H */
