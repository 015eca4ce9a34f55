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

enum { PIECE = 4 << 10, MAX_PIECES = 1024 }; /* host threads may have little stack */

/* Two digests that were made at the same time, as one. */
static void join(struct sha256 halves[2], uint8_t digest[SHA256_SIZE])
{
	uint8_t half[SHA256_SIZE];
	struct sha256 sha;
	size_t i;

	sha256_init(&sha);
	for (i = 0; i < 2; i++) {
		sha256_end(&halves[i], half);
		sha256_add(&sha, half, sizeof(half));
	}
	sha256_end(&sha, digest);
}

static int add_pieces(struct sha256 halves[2], const struct memory *memory,
		      const uintptr_t addresses[2], const size_t sizes[2])
{
	uint8_t pieces[2][PIECE];
	size_t i;

	for (i = 0; i < 2 && sizes[i] > 0; i++) {
		int error = memory_read(memory, addresses[i], pieces[i], sizes[i]);

		if (error < 0)
			return error;
	}
	sha256_add_two(&halves[0], pieces[0], sizes[0], &halves[1], pieces[1], sizes[1]);
	return 0;
}

void image_hash(struct image_tables *tables, const struct memory *memory,
		const struct image_layout *layout)
{
	size_t pieces = layout->text_size / PIECE + (layout->text_size % PIECE > 0), i, j;
	size_t count = pieces < MAX_PIECES ? pieces : MAX_PIECES;
	uint64_t size = layout->text_size;
	struct sha256 halves[2];

	for (i = 0; i < 2; i++) {
		sha256_init(&halves[i]);
		sha256_add(&halves[i], &size, sizeof(size));
	}
	for (i = 0; i < count; i += 2) {
		uintptr_t addresses[2] = { 0 };
		size_t sizes[2] = { 0 };

		for (j = 0; j < 2 && i + j < count; j++) {
			/* the first and the last are always among them */
			size_t at = (count > 1 ? (i + j) * (pieces - 1) / (count - 1) : 0) * PIECE;
			size_t left = layout->text_size - at;

			addresses[j] = layout->text + at;
			sizes[j] = left < PIECE ? left : PIECE;
		}
		if (add_pieces(halves, memory, addresses, sizes) < 0)
			return;
	}
	join(halves, tables->text_sha256);
	tables->has_text_hash = true;
}

/* Adds the bytes of FIRST to one half and those of SECOND to the other, three pieces each. */
static void add_streams(struct sha256 halves[2], struct blob first[3], struct blob second[3])
{
	size_t i = 0, j = 0, both;

	while (i < 3 && j < 3) {
		both = first[i].size < second[j].size ? first[i].size : second[j].size;
		if (both > 0) {
			sha256_add_two(&halves[0], first[i].bytes, both, &halves[1],
				       second[j].bytes, both);
			first[i].bytes += both, first[i].size -= both;
			second[j].bytes += both, second[j].size -= both;
		}
		i += first[i].size == 0;
		j += second[j].size == 0;
	}
	for (; i < 3; i++)
		sha256_add(&halves[0], first[i].bytes, first[i].size);
	for (; j < 3; j++)
		sha256_add(&halves[1], second[j].bytes, second[j].size);
}

void imagehash_identity(const struct image_tables *tables, char hex[2 * SHA256_SIZE + 1])
{
	const struct blob *const blobs[] = { &tables->symtab, &tables->strtab, &tables->names,
					     &tables->info, &tables->addrmap };
	uint8_t digest[SHA256_SIZE];
	struct sha256 halves[2];
	size_t i;

	sha256_init(&halves[0]);
	sha256_init(&halves[1]);
	sha256_add(&halves[0], tables->text_sha256, SHA256_SIZE);
	for (i = 0; i < ARRAY_SIZE(blobs); i++) {
		uint64_t length = blobs[i]->size;

		sha256_add(&halves[0], &length, sizeof(length));
	}
	/* lengths are known, so the order is free: the two streams are about as long */
	add_streams(halves, (struct blob[]){ tables->names, tables->strtab, { 0 } },
		    (struct blob[]){ tables->addrmap, tables->symtab, tables->info });
	join(halves, digest);
	sha256_hex(digest, hex);
}
