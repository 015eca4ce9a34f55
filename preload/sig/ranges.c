/* SPDX-License-Identifier: MIT */
/*
 * ranges.c - the published code ranges and the search in them.
 *
 * Threads: one pointer, swapped by load/publish.c. Why it is sequentially consistent: thread.h.
 */
#include "preload/sig/ranges.h"

#include "preload/sig/thread.h"

static _Atomic(const struct ranges *) current;

SIGNAL_SAFE const struct ranges *ranges_current(void)
{
	return atomic_load_explicit(&current, memory_order_seq_cst);
}

SIGNAL_SAFE const struct range *ranges_find(const struct ranges *ranges, uintptr_t pc)
{
	size_t low = 0, high;

	if (ranges == NULL || ranges->count == 0)
		return NULL;
	high = ranges->count;
	/* Most words that a scan looks at lie outside of all ranges. */
	if (pc < ranges->range[0].start || pc >= ranges->range[high - 1].end)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pc >= ranges->range[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return pc >= ranges->range[low].start ? &ranges->range[low] : NULL;
}

const struct ranges *ranges_publish(const struct ranges *next)
{
	return atomic_exchange_explicit(&current, next, memory_order_seq_cst);
}
