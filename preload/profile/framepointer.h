/* SPDX-License-Identifier: MIT */
/*
 * framepointer.h - the frame pointer of a thread of which only pc and stack pointer are known.
 */
#ifndef PRELOAD_PROFILE_FRAMEPOINTER_H
#define PRELOAD_PROFILE_FRAMEPOINTER_H

#include "preload/sig/sample.h"
#include "preload/unwind/unwind.h"
#include "symtab/symtab.h"

/*
 * Where SAMPLE's stack cannot be unwound to a guest because a frame needs the frame pointer, and
 * nothing below has saved it, so that it is that frame's own: tries the places of the stack that
 * look like one, and writes into SAMPLE's registers the first with which a guest is reached. Else
 * leaves them as they were. ROOM: UNWIND_MAX_FRAMES frames of scratch memory.
 */
void framepointer_find(const struct symtab *symtab, struct sample *sample,
		       struct unwind_frame *room);

#endif /* PRELOAD_PROFILE_FRAMEPOINTER_H */
