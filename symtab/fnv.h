/* SPDX-License-Identifier: MIT */
/* fnv.h - FNV-1a, 64 bits, for tables and comparisons where nobody gains by a collision. */
#ifndef SYMTAB_FNV_H
#define SYMTAB_FNV_H

#include "symtab/base.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)

/* HASH, FNV_START at first, goes on with SIZE BYTES. */
static inline uint64_t fnv(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif /* SYMTAB_FNV_H */
