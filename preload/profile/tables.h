/* SPDX-License-Identifier: MIT */
/*
 * tables.h - pprof's tables of one recording: mappings, functions, locations, with their strings.
 *
 * A row is made at the first use, its name then demangled, and never changed; rows are numbered
 * from 1 in order. A function is known by its module's identity, so that the same bytes loaded ten
 * times share it; a location by its loading. Nothing points into the symbol table. Bounded: beyond
 * the bound a location is `(other)`.
 */
#ifndef PRELOAD_PROFILE_TABLES_H
#define PRELOAD_PROFILE_TABLES_H

#include "preload/profile/chunk.h"
#include "preload/profile/lookup.h"
#include "preload/profile/places.h"
#include "preload/profile/resolve.h"
#include "preload/profile/texts.h"
#include "symtab/base.h"

struct location_key {
	uint64_t address;
	uint32_t loading; /* 0: host or nobody's */
	uint32_t symbol;  /* symbol.id, UINT32_MAX none */
	uint32_t kind;	  /* enum frame_kind */
	uint16_t is_wasm, is_guess;
};

struct function_key {
	uint32_t identity, name; /* texts; identity 0: host, or nobody's */
	uint32_t core, index;	 /* of the guest's functions, then the name does not count */
};

struct tables {
	struct texts texts;
	struct chunk_mapping *mappings;
	struct chunk_function *functions;
	struct function_key *function_keys;
	struct chunk_location *locations;
	struct location_key *location_keys;
	size_t mapping_count, mapping_capacity;
	size_t function_count, function_capacity, function_key_capacity;
	size_t location_count, location_capacity, location_key_capacity, location_limit;
	uint64_t modules_ns; /* CPU time for what a module costs once */
	size_t layout_left;  /* bytes that layouts of modules may still take */
	struct lookup mapping_lookup, function_lookup, location_lookup;
	struct places places;
};

/* 0 or -ENOMEM. MEMORY bounds text and locations, in bytes, about. */
int tables_init(struct tables *tables, uint64_t memory);
void tables_fini(struct tables *tables);

/* The id of the location `(other)`: always there. */
enum { LOCATION_OTHER = 1 };

/* Id of the location of a host frame that is no place in code, and is called TEXT. */
uint32_t tables_plain_location(struct tables *tables, const char *text);

/* The same for a call of TEXT, which is an import of ENTRY's module (as tables_location()). */
uint32_t tables_import_location(struct tables *tables, const char *text,
				const struct symtab_entry *entry, uint32_t module_name);

/* Id of FRAME's location; MODULE_NAME: text of its module's shown name, 0 for host code. */
uint32_t tables_location(struct tables *tables, const struct frame *frame, uint32_t module_name);

#endif /* PRELOAD_PROFILE_TABLES_H */
