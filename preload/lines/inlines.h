/* SPDX-License-Identifier: MIT */
/*
 * inlines.h - the inlined calls of one function, and which of them an address is in.
 */
#ifndef PRELOAD_LINES_INLINES_H
#define PRELOAD_LINES_INLINES_H

#include "symtab/base.h"

#include <elfutils/libdw.h>

#define INLINES_NONE UINT32_MAX

struct inline_call {
	Dwarf_Die entry;
	uint32_t parent; /* index of the call it is inside of, or INLINES_NONE */
};

/* Code whose innermost call is CALL; INLINES_NONE: it is the function's own. */
struct inline_segment {
	uint64_t low, high; /* [low, high) */
	uint32_t call;
};

/* Zeroed memory is that of no function. */
struct inlines {
	Dwarf_Off function;		 /* the entry whose calls these are; 0: none */
	struct inline_call *calls;	 /* owned; as they follow each other in .debug_info */
	struct inline_segment *segments; /* owned; by low */
	size_t call_count, segment_count, call_room, segment_room;
};

/* Lists the calls of FUNCTION, unless they are listed already. 0, -EBADMSG, -ENOMEM. */
int inlines_read(struct inlines *inlines, Dwarf_Die *function);
void inlines_free(struct inlines *inlines);

/*
 * The innermost call that ADDRESS is in, INLINES_NONE when it is in none. Where calls overlap that
 * are not inside each other, as optimizers of wasm leave them, the later one in the file takes from
 * the earlier: LLVM's rule (DWARFUnit::updateAddressDieMap), so that its tools agree with us.
 */
uint32_t inlines_find(const struct inlines *inlines, uint64_t address);

/* The linkage name of a function or inlined call, else its name in the source; NULL: none. */
const char *inlines_name(Dwarf_Die *entry);

/* An attribute that is a number, here or where ENTRY says it is defined; 0: there is none. */
uint64_t inlines_number(Dwarf_Die *entry, unsigned int attribute);

#endif /* PRELOAD_LINES_INLINES_H */
