/* SPDX-License-Identifier: MIT */
/*
 * ehframe.h - the code ranges that a copied .eh_frame describes.
 */
#ifndef SYMTAB_EHFRAME_H
#define SYMTAB_EHFRAME_H

#include "symtab/base.h"

struct ehframe_range {
	uint64_t start, size; /* an address, and bytes from there */
};

/*
 * Calls VISIT for each FDE of SIZE bytes at BYTES that were at ADDRESS, in their order, until it
 * returns false. Ends at the terminator or at the first damage.
 */
void ehframe_each(const uint8_t *bytes, size_t size, uint64_t address,
		  bool (*visit)(void *context, const struct ehframe_range *range), void *context);

#endif /* SYMTAB_EHFRAME_H */
