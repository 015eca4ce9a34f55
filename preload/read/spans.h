/* SPDX-License-Identifier: MIT */
/*
 * spans.h - how much time several spans of time cover together.
 */
#ifndef PRELOAD_READ_SPANS_H
#define PRELOAD_READ_SPANS_H

#include "symtab/base.h"

/* From START until before END, in any unit. */
struct span {
	uint64_t start, end;
};

/* Length of the union of COUNT spans, which are put in order by their start. */
uint64_t spans_covered(struct span *spans, size_t count);

#endif /* PRELOAD_READ_SPANS_H */
