/* SPDX-License-Identifier: MIT */
/*
 * copied.h - a piece of memory that another thread owns, copied with a guard.
 */
#ifndef PRELOAD_SAMPLER_COPIED_H
#define PRELOAD_SAMPLER_COPIED_H

#include "preload/sig/sample.h"

struct copied {
	uintptr_t address;
	size_t size;
	uint8_t bytes[SAMPLE_MAX_SLICE];
};

/*
 * Copies [FROM, TO), at most SAMPLE_MAX_SLICE, as far as it is there: size tells how much, a
 * multiple of 8 if FROM is one.
 */
void copied_take(struct copied *copied, uintptr_t from, uintptr_t to);

/* The word at ADDRESS; false when it is not in the copy. */
bool copied_word(const struct copied *copied, uintptr_t address, uint64_t *word);

#endif /* PRELOAD_SAMPLER_COPIED_H */
