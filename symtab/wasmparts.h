/* SPDX-License-Identifier: MIT */
/*
 * wasmparts.h - inside of a wasm binary's summary: shared by the walk over the sections (wasmbin.c)
 * and the decoding of one core module's names (wasmnames.c) and code (wasmcode.c).
 */
#ifndef SYMTAB_WASMPARTS_H
#define SYMTAB_WASMPARTS_H

#include "symtab/cursor.h"
#include "symtab/sha256.h"
#include "symtab/strings.h"
#include "symtab/wasmbin.h"

/* Section ids (core specification 5.5.2; component model, Binary.md). */
enum {
	SECTION_CUSTOM = 0,
	SECTION_IMPORT = 2,
	SECTION_FUNCTION = 3,
	SECTION_EXPORT = 7,
	SECTION_CODE = 10,
	SECTION_CORE_MODULE = 1, /* in a component */
	SECTION_COMPONENT = 4,	 /* in a component */
};

/* Where a function's body is in the binary, and a hash of its bytes. */
struct wasmbin_body {
	uint32_t start, size;
	uint64_t hash;
};

struct wasmbin_core {
	char *name; /* printable, NULL when none was given */
	uint32_t imported, defined;
	uint32_t function_count; /* entries of functions: imported + defined, or more (see below) */
	struct span *functions;	 /* name of each, in wasmbin.text; length 0: none */
	size_t names_end;	 /* in wasmbin.text: names of the name section are before it */
	bool has_code;
	uint8_t code_sha256[SHA256_SIZE];
	uint64_t code_offset, code_size;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none */
	uint32_t body_count;
	struct wasmbin_body *bodies; /* ascending; NULL when they are not kept */
};

struct wasmbin {
	atomic_uint refs;
	uint8_t sha256[SHA256_SIZE];
	uint32_t core_count, core_room;
	struct wasmbin_core *cores;
	struct strings text;
	char *name; /* of a component; printable, NULL when none was given */
	bool is_component;
	bool keeps_bodies;
	struct span *imports;	    /* "module.name" of each imported function, in text */
	struct wasmbin_call *calls; /* ascending */
	uint32_t import_count, call_count, call_room;
	struct skeleton *skeleton; /* wasmbin_keep_debug() */
	char problem[128];	   /* "" when all is well */
	int error;		   /* -ENOMEM ends the parse */
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

/* Fills what identifies CORE, and its bodies where they are kept, from the same sections. */
void wasmcode_read(struct wasmbin *bin, struct wasmbin_core *core, struct cursor body);

/* The name of FUNCTION that the name section itself gives, as wasmbin_function_name() does. */
const char *wasmbin_section_name(const struct wasmbin *bin, uint32_t core, uint32_t function,
				 size_t *length);

/* A place in the code that, were it an instruction, would call an import. */
struct wasmbin_call {
	uint32_t position; /* in the binary */
	uint32_t import;   /* index in wasmbin.imports */
};

/* A name in the import section; its bytes are borrowed. */
struct wasmbin_name {
	const uint8_t *bytes;
	uint32_t length;
};

/* Takes imports up to and including the next function. Returns false when there is none. */
bool wasmnames_next_import(struct cursor *cursor, uint32_t *left, struct wasmbin_name *module,
			   struct wasmbin_name *field);

/* Adds CORE's imported functions and the places where they may be called, from the same sections.
 */
void wasmcalls_read(struct wasmbin *bin, const struct wasmbin_core *core, struct cursor body);
void wasmcalls_free(struct wasmbin *bin);

#endif /* SYMTAB_WASMPARTS_H */
