/* SPDX-License-Identifier: MIT */
/* activations.c - from a thread's entries to the limits of walks, and the chains below. */
#include "preload/sig/activations.h"

#include "preload/sig/exitrec.h"
#include "preload/sig/frameless.h"

SIGNAL_SAFE void activations_find(struct tick *tick)
{
	uint32_t depth = tick->thread->depth;

	if (depth > ENTRY_DEPTH) {
		depth = ENTRY_DEPTH;
		tick->flags |= SAMPLE_TRUNCATED;
	}
	while (depth > 0 && tick->ordinary &&
	       thread_entry_is_stale(tick->thread, depth - 1, tick->sp))
		depth--;
	tick->depth = depth;
	tick->entry = depth > 0 ? &tick->thread->entries[depth - 1] : NULL;
	if (tick->entry == NULL)
		tick->flags |= SAMPLE_NO_ENTRY;
}

SIGNAL_SAFE uintptr_t activations_limit(const struct tick *tick, const struct entry *entry)
{
	if (!tick->ordinary || (entry != NULL && (entry->flags & ENTRY_FIBER) != 0))
		return UINTPTR_MAX;
	return entry != NULL && entry->sp > tick->sp ? entry->sp : tick->reach.high;
}

SIGNAL_SAFE struct walk activations_walk(struct tick *tick, struct sample *sample)
{
	return (struct walk){
		.ranges = tick->ranges,
		.reach = &tick->reach,
		.limit = activations_limit(tick, tick->entry),
		.pcs = sample->words,
		.max = SAMPLE_MAX_PCS,
	};
}

/* Appends the chain of the activation below entry INNER. False when it is not known. */
SIGNAL_SAFE static bool append_below(struct tick *tick, struct walk *walk, uint32_t inner)
{
	const struct entry *entry = &tick->thread->entries[inner];
	const struct entry *below = entry - 1;
	uint32_t before = walk->count;

	if (frameless_is(below)) {
		walk->count = frameless_append(walk->pcs, walk->count, walk->max, below, entry);
		return walk->count != before;
	}
	if (entry->outer_pc == 0)
		return exitrec_is_learned(below->layout);
	if (walk->count + 2 > walk->max)
		return false;
	if (walk->count > 0)
		walk->pcs[walk->count++] = 0;
	walk->limit = activations_limit(tick, below);
	switch (walk_caller(walk, entry->outer_pc, entry->outer_fp, entry->outer_fp)) {
	case WALK_COMPLETE:
		return true;
	case WALK_BROKEN:
	case WALK_FULL:
		break;
	}
	/* No 0 without a pc after it. */
	if (walk->count - before < 2)
		walk->count = before;
	return false;
}

SIGNAL_SAFE void activations_append_outer(struct tick *tick, struct walk *walk)
{
	for (uint32_t inner = tick->depth; inner-- > 1;) {
		if (!append_below(tick, walk, inner))
			tick->flags |= SAMPLE_TRUNCATED;
	}
}
