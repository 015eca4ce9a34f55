/* SPDX-License-Identifier: MIT */
/* frameless.c - from an entry to its words. */
#include "preload/sig/frameless.h"

#include "preload/sig/sample.h"

enum { MOST_WORDS = 3 };

SIGNAL_SAFE static uint32_t append_functions(uint64_t *words, uint32_t count, uint32_t max,
					     const struct called_from *from)
{
	uint32_t functions = 0;

	if (from != NULL)
		functions = atomic_load_explicit(&from->count, memory_order_relaxed);
	for (uint32_t i = 0; i < functions && i < CALLED_FROM_MAX && count < max; i++)
		words[count++] = SAMPLE_FUNCTION |
				 atomic_load_explicit(&from->functions[i], memory_order_relaxed);
	return count;
}

SIGNAL_SAFE uint32_t frameless_append(uint64_t *words, uint32_t count, uint32_t max,
				      const struct entry *entry, const struct entry *inner)
{
	uintptr_t end = inner != NULL ? inner->sp : 0;

	if (max - count < MOST_WORDS)
		return count;
	/* Between a call of the host and who called it there is nothing. */
	if (count > 0 && !sample_is_call(words[count - 1]) && !sample_is_function(words[count - 1]))
		words[count++] = 0;
	if ((entry->flags & ENTRY_CALLED_OUT) != 0) {
		words[count++] = SAMPLE_CALL | entry->call;
		return append_functions(words, count, max, entry->from);
	}
	words[count++] = SAMPLE_ENTRY | entry->instance;
	words[count++] = SAMPLE_MARK | (end & (SAMPLE_MARK - 1));
	return count;
}
