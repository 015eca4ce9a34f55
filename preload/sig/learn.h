/* SPDX-License-Identifier: MIT */
/*
 * learn.h - finding the exit record's place from a tick in the host.
 *
 * A guest that does little but call out is hardly ever seen in its own code, where exitrec_learn()
 * would do. Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_LEARN_H
#define PRELOAD_SIG_LEARN_H

#include "preload/sig/tick.h"
#include "preload/sig/walk.h"

/*
 * Tries each place for the record of TICK's innermost entry. One fits when the chain from its exit
 * pc, through guest code only, ends in the very frame that it names as the entry's. WALK gives the
 * limits, and room for pcs that are overwritten.
 */
void learn_outside(struct tick *tick, struct walk *walk);

#endif /* PRELOAD_SIG_LEARN_H */
