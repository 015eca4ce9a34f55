/* SPDX-License-Identifier: MIT */
/*
 * strings.h - many small texts in one growing block, named by their offset.
 *
 * Offsets stay good when the block moves; pointers into it do not. Owner: whoever
 * holds the struct, which starts zeroed and ends with strings_fini().
 */
#ifndef SYMTAB_STRINGS_H
#define SYMTAB_STRINGS_H

#include "symtab/base.h"

struct strings {
	char *bytes;
	size_t used, room;
};

/* Where a text is. Length 0: no text. */
struct span {
	uint32_t offset, length;
};

/*
 * Appends LENGTH bytes, not terminated, and sets *SPAN. Returns 0, -ENOMEM, or -E2BIG when the
 * block would pass 4 GiB.
 */
int strings_add(struct strings *strings, const void *bytes, size_t length, struct span *span);

/* Appends LENGTH bytes to the text that was added last. Returns as strings_add() does. */
int strings_extend(struct strings *strings, const void *bytes, size_t length, struct span *span);

/* Gives back what growing took in advance. */
void strings_trim(struct strings *strings);
void strings_fini(struct strings *strings);

#endif /* SYMTAB_STRINGS_H */
