/* SPDX-License-Identifier: MIT */
/*
 * activations.h - a tick's activations: which there are, where each ends, what is below the
 * innermost.
 *
 * Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_ACTIVATIONS_H
#define PRELOAD_SIG_ACTIVATIONS_H

#include "preload/sig/sample.h"
#include "preload/sig/tick.h"
#include "preload/sig/walk.h"

/* Sets TICK's entry and depth, without those that a longjmp left behind, and its flags for them. */
void activations_find(struct tick *tick);

/* Where the frames below ENTRY must end. No bound on a fiber or an unknown stack. */
uintptr_t activations_limit(const struct tick *tick, const struct entry *entry);

/* A walk through the innermost activation, into SAMPLE's pcs. */
struct walk activations_walk(struct tick *tick, struct sample *sample);

/* Adds those below the innermost, each after a 0; flags what is not known of them. */
void activations_append_outer(struct tick *tick, struct walk *walk);

#endif /* PRELOAD_SIG_ACTIVATIONS_H */
