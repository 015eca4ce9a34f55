/* SPDX-License-Identifier: MIT */
/*
 * sections.h - where a wasm file has the code and the debug sections of its core modules.
 *
 * Core modules are numbered as in symtab's wasmbin: in the order in which they are met depth-first.
 */
#ifndef PRELOAD_LINES_SECTIONS_H
#define PRELOAD_LINES_SECTIONS_H

#include "symtab/base.h"

/* The debug sections that are read. Those that would lead to other files are not among them. */
#define DEBUG_SECTIONS(ROW)                    \
	ROW(INFO, ".debug_info")               \
	ROW(ABBREV, ".debug_abbrev")           \
	ROW(LINE, ".debug_line")               \
	ROW(LINE_STR, ".debug_line_str")       \
	ROW(STR, ".debug_str")                 \
	ROW(STR_OFFSETS, ".debug_str_offsets") \
	ROW(ADDR, ".debug_addr")               \
	ROW(RANGES, ".debug_ranges")           \
	ROW(RNGLISTS, ".debug_rnglists")

enum debug_section {
#define ROW(id, name) DEBUG_##id,
	DEBUG_SECTIONS(ROW)
#undef ROW
		DEBUG_COUNT
};

extern const char *const sections_names[DEBUG_COUNT];

/* A part of the file; size 0: it is not there. */
struct extent {
	size_t at, size;
};

struct sections_core {
	struct extent code; /* contents of the code section: DWARF's address 0 is at its start */
	struct extent debug[DEBUG_COUNT];
	struct extent external_debug_info, source_map; /* a name or URL */
};

struct sections {
	struct sections_core *cores; /* owned */
	uint32_t core_count;
};

/* 0, -EINVAL (the preamble is not wasm's), -ENOMEM. sections_free() in all cases. */
int sections_read(struct sections *sections, const uint8_t *wasm, size_t size);
void sections_free(struct sections *sections);

#endif /* PRELOAD_LINES_SECTIONS_H */
