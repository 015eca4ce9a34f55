/* SPDX-License-Identifier: MIT */
/* slices.h - a word of the copied stack. Threads: ours only. */
#ifndef PRELOAD_UNWIND_SLICES_H
#define PRELOAD_UNWIND_SLICES_H

#include <string.h>

#include "preload/unwind/unwind.h"

/* The 8 bytes at ADDRESS of SIZE BYTES that were at START. */
static inline bool slices_copy_word(const uint8_t *bytes, size_t size, uint64_t start,
				    uint64_t address, uint64_t *value)
{
	uint64_t offset = address - start;

	if (offset >= size || size - offset < sizeof(*value))
		return false;
	memcpy(value, bytes + offset, sizeof(*value));
	return true;
}

static inline bool slices_word(const struct unwind_input *input, uint64_t address, uint64_t *value)
{
	return slices_copy_word(input->slice, input->slice_size, input->slice_address, address,
				value) ||
	       slices_copy_word(input->resumer, input->resumer_size, input->resumer_address,
				address, value);
}

/* Whether a frame of the resumer's may have its stack pointer at ADDRESS. */
static inline bool slices_in_resumer(const struct unwind_input *input, uint64_t address)
{
	return input->resumer_size != 0 && address - input->resumer_address <= input->resumer_size;
}

#endif /* PRELOAD_UNWIND_SLICES_H */
