/* SPDX-License-Identifier: MIT */
/*
 * owner.h - in a host whose calls into guests nobody sees: in whose instance was a sample taken?
 *
 * From what the handler copied (sig/anchor.h): the store's record and number, the guest's part of
 * the stack, the registers. Which instance of that store was entered say the frames of the entry
 * segment: the function that the host entered, and those it reached by direct calls, which never
 * leave the instance. Their homes (homes.h) hold its context.
 *
 *	exact	a home in the entry segment holds a context, all such homes hold the same, and the
 *		store's number is settled (stores.h)
 *	likely	the same while it is not settled; or no home, but a single context above the entry,
 *		or the only one that was ever entered in that store through the same module
 *	none	all else: the module is known, and nothing more
 *
 * A word counts as a context when the handler found it to be one, at that time or at another in the
 * same store's place, or when it is one now; by the layout that was given, every offset of which is
 * confirmed by that. Nothing is read of live stacks.
 *
 * Threads: ours.
 */
#ifndef PRELOAD_UNWIND_OWNER_H
#define PRELOAD_UNWIND_OWNER_H

#include "preload/base/contexts.h"
#include "preload/sig/sample.h"
#include "symtab/base.h"
#include "symtab/symtab.h"

enum owner_certainty { OWNER_NONE, OWNER_LIKELY, OWNER_EXACT };

struct owner {
	enum owner_certainty certainty;
	uint64_t store, context; /* the instance's key, unlike any other's, ever */
	uint32_t loading;	 /* of the module that was entered */
};

/* From here on instances are looked for by LAYOUT. */
void owner_start(const struct context_layout *layout);

/* Whose SAMPLE, with a struct sample_anchor, of thread TID is. */
void owner_of(const struct symtab *symtab, const struct sample *sample, uint64_t tid,
	      struct owner *owner);

#endif /* PRELOAD_UNWIND_OWNER_H */
