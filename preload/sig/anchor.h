/* SPDX-License-Identifier: MIT */
/*
 * anchor.h - in a host whose calls into guests nobody sees: which store does a guest run in?
 *
 * An engine keeps a record for each store, and in it the frame pointer E of the trampoline through
 * which the host last came in. The host's frame just above that trampoline holds a pointer to the
 * record:
 *
 *	| guest frames ... | trampoline: E -> saved fp, return address | host's frame ... V ... |
 *	                                                                  *(V + entry_fp) == E
 *
 * A V for which that holds is the record of the activation that runs now, whatever it was learned
 * from. Where it lies above E is constant for each place in the host's code that calls guests, so a
 * few places are remembered, and a sample costs one or two guarded reads.
 *
 * All else that tells the instance is done by our thread (unwind/owner.h), from what is copied here
 * because it is gone when that looks: the guest's part of the stack, and the store's number.
 *
 * Threads: setup is our thread's to write, before handlers may look; places are written by any
 * handler: each a whole word, proven anew at each use. Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_ANCHOR_H
#define PRELOAD_SIG_ANCHOR_H

#include "preload/base/contexts.h"
#include "preload/sig/sample.h"
#include "preload/sig/tick.h"

enum {
	ANCHOR_PLACES = 4,
	ANCHOR_REACH = 0x200, /* bytes above E in which V is looked for, and which are copied */
	ANCHOR_HOPELESS_AFTER = 256, /* samples in a row without any V */
};

/* Where, above E, a wanted word was found so far. */
struct anchor_places {
	atomic_int at[ANCHOR_PLACES]; /* 0: free, and those after it */
	atomic_uint next;
	atomic_uint failures; /* searches in a row */
};

struct anchor_setup {
	struct context_layout layout; /* const once is_ready */
	atomic_bool is_ready;
	atomic_int number_at; /* of the store's number, from V; SAMPLE_NUMBER_UNKNOWN */
	struct anchor_places records, contexts;
};
extern struct anchor_setup anchor_setup;

/* Most bytes that anchor_add() may add to TICK's sample; 0: nothing will be. */
size_t anchor_room(const struct tick *tick);

/*
 * SAMPLE's walk was complete, and ended in the frame at ENTRY_FP: adds what tells the instance.
 * Last: after slice and resumer.
 */
void anchor_add(struct tick *tick, struct sample *sample, uintptr_t entry_fp);

/*
 * The same for a SAMPLE in the host: the outermost word that points into guest code is at OUTERMOST
 * on the stack. Adds nothing unless an entry is found just above it.
 */
void anchor_add_outside(struct tick *tick, struct sample *sample, uintptr_t outermost);

/*
 * Our thread: from here on handlers look, by LAYOUT. False when they do already, by another one: of
 * two engines in a process one is looked for.
 */
bool anchor_start(const struct context_layout *layout);

#endif /* PRELOAD_SIG_ANCHOR_H */
