/* SPDX-License-Identifier: MIT */
/*
 * sha256.h - SHA-256 (FIPS 180-4), for identities of modules.
 */
#ifndef SYMTAB_SHA256_H
#define SYMTAB_SHA256_H

#include "symtab/base.h"

enum { SHA256_SIZE = 32, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t size; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t size);
/*
 * As sha256_add() on each of two different ones, in the time of the longer: a processor that hashes
 * by itself waits for its own results, and takes a second stream for nothing.
 */
void sha256_add_two(struct sha256 *first, const void *bytes, size_t size, struct sha256 *second,
		    const void *other_bytes, size_t other_size);
void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE]);

/* Writes the digest as 64 lower-case hex digits, terminated. */
void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[2 * SHA256_SIZE + 1]);

/* The round constants (FIPS 180-4, 4.2.2). */
extern const uint32_t sha256_constants[64];

/*
 * Takes COUNT blocks by the CPU's own instructions (sha256_x86_64.c and the like). Returns false,
 * having done nothing, when it has none.
 */
bool sha256_by_cpu(uint32_t state[8], const uint8_t *blocks, size_t count);

/* COUNT blocks each of two streams. */
bool sha256_by_cpu_two(uint32_t state[8], const uint8_t *blocks, uint32_t other_state[8],
		       const uint8_t *other_blocks, size_t count);

#endif /* SYMTAB_SHA256_H */
