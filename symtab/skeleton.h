/* SPDX-License-Identifier: MIT */
/*
 * skeleton.h - of a wasm binary what its lines need: the debug sections, and where all else is.
 *
 * A skeleton has the binary's size, and every byte that is kept is where it was: the rest is zeros,
 * which compress to nothing. So positions stay what they are, in components too, and whoever reads
 * wasm reads it.
 */
#ifndef SYMTAB_SKELETON_H
#define SYMTAB_SKELETON_H

#include "symtab/cursor.h"

struct wasmbin;

struct skeleton_range {
	size_t at, size;
};

struct skeleton {
	size_t size; /* of the binary */
	uint8_t *kept;
	struct skeleton_range *ranges; /* of kept, in order */
	size_t kept_size, kept_room, range_count, range_room;
};

/*
 * Keeps what is needed of the binary that BIN was made from, at most LIMIT bytes; nothing where it
 * has no debug sections. Returns NULL with errno: ENOENT (no debug sections), E2BIG, ENOMEM.
 */
struct skeleton *skeleton_new(struct wasmbin *bin, const uint8_t *wasm, size_t size, size_t limit);
void skeleton_free(struct skeleton *skeleton);

/* Gives PUT the whole skeleton, piece by piece. 0, or what PUT gave if that is not 0. */
int skeleton_write(const struct skeleton *skeleton,
		   int (*put)(void *context, const void *bytes, size_t size), void *context);

#endif /* SYMTAB_SKELETON_H */
