/* SPDX-License-Identifier: MIT */
/* copied.c - as a whole, or page by page where not all of it is there. Threads: ours. */
#include "preload/sampler/copied.h"

#include <string.h>

#include "preload/base/guarded.h"

enum { PAGE = 4096 };

void copied_take(struct copied *copied, uintptr_t from, uintptr_t to)
{
	size_t size = to > from ? to - from : 0, done = 0;

	size = size < SAMPLE_MAX_SLICE ? size & ~(size_t)7 : SAMPLE_MAX_SLICE;
	if (guarded_read(from, copied->bytes, size) == 0)
		done = size;
	while (done < size) {
		size_t step = PAGE - (from + done) % PAGE;

		if (step > size - done)
			step = size - done;
		if (guarded_read(from + done, copied->bytes + done, step) != 0)
			break;
		done += step;
	}
	copied->address = from;
	copied->size = done;
}

bool copied_word(const struct copied *copied, uintptr_t address, uint64_t *word)
{
	uintptr_t offset = address - copied->address;

	if (offset >= copied->size || copied->size - offset < sizeof(*word))
		return false;
	memcpy(word, copied->bytes + offset, sizeof(*word));
	return true;
}
