/* SPDX-License-Identifier: MIT */
/*
 * wasmbin.h - inside of a wasm binary's summary: shared by the walk over the sections (wasmbin.c)
 * and the decoding of one core module's names (wasmnames.c).
 */
#ifndef SYMTAB_WASMBIN_H
#define SYMTAB_WASMBIN_H

#include "symtab/cursor.h"
#include "symtab/sha256.h"
#include "symtab/strings.h"
#include "symtab/symtab.h"

/* Section ids (core specification 5.5.2; component model, Binary.md). */
enum {
	SECTION_CUSTOM = 0,
	SECTION_IMPORT = 2,
	SECTION_FUNCTION = 3,
	SECTION_EXPORT = 7,
	SECTION_CORE_MODULE = 1, /* in a component */
	SECTION_COMPONENT = 4,	 /* in a component */
};

struct wasmbin_core {
	char *name; /* printable, NULL when none was given */
	uint32_t imported, defined;
	uint32_t function_count; /* entries of functions: imported + defined, or more (see below) */
	struct span *functions;	 /* name of each, in wasmbin.text; length 0: none */
};

struct wasmbin {
	atomic_uint refs;
	uint8_t sha256[SHA256_SIZE];
	uint32_t core_count, core_room;
	struct wasmbin_core *cores;
	struct strings text;
	char *name; /* of a component; printable, NULL when none was given */
	bool is_component;
	char problem[128]; /* "" when all is well */
	int error;	   /* -ENOMEM ends the parse */
};

/* Notes the first damage: WHAT, met at OFFSET of the binary. */
void wasmbin_note(struct wasmbin *bin, size_t offset, const char *what);

struct section {
	uint8_t id;
	struct cursor body;
};

/*
 * Takes the next section of a module or component. Returns false at the end. A section that runs
 * past the end gives what is there, and is the last.
 */
bool wasmbin_next_section(struct wasmbin *bin, struct cursor *cursor, struct section *section);

/* Skips the name of the custom section in BODY; true when it is NAME. */
bool wasmbin_section_is(struct cursor *body, const char *name);

/* Reads subsection 0 of a "name" or "component-name" section: a printable copy, or NULL. */
char *wasmbin_read_name(struct wasmbin *bin, struct cursor body);

/* Fills CORE from the sections of the core module in BODY (after its preamble). */
void wasmnames_read(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body);

#endif /* SYMTAB_WASMBIN_H */
