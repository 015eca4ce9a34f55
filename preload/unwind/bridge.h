/* SPDX-License-Identifier: MIT */
/*
 * bridge.h - one frame on, over code that has no unwind tables.
 *
 * Nothing is believed that is not a return address: it must lie in known code, behind a call.
 * Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_BRIDGE_H
#define PRELOAD_UNWIND_BRIDGE_H

#include "preload/unwind/unwind.h"

/*
 * REGISTERS are those of the frame without tables; LEAF: of the innermost one, whose pc was
 * interrupted. On true they are the caller's: pc, stack pointer, frame pointer.
 */
bool bridge_step(const struct unwind_input *input, uint64_t *registers, bool leaf);

#endif /* PRELOAD_UNWIND_BRIDGE_H */
