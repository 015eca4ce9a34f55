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
 * In the host, the innermost activation of an interpreted guest: SAMPLE_HOST | SAMPLE_FRAMELESS,
 * what stands for it (frameless.h), registers.
 *
 * Outer activations follow, each after a 0. Where whole stacks are wanted the slice goes on to the
 * stack's top (above.h), whatever the kind.
 */
#include "preload/sig/tick.h"

#include "preload/base/stats.h"
#include "preload/sig/above.h"
#include "preload/sig/activations.h"
#include "preload/sig/anchor.h"
#include "preload/sig/cpu.h"
#include "preload/sig/exitrec.h"
#include "preload/sig/frameless.h"
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
	size_t room = above_room(tick), anchor_size = anchor_room(tick);
	struct sample *sample = record_open(tick, SAMPLE_GUEST, room + anchor_size);
	struct above_walked walked;
	struct walk walk;

	if (sample == NULL)
		return;
	walk = activations_walk(tick, sample);
	walked.end = walk_interrupted(&walk, pc, fp, sp, code_is_readable(tick, pc));
	walked.count = walk.count;
	if (walk.count > 0 && sample_is_marked(walk.pcs[walk.count - 1]))
		walked.count--;
	walked.last_fp = walk.last_fp;
	if (walked.end != WALK_COMPLETE)
		tick->flags |= SAMPLE_TRUNCATED;
	else if (tick->entry != NULL && walk.count > 1)
		exitrec_learn(tick->entry, &tick->reach, tick->ranges, walk.last_fp);
	activations_append_outer(tick, &walk);
	sample->pc_count = walk.count;
	if (room != 0)
		above_add(tick, sample, &walked);
	if (anchor_size != 0 && walked.end == WALK_COMPLETE)
		anchor_add(tick, sample, walked.last_fp);
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
	uintptr_t end, outermost;
	size_t size, anchor_size;
	bool cut;

	if (limit > activations_limit(tick, tick->entry))
		limit = activations_limit(tick, tick->entry);
	end = slice_end(&tick->reach, tick->ranges, tick->sp, limit, &cut);
	if (end == tick->sp && in_guest)
		end += SLICE_MARGIN;
	if (end == tick->sp) {
		stat_count(STAT_HOST_ONLY);
		return;
	}
	outermost = end - 8 - SLICE_MARGIN;
	if (handler_setup.whole_stacks)
		end = above_top(tick);
	size = slice_size(&tick->reach, tick->sp, end);
	anchor_size = in_guest ? 0 : anchor_room(tick);
	sample = record_open(tick, SAMPLE_HOST, size + above_resumer_room(tick) + anchor_size);
	if (sample == NULL)
		return;
	/* The end of the memory is where a fiber's stack ends. */
	if (cut && tick->ordinary)
		tick->flags |= SAMPLE_TRUNCATED;
	walk = activations_walk(tick, sample);
	learn_outside(tick, &walk);
	walk = activations_walk(tick, sample);
	activations_append_outer(tick, &walk);
	sample->pc_count = walk.count;
	record_add_slice(tick, sample, size);
	above_add_resumer(tick, sample);
	if (anchor_size != 0)
		anchor_add_outside(tick, sample, outermost);
	record_close(tick, sample);
}

/* A host sample whose guest part is in pcs, with SIZE bytes of the stack. */
SIGNAL_SAFE static void close_with_slice(struct tick *tick, struct sample *sample,
					 const struct walk *walk, size_t size)
{
	sample->pc_count = walk->count;
	record_add_slice(tick, sample, size);
	above_add_resumer(tick, sample);
	record_close(tick, sample);
}

/* The same by an exit record; the slice holds the host's frames up to TOP. */
SIGNAL_SAFE static void close_host(struct tick *tick, struct sample *sample,
				   const struct walk *walk, size_t size, uintptr_t top)
{
	tick->flags |= SAMPLE_EXIT_RECORD;
	if (handler_setup.copy_slices && size < top - tick->sp)
		tick->flags |= SAMPLE_TRUNCATED;
	close_with_slice(tick, sample, walk, size);
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
	walk = activations_walk(tick, sample);
	activations_append_outer(tick, &walk);
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
	walk = activations_walk(tick, sample);
	end = walk_caller(&walk, record->pc, record->fp, record->frame);
	if (walk.count == 0 || (end == WALK_COMPLETE && walk.last_fp != record->entry_fp))
		return false;
	if (end != WALK_COMPLETE)
		tick->flags |= SAMPLE_TRUNCATED;
	activations_append_outer(tick, &walk);
	close_host(tick, sample, &walk, size, top);
	return true;
}

/* The entries say all; the stack is for those who want the host's frames. */
SIGNAL_SAFE static void take_frameless(struct tick *tick)
{
	size_t size = 0;
	struct sample *sample;
	struct walk walk;

	if (handler_setup.whole_stacks)
		size = slice_size(&tick->reach, tick->sp, above_top(tick));
	sample = record_open(tick, SAMPLE_HOST, size + above_resumer_room(tick));
	if (sample == NULL)
		return;
	walk = activations_walk(tick, sample);
	walk.count = frameless_append(walk.pcs, 0, walk.max, tick->entry, NULL);
	activations_append_outer(tick, &walk);
	tick->flags |= SAMPLE_FRAMELESS;
	close_with_slice(tick, sample, &walk, size);
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
	if (frameless_is(tick->entry)) {
		take_frameless(tick);
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
	activations_find(tick);
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

/*
 * The thread is in the host, in no activation that is known. A thread that compiles has words on
 * its stack that point into new code: before the first entry of all, that looks like a guest.
 */
SIGNAL_SAFE static bool may_have_guest(struct tick *tick)
{
	struct thread *thread = tick->thread;

	if (thread->is_guessed &&
	    atomic_load_explicit(&thread_table.has_entries, memory_order_relaxed))
		thread->had_guest = thread->is_guessed = false;
	if (!thread->had_guest)
		thread->had_guest = thread->is_guessed = has_hidden_guest(tick);
	return thread->had_guest;
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
		if (tick->thread->depth == 0 && !may_have_guest(tick)) {
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
	if (tick->entry == NULL) {
		tick->thread->had_guest = true;
		tick->thread->is_guessed = false;
	}
	if (range->has_frame_pointers)
		take_guest(tick, tick->pc, tick->fp, tick->sp);
	else
		take_slice(tick, true);
}
