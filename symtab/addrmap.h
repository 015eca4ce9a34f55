/* SPDX-License-Identifier: MIT */
/*
 * addrmap.h - text offset -> position in the wasm binary, from a copied .wasmtime.addrmap.
 */
#ifndef SYMTAB_ADDRMAP_H
#define SYMTAB_ADDRMAP_H

#include "symtab/base.h"

/* A checked view of SIZE bytes at BYTES, which it borrows. */
struct addrmap {
	const uint8_t *bytes;
	size_t size;
	uint32_t count;	 /* entries; 0: no map */
	uint32_t blocks; /* of up to 128 entries, wasmtime 47 and later; 0: two plain arrays */
};

/* VERSION is the engine's major version, 0 when unknown. A map that is not understood is empty. */
struct addrmap addrmap_of(const uint8_t *bytes, size_t size, unsigned long version);

/*
 * The position for text OFFSET in the function that starts at text START: that of the last entry at
 * or before OFFSET that has one and is not before START.
 */
bool addrmap_find(const struct addrmap *map, uint64_t start, uint64_t offset, uint32_t *position);

/* The first position in [START, END): that of a function's first instruction. */
bool addrmap_first(const struct addrmap *map, uint64_t start, uint64_t end, uint32_t *position);

/*
 * The lowest and the highest position in [START, END), of all entries that have one. Returns false
 * when there is none.
 */
bool addrmap_extent(const struct addrmap *map, uint64_t start, uint64_t end, uint32_t *low,
		    uint32_t *high);

#endif /* SYMTAB_ADDRMAP_H */
