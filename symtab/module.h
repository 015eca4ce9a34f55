/* SPDX-License-Identifier: MIT */
/*
 * module.h - inside of a module: shared by its construction (module.c) and the texts that are made
 * for its symbols on request (naming.c).
 */
#ifndef SYMTAB_MODULE_H
#define SYMTAB_MODULE_H

#include "symtab/addrmap.h"
#include "symtab/elfimg.h"
#include "symtab/listing.h"
#include "symtab/nametable.h"
#include "symtab/sha256.h"
#include "symtab/symbols.h"
#include "symtab/symtab.h"
#include "symtab/who.h"

/* Texts of a symbol, made at the first request; system may be the same pointer as display. */
struct shown_name {
	char *display, *system;
};

struct module {
	atomic_uint refs;
	const char *engine;
	char engine_version[32];
	char *given_name, *guest_name; /* printable, NULL when there is none */
	char *path;		       /* printable, NULL when unknown */
	struct who *who;	       /* never NULL; who_of() fills it */
	bool is_component;
	uintptr_t
		bare_text; /* where its code is, when its unwind tables are all there is; else 0 */
	struct wasmbin *wasm; /* NULL when no bytes were seen */
	struct image_tables
		*tables; /* .symtab and .wasmtime.info go when nobody reads them again */
	struct symbols symbols;
	struct nametable *names; /* never NULL; naming_table() fills it */
	struct addrmap addrmap;
	uint32_t function_count;
	struct listing *listing;  /* NULL: its functions are those of an image */
	struct shown_name *shown; /* the cache; NULL until the first request */
	uint32_t shown_count;
};

/*
 * The name of the function or glue RECORD before demangling: from the wasm bytes, else the image's
 * name table, else its symbols. Not terminated; NULL when nothing names it.
 */
const char *naming_raw(const struct module *module, const struct symbol_record *record,
		       size_t *length);

/* The image's names, read at the first request. NULL: memory is short. */
const struct nametable *naming_table(const struct module *module);

/* What module_symbol_name() and module_symbol_system_name() promise. */
const char *naming_display(struct module *module, const struct symbol *symbol);
const char *naming_system(struct module *module, const struct symbol *symbol);

void naming_free(struct module *module);

/* Frees tables of the image that nobody reads again. */
void module_drop_read(const struct module *module);

#endif /* SYMTAB_MODULE_H */
