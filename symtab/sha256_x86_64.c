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
__attribute__((target("sha,sse4.1,ssse3"))) static void compress(__m128i *abef, __m128i *cdgh,
								 const uint8_t *block)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i *constants = (const __m128i *)sha256_constants;
	__m128i words[4], left = *abef, right = *cdgh, sum;
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < 16; i++) {
		if (i < 4)
			words[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
		else
			words[i & 3] = next_words(words, i);
		sum = _mm_add_epi32(words[i & 3], _mm_loadu_si128(&constants[i]));
		right = _mm_sha256rnds2_epu32(right, left, sum);
		left = _mm_sha256rnds2_epu32(left, right, _mm_shuffle_epi32(sum, 0x0e));
	}
	*abef = _mm_add_epi32(*abef, left);
	*cdgh = _mm_add_epi32(*cdgh, right);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void run(uint32_t state[8], const uint8_t *block,
							    size_t count)
{
	__m128i *halves = (__m128i *)state;
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128(&halves[0]), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128(&halves[1]), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);

	for (; count > 0; count--, block += SHA256_BLOCK)
		compress(&abef, &cdgh, block);
	low = _mm_shuffle_epi32(abef, 0x1b);
	high = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(&halves[0], _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128(&halves[1], _mm_alignr_epi8(high, low, 8));
}

bool sha256_by_cpu(uint32_t state[8], const uint8_t *blocks, size_t count)
{
	if (!cpu_can())
		return false;
	run(state, blocks, count);
	return true;
}
