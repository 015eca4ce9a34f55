/* SPDX-License-Identifier: MIT */
/*
 * module.h - inside of a module: shared by its construction (module.c) and the texts that are made
 * for its symbols on request (naming.c).
 */
#ifndef SYMTAB_MODULE_H
#define SYMTAB_MODULE_H

#include "symtab/addrmap.h"
#include "symtab/elfimg.h"
#include "symtab/nametable.h"
#include "symtab/sha256.h"
#include "symtab/symbols.h"
#include "symtab/symtab.h"

/* Texts of a symbol, made at the first request; system may be the same pointer as display. */
struct shown_name {
	char *display, *system;
};

struct module {
	atomic_uint refs;
	const char *engine;
	char engine_version[32];
	char *name;
	enum name_origin name_origin;
	char *path; /* printable, NULL when unknown */
	struct identity identity;
	bool is_component;
	uintptr_t
		bare_text; /* where its code is, when its unwind tables are all there is; else 0 */
	struct wasmbin *wasm;	     /* NULL when no bytes were seen */
	struct image_tables *tables; /* without .symtab and .wasmtime.info, which are read */
	struct symbols symbols;
	struct nametable names;
	struct addrmap addrmap;
	uint32_t function_count;
	struct shown_name *shown; /* the cache; NULL until the first request */
};

/*
 * The name of the function or glue RECORD before demangling: from the wasm bytes, else the image's
 * name table, else its symbols. Not terminated; NULL when nothing names it.
 */
const char *naming_raw(const struct module *module, const struct symbol_record *record,
		       size_t *length);

/* What module_symbol_name() and module_symbol_system_name() promise. */
const char *naming_display(struct module *module, const struct symbol *symbol);
const char *naming_system(struct module *module, const struct symbol *symbol);

void naming_free(struct module *module);

#endif /* SYMTAB_MODULE_H */
