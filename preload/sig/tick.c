/* SPDX-License-Identifier: MIT */
/*
 * tick.c - what kind of sample a tick becomes.
 *
 * In guest code: SAMPLE_GUEST, the chain of frame pointers; where the code has none, registers and
 * a slice as SAMPLE_HOST.
 *
 * On the alternate stack, with an interrupted guest on it: SAMPLE_GUEST | SAMPLE_TRAP.
 *
 * In the host, the exit record's place known and the record fitting the stack: SAMPLE_HOST |
 * SAMPLE_EXIT_RECORD, the chain from there, registers and a slice; not fitting: the same of the
 * outer activations, if any. Place not known: SAMPLE_HOST with registers and a slice, if that holds
 * a word that points into guest code.
 *
 * Outer activations follow, each after a 0. Where whole stacks are wanted the slice goes on to the
 * stack's top (above.h), whatever the kind.
 */
#include "preload/sig/tick.h"

#include "preload/base/stats.h"
#include "preload/sig/above.h"
#include "preload/sig/cpu.h"
#include "preload/sig/exitrec.h"
#include "preload/sig/handler.h"
#include "preload/sig/learn.h"
#include "preload/sig/record.h"
#include "preload/sig/slice.h"
#include "preload/sig/trap.h"
#include "preload/sig/walk.h"

enum {
	/* Above the frame that called out: its saved registers, and what the unwinder asks for. */
	EXIT_MARGIN = 64,
	/* A thread's host ticks, of which one looks for a guest on its stack: some 10 us. */
	SEARCH_EVERY = 16,
};

SIGNAL_SAFE static void find_entry(struct tick *tick)
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

/* Where the frames below ENTRY must end. No bound on a fiber or an unknown stack. */
SIGNAL_SAFE static uintptr_t limit_of(const struct tick *tick, const struct entry *entry)
{
	if (!tick->ordinary || (entry != NULL && (entry->flags & ENTRY_FIBER) != 0))
		return UINTPTR_MAX;
	return entry != NULL && entry->sp > tick->sp ? entry->sp : tick->reach.high;
}

