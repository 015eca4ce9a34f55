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
	end = reach_span(reach, sp, end) & ~(uintptr_t)7;
	/* Asked once: the slice is looked through, and copied. */
	if (reach->high == 0 && end > sp) {
		reach->low = sp;
		reach->high = end;
	}
	return end > sp ? end - sp : 0;
}

/* Whether a word of the block at AT may be in [START, END). Ranges are seldom 4 GiB apart. */
SIGNAL_SAFE static bool may_have(uintptr_t at, uintptr_t start, uintptr_t end)
{
	uint32_t upper = (uint32_t)(start >> 32), last = (uint32_t)((end - 1) >> 32);

	if (last - upper > 1)
		return true;
	return cpu_block_has_upper(at, upper) || (last != upper && cpu_block_has_upper(at, last));
}

/* The address of the last word in [SP, SP + SIZE) that points into RANGES; 0: none does. */
SIGNAL_SAFE static uintptr_t find_last(const struct ranges *ranges, uintptr_t sp, size_t size)
{
	uintptr_t start, end, at = sp + size;

	if (ranges == NULL || ranges->count == 0)
		return 0;
	start = ranges->range[0].start;
	end = ranges->range[ranges->count - 1].end;
	while (at > sp) {
		if (at - sp >= CPU_BLOCK && !may_have(at - CPU_BLOCK, start, end)) {
			at -= CPU_BLOCK;
			continue;
		}
		/* One by one: up to the block's first word, or the slice's. */
		for (unsigned int i = 0; i < CPU_BLOCK / 8 && at > sp; i++) {
			uintptr_t call;

			at -= 8;
			/* The call before it is in the range: pointers to its start are none. */
			call = cpu_word(at) - 1;
			if (call >= start && call < end && ranges_find(ranges, call) != NULL)
				return at;
		}
	}
	return 0;
}

SIGNAL_SAFE uintptr_t slice_end(struct reach *reach, const struct ranges *ranges, uintptr_t sp,
				uintptr_t limit, bool *cut)
{
	size_t size = slice_size(reach, sp, limit);
	uintptr_t last = find_last(ranges, sp, size);

	*cut = limit > sp && size < limit - sp;
	return last == 0 ? sp : last + 8 + SLICE_MARGIN;
}
