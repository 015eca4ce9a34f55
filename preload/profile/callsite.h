/* SPDX-License-Identifier: MIT */
/*
 * callsite.h - how the code before a return address called: to a fixed place, or through a pointer.
 *
 * Reads the live code (base/guarded.h): it may be gone, and then the answer is CALLSITE_UNKNOWN.
 */
#ifndef PRELOAD_PROFILE_CALLSITE_H
#define PRELOAD_PROFILE_CALLSITE_H

#include "symtab/base.h"

enum callsite_kind { CALLSITE_UNKNOWN, CALLSITE_DIRECT, CALLSITE_INDIRECT };

/*
 * The kind of call that returns to PC. *TARGET is where a direct one goes. Code is read backwards,
 * so a direct call counts only where IS_START says that a function begins at its target.
 */
enum callsite_kind callsite_at(uint64_t pc, bool (*is_start)(const void *context, uint64_t target),
			       const void *context, uint64_t *target);

#endif /* PRELOAD_PROFILE_CALLSITE_H */