SIGNAL_SAFE static struct walk walk_of(struct tick *tick, struct sample *sample)
{
	return (struct walk){
		.ranges = tick->ranges,
		.reach = &tick->reach,
		.limit = limit_of(tick, tick->entry),
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

	if (entry->outer_pc == 0)
		return exitrec_is_learned(below->layout);
	if (walk->count + 2 > walk->max)
		return false;
	if (walk->count > 0)
		walk->pcs[walk->count++] = 0;
	walk->limit = limit_of(tick, below);
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

SIGNAL_SAFE static void append_outer(struct tick *tick, struct walk *walk)
{
	for (uint32_t inner = tick->depth; inner-- > 1;) {
		if (!append_below(tick, walk, inner))
			tick->flags |= SAMPLE_TRUNCATED;
	}
}

/* Whether the bytes around PC may be read: text can be mapped executable only. */
SIGNAL_SAFE static bool code_is_readable(struct tick *tick, uintptr_t pc)
{
	struct thread *thread = tick->thread;
	uintptr_t first = (pc - 1) / REACH_PAGE, last = (pc + 3) / REACH_PAGE;
	struct reach reach = { .page = 1 };

	if (first == last && thread->code_page == first &&
	    thread->code_generation == tick->ranges->generation)
		return true;
	if (!reach_page(&reach, pc - 1) || !reach_page(&reach, pc + 3))
		return false;
	thread->code_page = last;
	thread->code_generation = tick->ranges->generation;
	return true;
}

SIGNAL_SAFE static void take_guest(struct tick *tick, uintptr_t pc, uintptr_t fp, uintptr_t sp)
{
	size_t room = above_room(tick);
	struct sample *sample = record_open(tick, SAMPLE_GUEST, room);
	struct above_walked walked;
	struct walk walk;

	if (sample == NULL)
		return;
	walk = walk_of(tick, sample);
	walked.end = walk_interrupted(&walk, pc, fp, sp, code_is_readable(tick, pc));
	walked.count = walk.count;
	if (walk.count > 0 && sample_is_marked(walk.pcs[walk.count - 1]))
		walked.count--;
	walked.last_fp = walk.last_fp;
	if (walked.end != WALK_COMPLETE)
		tick->flags |= SAMPLE_TRUNCATED;
	else if (tick->entry != NULL && walk.count > 1)
		exitrec_learn(tick->entry, &tick->reach, tick->ranges, walk.last_fp);
	append_outer(tick, &walk);
	sample->pc_count = walk.count;
	if (room != 0)
		above_add(tick, sample, &walked);
	record_close(tick, sample);
}

/*
 * The stack itself must tell: a slice up to the outermost word that points into guest code.
 * IN_GUEST: the pc is in a guest, so there is a frame to be found even without such a word.
 */
SIGNAL_SAFE static void take_slice(struct tick *tick, bool in_guest)
{
	uintptr_t limit = tick->sp + SAMPLE_MAX_SLICE;
	struct sample *sample;
	struct walk walk;
	uintptr_t end;
	size_t size;
	bool cut;

	if (limit > limit_of(tick, tick->entry))
		limit = limit_of(tick, tick->entry);
	end = slice_end(&tick->reach, tick->ranges, tick->sp, limit, &cut);
	if (end == tick->sp && in_guest)
		end += SLICE_MARGIN;
	if (end == tick->sp) {
		stat_count(STAT_HOST_ONLY);
		return;
	}
	if (handler_setup.whole_stacks)
		end = above_top(tick);
	size = slice_size(&tick->reach, tick->sp, end);
	sample = record_open(tick, SAMPLE_HOST, size + above_resumer_room(tick));
	if (sample == NULL)
		return;
	/* The end of the memory is where a fiber's stack ends. */
	if (cut && tick->ordinary)
		tick->flags |= SAMPLE_TRUNCATED;
	walk = walk_of(tick, sample);
	learn_outside(tick, &walk);
	walk = walk_of(tick, sample);
	append_outer(tick, &walk);
	sample->pc_count = walk.count;
	record_add_slice(tick, sample, size);
	above_add_resumer(tick, sample);
	record_close(tick, sample);
}

/* A host sample whose guest part is in pcs; the slice holds the host's frames up to TOP. */
SIGNAL_SAFE static void close_host(struct tick *tick, struct sample *sample,
				   const struct walk *walk, size_t size, uintptr_t top)
{
	tick->flags |= SAMPLE_EXIT_RECORD;
	if (handler_setup.copy_slices && size < top - tick->sp)
		tick->flags |= SAMPLE_TRUNCATED;
	sample->pc_count = walk->count;
	record_add_slice(tick, sample, size);
	above_add_resumer(tick, sample);
	record_close(tick, sample);
}

SIGNAL_SAFE static size_t exit_slice(struct tick *tick, uintptr_t top)
{
	if (handler_setup.whole_stacks)
		top = above_top(tick);
	return handler_setup.copy_slices ? slice_size(&tick->reach, tick->sp, top) : 0;
}

/* This activation has no guest frame on the stack; those below may. */
SIGNAL_SAFE static void take_outer_only(struct tick *tick)
{
	uintptr_t top = 0;
	struct sample *sample;
	struct walk walk;
	size_t size;

	for (uint32_t inner = tick->depth; top == 0 && inner-- > 1;)
		top = tick->thread->entries[inner].outer_fp;
	if (top == 0) {
		stat_count(STAT_HOST_ONLY);
		return;
	}
	top = top > tick->sp ? top + EXIT_MARGIN : tick->sp;
	size = exit_slice(tick, top);
	sample = record_open(tick, SAMPLE_HOST, size + above_resumer_room(tick));
	if (sample == NULL)
		return;
	walk = walk_of(tick, sample);
	append_outer(tick, &walk);
	if (walk.count == 0)
		stat_count(STAT_LOST_STACK);
	else
		close_host(tick, sample, &walk, size, top);
}

/* False, and nothing done, when the record turns out to be of a call that is over. */
SIGNAL_SAFE static bool take_exit(struct tick *tick, const struct exit_record *record)
{
	uintptr_t top = record->frame + EXIT_MARGIN;
	size_t size = exit_slice(tick, top);
	struct sample *sample = record_open(tick, SAMPLE_HOST, size + above_resumer_room(tick));
	enum walk_end end;
	struct walk walk;

	if (sample == NULL)
		return true;
	walk = walk_of(tick, sample);
	end = walk_caller(&walk, record->pc, record->fp, record->frame);
	if (walk.count == 0 || (end == WALK_COMPLETE && walk.last_fp != record->entry_fp))
		return false;
	if (end != WALK_COMPLETE)
		tick->flags |= SAMPLE_TRUNCATED;
	append_outer(tick, &walk);
	close_host(tick, sample, &walk, size, top);
	return true;
}

SIGNAL_SAFE static void take_host(struct tick *tick)
{
	struct exit_record record;

	if (tick->entry == NULL) {
		if (tick->thread->had_guest)
			take_slice(tick, false);
		else
			stat_count(STAT_HOST_ONLY);
		return;
	}
	switch (exitrec_read(tick->entry, &tick->reach, tick->sp, &record)) {
	case EXIT_UNKNOWN:
		take_slice(tick, false);
		break;
	case EXIT_FOUND:
		if (!take_exit(tick, &record))
			take_outer_only(tick);
		break;
	case EXIT_NONE:
		take_outer_only(tick);
		break;
	}
}

/* Where the thread stands: on which stack, in which activation. */
SIGNAL_SAFE static void find_place(struct tick *tick, uintptr_t sp)
{
	tick->sp = sp;
	tick->ordinary = reach_init(&tick->reach, tick->thread, sp);
	find_entry(tick);
	if (tick->ordinary)
		return;
	if (atomic_load_explicit(&tick->thread->stack_end, memory_order_relaxed) != 0 ||
	    (tick->entry != NULL && (tick->entry->flags & ENTRY_FIBER) != 0))
		tick->flags |= SAMPLE_FIBER;
}

SIGNAL_SAFE static void take_trap(struct tick *tick)
{
	struct interrupted guest;
	bool found;

	reach_init(&tick->reach, tick->thread, tick->sp);
	found = trap_find(tick->context, &tick->reach, tick->ranges, tick->sp, &guest);
	if (!found) {
		stat_count(STAT_HOST_ONLY);
		return;
	}
	/* From here on the tick is about the stack that the trap left. */
	tick->flags = SAMPLE_TRAP;
	find_place(tick, guest.sp);
	take_guest(tick, guest.pc, guest.fp, guest.sp);
}

/*
 * A guest that does little but call the host may never be met in its own code, so without entries
 * its thread's stack is looked through now and then.
 */
SIGNAL_SAFE static bool has_hidden_guest(struct tick *tick)
{
	bool cut;

	if (tick->thread->handler_runs % SEARCH_EVERY != 1 ||
	    atomic_load_explicit(&thread_table.has_entries, memory_order_relaxed) ||
	    trap_on_alternate_stack(tick->context, tick->sp))
		return false;
	find_place(tick, tick->sp);
	return slice_end(&tick->reach, tick->ranges, tick->sp,
			 tick->ordinary ? tick->reach.high : tick->sp + SAMPLE_MAX_SLICE,
			 &cut) != tick->sp;
}

SIGNAL_SAFE void tick_sample(struct tick *tick)
{
	const struct range *range;

	tick->pc = cpu_pc(tick->context);
	tick->fp = cpu_fp(tick->context);
	tick->sp = cpu_sp(tick->context);
	tick->flags = 0;
	range = ranges_find(tick->ranges, tick->pc);
	if (range == NULL) {
		/* A thread that is in no guest and never was: by far the most common. */
		if (tick->thread->depth == 0 && !tick->thread->had_guest)
			tick->thread->had_guest = has_hidden_guest(tick);
		if (tick->thread->depth == 0 && !tick->thread->had_guest) {
			stat_count(STAT_HOST_ONLY);
		} else if (trap_on_alternate_stack(tick->context, tick->sp)) {
			take_trap(tick);
		} else {
			find_place(tick, tick->sp);
			take_host(tick);
		}
		return;
	}
	find_place(tick, tick->sp);
	/*
	 * Where entries are known, no entry means no guest: dead frames' words on the stack must
	 * not be taken for one.
	 */
	if (tick->entry == NULL)
		tick->thread->had_guest = true;
	if (range->has_frame_pointers)
		take_guest(tick, tick->pc, tick->fp, tick->sp);
	else
		take_slice(tick, true);
}
