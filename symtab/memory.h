/* SPDX-License-Identifier: MIT */
/*
 * memory.h - how the symbol set reads memory that may vanish while it is read.
 *
 * An image lives in the host's memory and the host may unmap it at any time, so
 * nobody dereferences it: every read goes through one of these. Tests read from
 * a buffer, the preloaded library by guarded copy (preload/base/guarded.h).
 */
#ifndef SYMTAB_MEMORY_H
#define SYMTAB_MEMORY_H

#include "symtab/base.h"

struct memory {
	/* Copies SIZE bytes at ADDRESS to OUT. Returns 0, or -EFAULT when not all could be read. */
	int (*read)(void *context, uintptr_t address, void *out, size_t size);
	void *context;
};

static inline int memory_read(const struct memory *memory, uintptr_t address, void *out,
			      size_t size)
{
	return memory->read(memory->context, address, out, size);
}

#endif /* SYMTAB_MEMORY_H */
