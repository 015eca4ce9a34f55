/* SPDX-License-Identifier: MIT */
/*
 * slice.h - how much of the stack to copy when only the stack can tell where the guest is.
 *
 * Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_SLICE_H
#define PRELOAD_SIG_SLICE_H

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"

enum {
	/* Above the outermost word that looks like guest code: room for its frame and the host's
	   below it. */
	SLICE_MARGIN = 512,
};

/*
 * Scans [SP, LIMIT) for words that point into RANGES, and answers the end of the slice that holds
 * all of them; SP when there is none. *CUT is set when memory or the size limit ended the scan.
 */
uintptr_t slice_end(struct reach *reach, const struct ranges *ranges, uintptr_t sp, uintptr_t limit,
		    bool *cut);

/* The readable part of [SP, END), capped to SAMPLE_MAX_SLICE, in bytes. */
size_t slice_size(struct reach *reach, uintptr_t sp, uintptr_t end);

#endif /* PRELOAD_SIG_SLICE_H */
