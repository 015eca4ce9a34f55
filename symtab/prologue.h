/* SPDX-License-Identifier: MIT */
/*
 * prologue.h - whether a function begins by setting up a frame pointer.
 */
#ifndef SYMTAB_PROLOGUE_H
#define SYMTAB_PROLOGUE_H

#include "symtab/base.h"
#include "symtab/memory.h"

enum {
	PROLOGUE_SIZE = 4,
	PROLOGUES = 64, /* of a module that are looked at: an engine makes all of one alike */
};

/* Whether CODE, a function's first PROLOGUE_SIZE bytes, is what the handler's walk counts on. */
bool prologue_has_frame_pointer(const uint8_t *code);

/* The same of the function at ADDRESS; false when that cannot be read. */
static inline bool prologue_is_at(const struct memory *memory, uintptr_t address)
{
	uint8_t code[PROLOGUE_SIZE];

	return memory_read(memory, address, code, sizeof(code)) == 0 &&
	       prologue_has_frame_pointer(code);
}

#endif /* SYMTAB_PROLOGUE_H */
