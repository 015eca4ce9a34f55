/* SPDX-License-Identifier: MIT */
/*
 * imagehash.c - which image it is, whoever loads it and wherever.
 *
 * Nothing in it may depend on the process: engines do not change .text and these sections when they
 * load an image (wasmtime 14 to 50), and .eh_frame, which is relative to itself, says no more than
 * they do.
 */
#include "symtab/imagehash.h"

#include <string.h>

enum { PIECE = 8 << 10, MAX_PIECES = 512 }; /* host threads may have little stack */

static int add_piece(struct sha256 *sha, const struct memory *memory, uintptr_t address,
		     size_t size)
{
	uint8_t piece[PIECE];
	int error = memory_read(memory, address, piece, size);

	if (error == 0)
		sha256_add(sha, piece, size);
	return error;
}

void image_hash(struct image_tables *tables, const struct memory *memory,
		const struct image_layout *layout)
{
	size_t pieces = layout->text_size / PIECE + (layout->text_size % PIECE > 0), i;
	size_t count = pieces < MAX_PIECES ? pieces : MAX_PIECES;
	uint64_t size = layout->text_size;
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, &size, sizeof(size));
	for (i = 0; i < count; i++) {
		/* the first and the last are always among them */
		size_t at = (count > 1 ? i * (pieces - 1) / (count - 1) : 0) * PIECE;
		size_t left = layout->text_size - at;

		if (add_piece(&sha, memory, layout->text + at, left < PIECE ? left : PIECE) < 0)
			return;
	}
	sha256_end(&sha, tables->text_sha256);
	tables->has_text_hash = true;
}

void imagehash_identity(const struct image_tables *tables, char hex[2 * SHA256_SIZE + 1])
{
	const struct blob *const blobs[] = { &tables->symtab, &tables->strtab, &tables->names,
					     &tables->info, &tables->addrmap };
	uint8_t digest[SHA256_SIZE];
	struct sha256 sha;
	size_t i;

	sha256_init(&sha);
	sha256_add(&sha, tables->text_sha256, SHA256_SIZE);
	for (i = 0; i < ARRAY_SIZE(blobs); i++) {
		uint64_t length = blobs[i]->size;

		sha256_add(&sha, &length, sizeof(length));
		sha256_add(&sha, blobs[i]->bytes, blobs[i]->size);
	}
	sha256_end(&sha, digest);
	sha256_hex(digest, hex);
}
