/* SPDX-License-Identifier: MIT */
/*
 * sha256.c - SHA-256 (FIPS 180-4).
 */
#include "symtab/sha256.h"

#include <string.h>

const uint32_t sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, unsigned int count)
{
	return word >> count | word << (32 - count);
}

static void schedule(const uint8_t *block, uint32_t words[64])
{
	size_t i;

	for (i = 0; i < 16; i++) {
		memcpy(&words[i], block + 4 * i, 4);
		words[i] = __builtin_bswap32(words[i]);
	}
	for (i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + words[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* One round; the caller turns the roles of the eight words instead of moving them. */
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
			uint32_t g, uint32_t *h, uint32_t word)
{
	uint32_t sum =
		*h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;

	*d += sum;
	*h = sum + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	uint32_t words[64];
	size_t i;

	schedule(block, words);
	for (i = 0; i < 64; i++)
		words[i] += sha256_constants[i];
	for (i = 0; i < 64; i += 8) {
		turn(a, b, c, &d, e, f, g, &h, words[i]);
		turn(h, a, b, &c, d, e, f, &g, words[i + 1]);
		turn(g, h, a, &b, c, d, e, &f, words[i + 2]);
		turn(f, g, h, &a, b, c, d, &e, words[i + 3]);
		turn(e, f, g, &h, a, b, c, &d, words[i + 4]);
		turn(d, e, f, &g, h, a, b, &c, words[i + 5]);
		turn(c, d, e, &f, g, h, a, &b, words[i + 6]);
		turn(b, c, d, &e, f, g, h, &a, words[i + 7]);
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
	state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void compress_all(struct sha256 *sha, const uint8_t *blocks, size_t count)
{
	if (sha256_by_cpu(sha->state, blocks, count))
		return;
	for (; count > 0; count--, blocks += SHA256_BLOCK)
		compress(sha->state, blocks);
}

void sha256_init(struct sha256 *sha)
{
	/* FIPS 180-4, 5.3.3 */
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(sha->state, start, sizeof(start));
	sha->size = 0;
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t size)
{
	const uint8_t *next = bytes;
	size_t held = sha->size % SHA256_BLOCK;

	if (size == 0)
		return;
	sha->size += size;
	if (held > 0) {
		size_t part = size < SHA256_BLOCK - held ? size : SHA256_BLOCK - held;

		memcpy(sha->block + held, next, part);
		next += part;
		size -= part;
		if (held + part < SHA256_BLOCK)
			return;
		compress_all(sha, sha->block, 1);
	}
	compress_all(sha, next, size / SHA256_BLOCK);
	memcpy(sha->block, next + size / SHA256_BLOCK * SHA256_BLOCK, size % SHA256_BLOCK);
}

/* What SHA misses to the next whole block, at most SIZE. */
static size_t to_block(const struct sha256 *sha, size_t size)
{
	size_t missing = (SHA256_BLOCK - sha->size % SHA256_BLOCK) % SHA256_BLOCK;

	return missing < size ? missing : size;
}

void sha256_add_two(struct sha256 *first, const void *bytes, size_t size, struct sha256 *second,
		    const void *other_bytes, size_t other_size)
{
	const uint8_t *next = bytes, *other = other_bytes;
	size_t head = to_block(first, size), other_head = to_block(second, other_size), count, both;

	if (size == 0 || other_size == 0) { /* there may be no bytes at all */
		sha256_add(first, bytes, size);
		sha256_add(second, other_bytes, other_size);
		return;
	}
	sha256_add(first, next, head);
	sha256_add(second, other, other_head);
	next += head, size -= head;
	other += other_head, other_size -= other_head;
	count = (size < other_size ? size : other_size) / SHA256_BLOCK;
	if (!sha256_by_cpu_two(first->state, next, second->state, other, count))
		count = 0;
	both = count * SHA256_BLOCK;
	first->size += both;
	second->size += both;
	sha256_add(first, next + both, size - both);
	sha256_add(second, other + both, other_size - both);
}

void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE])
{
	static const uint8_t padding[SHA256_BLOCK] = { 0x80 };
	uint64_t bits = __builtin_bswap64(sha->size * 8);
	size_t held = sha->size % SHA256_BLOCK, i;

	sha256_add(sha, padding, held < 56 ? 56 - held : 120 - held);
	sha256_add(sha, &bits, sizeof(bits));
	for (i = 0; i < 8; i++) {
		uint32_t word = __builtin_bswap32(sha->state[i]);

		memcpy(digest + 4 * i, &word, 4);
	}
}

void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[2 * SHA256_SIZE + 1])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < SHA256_SIZE; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[2 * SHA256_SIZE] = '\0';
}
