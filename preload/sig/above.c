/* SPDX-License-Identifier: MIT */
/* above.c - slices up to the stack's top, and around whoever resumed a fiber. */
#include "preload/sig/above.h"

#include "preload/sig/handler.h"
#include "preload/sig/record.h"
#include "preload/sig/slice.h"

enum {
	/* Below an entry trampoline's frame pointer: the registers that it saved. */
	SAVED_REGISTERS = 128,
	/*
	 * Below the wrapper of a poll: the engine's frames down to its switch of stacks. Only until
	 * our thread has found the very place once. Seen in wasmtime 36 and 50: under 2 KiB.
	 */
	POLL_FRAMES = 4096,
	RESUMER_MARGIN = 128,
	FIBER_FRAMES = 8192, /* of the host, between the fiber's start and the guest */
	MAX_WAKES = 4,
};

SIGNAL_SAFE uintptr_t above_top(const struct tick *tick)
{
	return tick->ordinary ? tick->reach.high : tick->sp + SAMPLE_MAX_SLICE;
}

SIGNAL_SAFE size_t above_room(const struct tick *tick)
{
	size_t room;

	if (!handler_setup.whole_stacks)
		return 0;
	if (!tick->ordinary)
		return SAMPLE_MAX_SLICE + above_resumer_room(tick);
	room = tick->reach.high - tick->sp + SAVED_REGISTERS;
	return room < SAMPLE_MAX_SLICE ? room : SAMPLE_MAX_SLICE;
}

/* The guest's frames are in pcs; what is to be unwound begins with the one that returns to the
 * host.
 */
SIGNAL_SAFE static void add_from_entry(struct tick *tick, struct sample *sample,
				       const struct above_walked *walked)
{
	uintptr_t start = walked->last_fp - SAVED_REGISTERS;
	uintptr_t top = tick->ordinary ? tick->reach.high : start + FIBER_FRAMES;

	if (start < tick->sp)
		start = tick->sp;
	start = (start + 7) & ~(uintptr_t)7;
	record_add_caller(sample, sample->words[walked->count - 1], walked->last_fp, start,
			  slice_size(&tick->reach, start, top));
	tick->flags |= SAMPLE_AT_ENTRY;
}

SIGNAL_SAFE void above_add(struct tick *tick, struct sample *sample,
			   const struct above_walked *walked)
{
	/* A leaf that is itself the last may stand before its frame is made, or behind. */
	if (walked->end == WALK_COMPLETE && walked->count > 1 && walked->last_fp != 0)
		add_from_entry(tick, sample, walked);
	else if ((tick->flags & SAMPLE_TRAP) == 0)
		record_add_slice(tick, sample, slice_size(&tick->reach, tick->sp, above_top(tick)));
	above_add_resumer(tick, sample);
}

/* Where the resumer's stack pointer is, or lies above; 0: unknown. */
SIGNAL_SAFE static uintptr_t resumer_of(const struct tick *tick)
{
	uintptr_t sp = atomic_load_explicit(&tick->thread->resumer_sp, memory_order_relaxed);

	if (sp != 0)
		return sp - RESUMER_MARGIN;
	if (tick->entry != NULL && (tick->entry->flags & ENTRY_FIBER) != 0)
		return tick->entry->sp - POLL_FRAMES;
	return 0;
}

/*
 * Nobody has said where: the lowest place on the thread's own stack that SAMPLE's slice, of the
 * fiber's, points to. What was resumed there is above it, and the engine keeps a pointer to its
 * end.
 */
SIGNAL_SAFE static uintptr_t lowest_pointer(const struct sample *sample, uintptr_t start,
					    uintptr_t end)
{
	const uint64_t *words = sample->words + sample->pc_count + SAMPLE_REGISTERS;
	uintptr_t lowest = end;

	/* Where the stack's own bounds are kept is no place in use. */
	start += REACH_PAGE;
	for (size_t i = 0; i < sample->slice_size / sizeof(*words); i++)
		if (words[i] >= start && words[i] < lowest && words[i] % 8 == 0)
			lowest = words[i];
	return lowest < end ? lowest - RESUMER_MARGIN : 0;
}

/*
 * How much of the resumer's stack there is to copy, from *FROM on; 0: nothing. SAMPLE has its
 * slice; NULL: how much it can be.
 */
SIGNAL_SAFE static size_t resumer_span(const struct tick *tick, const struct sample *sample,
				       uintptr_t *from)
{
	const struct thread *thread = tick->thread;
	uintptr_t start = atomic_load_explicit(&thread->stack_start, memory_order_relaxed);
	/* acquire: pairs with the sampler, which stores the end last */
	uintptr_t end = atomic_load_explicit(&thread->stack_end, memory_order_acquire);

	*from = resumer_of(tick) & ~(uintptr_t)7;
	if (*from == 0 && end != 0) {
		if (sample == NULL)
			return SAMPLE_MAX_RESUMER;
		*from = lowest_pointer(sample, start, end);
	}
	if (*from == 0 || (end != 0 && (*from < start || *from >= end)))
		return 0;
	/* Not known where it ends: as far as there is memory. */
	if (end == 0 || end - *from > SAMPLE_MAX_RESUMER)
		return SAMPLE_MAX_RESUMER;
	return end - *from;
}

SIGNAL_SAFE size_t above_resumer_room(const struct tick *tick)
{
	uintptr_t from;
	size_t size;

	if (!handler_setup.whole_stacks || tick->ordinary)
		return 0;
	size = resumer_span(tick, NULL, &from);
	return size == 0 ? 0 : RECORD_RESUMER_HEAD + size;
}

SIGNAL_SAFE void above_add_resumer(struct tick *tick, struct sample *sample)
{
	/* The thread is not on that stack: what is below its pages in use may not exist. */
	struct reach reach = { .page = 1 };
	uintptr_t from;
	size_t size;

	if (!handler_setup.whole_stacks || tick->ordinary || sample->slice_size == 0)
		return;
	/* The sooner our thread finds the very place, the better. */
	if (resumer_of(tick) == 0 && tick->thread->resumer_wakes < MAX_WAKES) {
		tick->thread->resumer_wakes++;
		tick->wakes = true;
	}
	size = resumer_span(tick, sample, &from);
	size = (reach_span(&reach, from, from + size) - from) & ~(size_t)7;
	if (size != 0)
		record_add_resumer(tick, sample, from, size);
}
