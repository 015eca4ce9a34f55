/* SPDX-License-Identifier: MIT */
/*
 * frameless.h - activations whose guest leaves no frame on the stack: it is interpreted.
 *
 * All that says whose time it is are the thread's entries (thread.h), and what stands for them in
 * sample.pcs (sample.h): the instance, and where the interpreter's frames end; or that the host was
 * called, and how that function is called. Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_FRAMELESS_H
#define PRELOAD_SIG_FRAMELESS_H

#include "preload/sig/thread.h"

static inline bool frameless_is(const struct entry *entry)
{
	return (entry->flags & (ENTRY_INTERPRETED | ENTRY_CALLED_OUT)) != 0;
}

/*
 * Adds what stands for ENTRY, which is frameless, to the COUNT words of WORDS, after a 0 where that
 * belongs. INNER is the entry above it; NULL: none. Returns how many there are then; as many as
 * before where MAX is reached.
 */
uint32_t frameless_append(uint64_t *words, uint32_t count, uint32_t max, const struct entry *entry,
			  const struct entry *inner);

#endif /* PRELOAD_SIG_FRAMELESS_H */
