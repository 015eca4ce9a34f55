/* SPDX-License-Identifier: MIT */
/*
 * above.h - the host's frames above the outermost guest frame, for whole stacks.
 *
 * Between the guest and the thread's start there are no known ranges to walk with: the stack is
 * copied, to its top or to SAMPLE_MAX_SLICE, and unwound off the signal. Signals:
 * async-signal-safe.
 */
#ifndef PRELOAD_SIG_ABOVE_H
#define PRELOAD_SIG_ABOVE_H

#include "preload/sig/sample.h"
#include "preload/sig/tick.h"
#include "preload/sig/walk.h"

/* Where the walk through the innermost activation ended, and how. */
struct above_walked {
	enum walk_end end;
	uint32_t count; /* its pcs */
	uintptr_t last_fp;
};

/* Where the tick's stack ends, as far as known. */
uintptr_t above_top(const struct tick *tick);

/* Most bytes that a whole stack can take behind the pcs of TICK's sample; 0: none are wanted. */
size_t above_room(const struct tick *tick);

/*
 * Adds registers and stack to a guest SAMPLE whose pcs are complete: from the frame that WALKED
 * ended in, or, when it did not end well, from the leaf.
 */
void above_add(struct tick *tick, struct sample *sample, const struct above_walked *walked);

/* Room for what above_add_resumer() may add. */
size_t above_resumer_room(const struct tick *tick);

/* On a fiber: adds the stack of whoever resumed it. After the slice. */
void above_add_resumer(struct tick *tick, struct sample *sample);

#endif /* PRELOAD_SIG_ABOVE_H */
