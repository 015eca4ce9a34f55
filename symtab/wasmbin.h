/* SPDX-License-Identifier: MIT */
/*
 * wasmbin.h - what a wasm binary says of itself: its names, and which one it is.
 *
 * Text that is returned is valid UTF-8, belongs to the object it was asked from, and lives as long
 * as that object. Signals: never.
 */
#ifndef SYMTAB_WASMBIN_H
#define SYMTAB_WASMBIN_H

#include "symtab/base.h"

/* ---- identities ----------------------------------------------------------------------------- */

enum { IDENTITY_SIZE = 65, BUILD_ID_MAX = 32 };

/*
 * What was seen of a module that says which one it is, as lower-case hex digits; "" where it was
 * not seen. The same bytes have the same identity in every process and whichever engine compiles
 * them; the same image has the same one wherever it is loaded.
 */
struct identity {
	char wasm[IDENTITY_SIZE];	     /* SHA-256 of the wasm bytes */
	char code[IDENTITY_SIZE];	     /* of the content of the code section (see below) */
	char image[IDENTITY_SIZE];	     /* of the engine's code and its tables: image_hash() */
	char build_id[2 * BUILD_ID_MAX + 1]; /* the section `build_id`, its first 32 bytes */
	uint64_t code_offset;		     /* of that content in the wasm bytes; 0: unknown */
	uint32_t defined_functions;
};

/* ---- wasm binaries -------------------------------------------------------------------------- */

/*
 * What is kept of a wasm binary, core module or component: per static core module
 * its name, function counts, function names and export names, and the identity.
 * Immutable and reference-counted; the bytes it was made from are not kept.
 */
struct wasmbin;

/*
 * Reads SIZE bytes at WASM. Returns an object with one reference, or NULL with
 * errno set: EINVAL when the preamble is not wasm's (text format, say), ENOMEM.
 * Damaged sections after a good preamble give less (names so far), never an error;
 * wasmbin_problem() then says what and where. Time is linear in SIZE.
 * Threads: any. The bytes are only read during the call.
 */
struct wasmbin *wasmbin_parse(const uint8_t *wasm, size_t size);

/* The hash that wasmbin_sha256() gives, alone; and the same as wasmbin_parse() once it is known. */
void wasmbin_hash(const uint8_t *wasm, size_t size, uint8_t digest[32]);
struct wasmbin *wasmbin_parse_hashed(const uint8_t *wasm, size_t size, const uint8_t digest[32]);

/*
 * The same, and it keeps where each function's body is: 16 bytes a function, for the command, which
 * compares binaries and looks positions up. In the host nobody needs them.
 */
struct wasmbin *wasmbin_parse_bodies(const uint8_t *wasm, size_t size);

/*
 * Keeps a copy of what source lines need of the bytes that BIN was made from, at most LIMIT bytes:
 * before BIN is shared. 0; -ENOENT: there are no debug sections; -E2BIG, -ENOMEM.
 */
int wasmbin_keep_debug(struct wasmbin *bin, const uint8_t *wasm, size_t size, size_t limit);

/*
 * What was kept, as a wasm binary of the same size whose other bytes are zeros: its size, 0 when
 * nothing was kept; and all of it, in pieces. 0, or what PUT gave if that is not 0.
 */
size_t wasmbin_debug_size(const struct wasmbin *bin);
int wasmbin_debug_write(const struct wasmbin *bin,
			int (*put)(void *context, const void *bytes, size_t size), void *context);

struct wasmbin *wasmbin_ref(struct wasmbin *bin);
void wasmbin_unref(struct wasmbin *bin);

/* One line that says what is damaged and at which offset, or NULL when all is well. */
const char *wasmbin_problem(const struct wasmbin *bin);

/* SHA-256 of all bytes. */
const uint8_t *wasmbin_sha256(const struct wasmbin *bin);

/*
 * All that identifies it, but for `image`. In a component with several core modules, or none, code
 * is the SHA-256 of theirs, one after another, and code_offset 0.
 */
void wasmbin_identity(const struct wasmbin *bin, struct identity *identity);
/* The same of core module CORE alone; `wasm` is "" unless it is all there is. */
void wasmbin_core_identity(const struct wasmbin *bin, uint32_t core, struct identity *identity);

bool wasmbin_is_component(const struct wasmbin *bin);

/* Number of static core modules: 1 for a core module; components in depth-first order. */
uint32_t wasmbin_core_count(const struct wasmbin *bin);

/* The component's own name, else that of core module 0; "" where none was given. */
const char *wasmbin_name(const struct wasmbin *bin);

/* Facts of core module CORE (below wasmbin_core_count()). The name is "" where none was given. */
const char *wasmbin_core_name(const struct wasmbin *bin, uint32_t core);
uint32_t wasmbin_imported_functions(const struct wasmbin *bin, uint32_t core);
uint32_t wasmbin_defined_functions(const struct wasmbin *bin, uint32_t core);

/* How many functions, imported ones among them, the name section of CORE names. */
uint32_t wasmbin_named_functions(const struct wasmbin *bin, uint32_t core);

/*
 * The name of function FUNCTION (index including imports) of core module CORE as the
 * binary gives it: name section, else export name, else for imports "module.name".
 * Not terminated; *LENGTH is set. NULL when the binary names it nowhere.
 */
const char *wasmbin_function_name(const struct wasmbin *bin, uint32_t core, uint32_t function,
				  size_t *length);

/*
 * Where the body of FUNCTION (index including imports) is: positions in the binary, of the first
 * byte after its size and of the first behind it. False when it has none, or they were not kept.
 */
bool wasmbin_body(const struct wasmbin *bin, uint32_t core, uint32_t function, uint64_t *start,
		  uint64_t *end);

/* The function whose body holds POSITION of the binary. False when none does. */
bool wasmbin_find(const struct wasmbin *bin, uint64_t position, uint32_t *core, uint32_t *function);

/*
 * When the instruction at POSITION of the binary is a `call` of an imported function: writes
 * "module.name" to OUT (SIZE bytes, terminated, printable) and returns its length; else 0.
 */
size_t wasmbin_called_import(const struct wasmbin *bin, uint64_t position, char *out, size_t size);

#endif /* SYMTAB_WASMBIN_H */
