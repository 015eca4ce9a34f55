/* SPDX-License-Identifier: MIT */
/* slice.c - scanning the stack for words that could be return addresses into a guest. */
#include "preload/sig/slice.h"

#include "preload/sig/cpu.h"
#include "preload/sig/sample.h"
#include "preload/sig/thread.h"

SIGNAL_SAFE size_t slice_size(struct reach *reach, uintptr_t sp, uintptr_t end)
{
	if ((sp & 7) != 0 || end <= sp)
		return 0;
	if (end - sp > SAMPLE_MAX_SLICE)
		end = sp + SAMPLE_MAX_SLICE;
	return (reach_span(reach, sp, end) - sp) & ~(size_t)7;
}

SIGNAL_SAFE uintptr_t slice_end(struct reach *reach, const struct ranges *ranges, uintptr_t sp,
				uintptr_t limit, bool *cut)
{
	size_t size = slice_size(reach, sp, limit);
	uintptr_t last = 0;

	*cut = limit > sp && size < limit - sp;
	for (uintptr_t at = sp; at < sp + size; at += 8) {
		if (ranges_find(ranges, cpu_word(at)) != NULL)
			last = at;
	}
	return last == 0 ? sp : last + 8 + SLICE_MARGIN;
}
