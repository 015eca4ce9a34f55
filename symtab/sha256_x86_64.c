/* SPDX-License-Identifier: MIT */
/*
 * sha256_x86_64.c - SHA-256 by the CPU's own instructions (Intel SDM, "SHA Extensions").
 */
#include "symtab/sha256.h"

#include <cpuid.h>
#include <immintrin.h>

enum { SSSE3_AND_SSE41 = 1 << 9 | 1 << 19, SHA = 1 << 29 }; /* leaf 1 ecx, leaf 7 ebx */

static bool cpu_can(void)
{
	/* cpuid traps in virtual machines: ask once. Any thread writes the same. */
	static atomic_int answer; /* 0 not asked, 1 no, 2 yes */
	unsigned int eax, ebx, ecx = 0, edx;
	int known = atomic_load_explicit(&answer, memory_order_relaxed);

	if (known != 0)
		return known == 2;
	known = 1;
	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & SSSE3_AND_SSE41) == SSSE3_AND_SSE41 &&
	    __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & SHA) != 0)
		known = 2;
	atomic_store_explicit(&answer, known, memory_order_relaxed);
	return known == 2;
}

/* Words 4 * GROUP and on of the schedule, from the 16 words before them. */
__attribute__((target("sha,sse4.1,ssse3"))) static inline __m128i next_words(const __m128i words[4],
									     unsigned int group)
{
	__m128i oldest = words[group & 3], older = words[(group + 1) & 3];
	__m128i newer = words[(group + 2) & 3], newest = words[(group + 3) & 3];
	__m128i sum = _mm_sha256msg1_epu32(oldest, older);

	sum = _mm_add_epi32(sum, _mm_alignr_epi8(newest, newer, 4));
	return _mm_sha256msg2_epu32(sum, newest);
}

/* The instructions want the state as two vectors: a b e f and c d g h, the first one on top. */
struct lane {
	__m128i abef, cdgh;
	__m128i words[4]; /* of the block at hand */
};

/* Words 4 * GROUP and on of BLOCK, with the constants of their rounds. */
__attribute__((target("sha,sse4.1,ssse3"), always_inline)) static inline __m128i
take_words(struct lane *lane, const uint8_t *block, unsigned int group)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *constants = (const __m128i *)sha256_constants;

	if (group < 4)
		lane->words[group] = _mm_shuffle_epi8(
			_mm_loadu_si128((const __m128i *)(block + 16 * group)), swap);
	else
		lane->words[group & 3] = next_words(lane->words, group);
	return _mm_add_epi32(lane->words[group & 3], _mm_loadu_si128(&constants[group]));
}

__attribute__((target("sha,sse4.1,ssse3"), always_inline)) static inline void
four_rounds(struct lane *lane, __m128i sum)
{
	lane->cdgh = _mm_sha256rnds2_epu32(lane->cdgh, lane->abef, sum);
	lane->abef = _mm_sha256rnds2_epu32(lane->abef, lane->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

__attribute__((target("sha,sse4.1,ssse3"), always_inline)) static inline void
add_state(struct lane *lane, const struct lane *before)
{
	lane->abef = _mm_add_epi32(before->abef, lane->abef);
	lane->cdgh = _mm_add_epi32(before->cdgh, lane->cdgh);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void compress(struct lane *lane,
								 const uint8_t *block)
{
	const struct lane before = *lane;
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < 16; i++)
		four_rounds(lane, take_words(lane, block, i));
	add_state(lane, &before);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void
compress_two(struct lane lanes[2], const uint8_t *block, const uint8_t *other)
{
	struct lane first = lanes[0], second = lanes[1];
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < 16; i++) {
		__m128i sum = take_words(&first, block, i), more = take_words(&second, other, i);

		first.cdgh = _mm_sha256rnds2_epu32(first.cdgh, first.abef, sum);
		second.cdgh = _mm_sha256rnds2_epu32(second.cdgh, second.abef, more);
		sum = _mm_shuffle_epi32(sum, 0x0e);
		more = _mm_shuffle_epi32(more, 0x0e);
		first.abef = _mm_sha256rnds2_epu32(first.abef, first.cdgh, sum);
		second.abef = _mm_sha256rnds2_epu32(second.abef, second.cdgh, more);
	}
	add_state(&first, &lanes[0]);
	add_state(&second, &lanes[1]);
	lanes[0] = first;
	lanes[1] = second;
}

__attribute__((target("sha,sse4.1,ssse3"))) static void load(struct lane *lane,
							     const uint32_t state[8])
{
	const __m128i *halves = (const __m128i *)state;
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128(&halves[0]), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128(&halves[1]), 0x1b);

	lane->abef = _mm_alignr_epi8(low, high, 8);
	lane->cdgh = _mm_blend_epi16(high, low, 0xf0);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void store(const struct lane *lane,
							      uint32_t state[8])
{
	__m128i *halves = (__m128i *)state;
	__m128i low = _mm_shuffle_epi32(lane->abef, 0x1b);
	__m128i high = _mm_shuffle_epi32(lane->cdgh, 0xb1);

	_mm_storeu_si128(&halves[0], _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128(&halves[1], _mm_alignr_epi8(high, low, 8));
}

bool sha256_by_cpu(uint32_t state[8], const uint8_t *blocks, size_t count)
{
	struct lane lane;

	if (!cpu_can())
		return false;
	load(&lane, state);
	for (; count > 0; count--, blocks += SHA256_BLOCK)
		compress(&lane, blocks);
	store(&lane, state);
	return true;
}

bool sha256_by_cpu_two(uint32_t state[8], const uint8_t *blocks, uint32_t other_state[8],
		       const uint8_t *other_blocks, size_t count)
{
	struct lane lanes[2];

	if (!cpu_can())
		return false;
	load(&lanes[0], state);
	load(&lanes[1], other_state);
	for (; count > 0; count--, blocks += SHA256_BLOCK, other_blocks += SHA256_BLOCK)
		compress_two(lanes, blocks, other_blocks);
	store(&lanes[0], state);
	store(&lanes[1], other_state);
	return true;
}
