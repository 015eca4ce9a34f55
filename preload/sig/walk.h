/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the chain of frame pointers through guest code.
 *
 * Complete means: the chain rose, stayed readable and below the limit, and ended at the first
 * return address outside of the known ranges, the host's. Signals: async-signal-safe; no read is
 * made that reach.h did not allow.
 */
#ifndef PRELOAD_SIG_WALK_H
#define PRELOAD_SIG_WALK_H

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"

enum walk_end { WALK_COMPLETE, WALK_FULL, WALK_BROKEN };

struct walk {
	const struct ranges *ranges;
	struct reach *reach;
	const struct range *hit; /* the range of the last pc: the next is most often in it too */
	uintptr_t limit;	 /* frames lie below */
	uint64_t *pcs;
	uint32_t count, max; /* pcs in use, and room */
	uintptr_t last_fp; /* of the frame that returns to the host; 0 when the leaf itself does */
};

/* Appends PC, interrupted with FP and SP, and its callers. CODE_READABLE: its bytes may be read. */
enum walk_end walk_interrupted(struct walk *walk, uintptr_t pc, uintptr_t fp, uintptr_t sp,
			       bool code_readable);

/* Appends PC, a return address into the frame at FP (not below LOW), and its callers. */
enum walk_end walk_caller(struct walk *walk, uintptr_t pc, uintptr_t fp, uintptr_t low);

/* Whether the return address PC follows guest code; notes its range in walk->hit. */
bool walk_knows(struct walk *walk, uintptr_t pc);

#endif /* PRELOAD_SIG_WALK_H */
