/* SPDX-License-Identifier: MIT */
/*
 * lines.h - from a position in a wasm file to function, file, line and inlined callers.
 *
 * The command only. The debug information is the DWARF (versions 4 and 5) in the custom sections
 * `.debug_*` of the core module that holds the position; its addresses count from the contents of
 * that module's code section. Cost follows what is asked for: a unit is looked into when a position
 * in it is.
 *
 * Nothing that the file names is ever opened: neither `external_debug_info`, nor a source map, nor
 * DWARF's own references to other files.
 */
#ifndef PRELOAD_LINES_LINES_H
#define PRELOAD_LINES_LINES_H

#include "symtab/wasmbin.h"

struct lines;

/* One wasm file may be so large: the sections' offsets are 32-bit. */
#define LINES_FILE_MAX ((size_t)2 << 30)

/*
 * Reads a core module or component: the file PATH, or a copy of SIZE bytes at WASM. NULL with
 * errno: EINVAL (not wasm), EFBIG, ENOMEM, what open() and read() give. Damaged sections give less.
 */
struct lines *lines_open(const char *path);
struct lines *lines_copy(const uint8_t *wasm, size_t size);

/* The same for SIZE bytes that FILL writes; it returns 0, or a negative errno. */
struct lines *lines_fill(size_t size, int (*fill)(void *context, uint8_t *wasm, size_t size),
			 void *context);
void lines_close(struct lines *lines);

/* The file's names, bodies (it comes from wasmbin_parse_bodies()) and identity; borrowed. */
const struct wasmbin *lines_binary(const struct lines *lines);

/* Whether any core module has debug information. */
bool lines_has_debug(const struct lines *lines);

/*
 * What the file names as the place of its debug information or source map: the text of
 * `external_debug_info` or `sourceMappingURL`, as it is there (any bytes, at most MAX of them,
 * terminated in TEXT). False when it names none.
 */
enum lines_reference { LINES_EXTERNAL_DEBUG_INFO, LINES_SOURCE_MAP };
enum { LINES_REFERENCE_MAX = 1024 };
bool lines_reference(const struct lines *lines, enum lines_reference which,
		     char text[LINES_REFERENCE_MAX]);

struct lines_frame {
	const char *name;      /* linkage name, else the source's; NULL: not named */
	const char *file;      /* NULL: unknown */
	uint32_t line, column; /* 0: unknown, or code of no line */
	uint32_t start_line;   /* where the function is declared; 0: unknown */
};

enum { LINES_DEPTH_MAX = 256 };

struct lines_place {
	uint32_t core, function; /* whose body it is in; function counts imports */
	bool is_damaged;	 /* there may be more, or better, that could not be read */
	size_t frame_count;	 /* 0: there is no debug information about it */
	/* Innermost inlined call first; the last is the function itself. */
	struct lines_frame frames[LINES_DEPTH_MAX];
};

/*
 * The place of OFFSET, a position in the file. 0, -ENOENT: it is in no function's body, or -ENOMEM.
 * Texts live until the next call. Quickest in rising order of OFFSET.
 */
int lines_find(struct lines *lines, uint64_t offset, struct lines_place *place);

#endif /* PRELOAD_LINES_LINES_H */
