/* SPDX-License-Identifier: MIT */
/*
 * thread.c - the thread blocks' table, entries into guests, and who uses which generation.
 *
 * Signals: thread_enter() and thread_leave() run on the thread with its handler able to interrupt
 * them anywhere. An entry is whole before depth shows it; the fences are for the compiler only.
 */
#include "preload/sig/thread.h"

#include "preload/base/stats.h"
#include "preload/sig/exitrec.h"
#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"
#include "preload/sig/sample.h"

struct thread_table thread_table;
SIG_TLS struct thread *sig_self;

/* "Uses some generation, which one is not known yet": older than all. */
enum { ANY_GENERATION = 1 };

uint64_t thread_oldest_generation(void)
{
	/* acquire: pairs with the sampler's release when it adds blocks */
	uint32_t count = atomic_load_explicit(&thread_table.count, memory_order_acquire);
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t used = atomic_load_explicit(&thread_table.blocks[i].generation,
						     memory_order_seq_cst);

		if (used != 0 && used < oldest)
			oldest = used;
	}
	return oldest;
}

SIGNAL_SAFE const struct ranges *thread_ranges_begin(struct thread *thread, uint64_t *before)
{
	const struct ranges *ranges;

	*before = atomic_load_explicit(&thread->generation, memory_order_relaxed);
	if (*before != 0)
		return ranges_current();
	atomic_store_explicit(&thread->generation, ANY_GENERATION, memory_order_seq_cst);
	ranges = ranges_current();
	/* release: what is read from here on is read under this mark */
	if (ranges != NULL)
		atomic_store_explicit(&thread->generation, ranges->generation,
				      memory_order_release);
	return ranges;
}

SIGNAL_SAFE void thread_ranges_end(struct thread *thread, uint64_t before)
{
	/* release: the reads of the ranges come before the writer sees the mark go */
	atomic_store_explicit(&thread->generation, before, memory_order_release);
}

/* The activation below called out somewhere; its record is overwritten once this one calls out. */
static void note_outer(struct thread *thread, const struct entry *below, struct entry *entry)
{
	struct exit_record record;
	struct reach reach;

	entry->outer_pc = 0;
	entry->outer_fp = 0;
	if (below == NULL)
		return;
	reach_init(&reach, thread, entry->sp);
	if (exitrec_read(below, &reach, entry->sp, &record) != EXIT_FOUND)
		return;
	entry->outer_pc = record.pc;
	entry->outer_fp = record.fp;
}

/* A longjmp over a wrapper leaves its entry behind; ours lies above it on the same stack. */
static uint32_t drop_stale(const struct thread *thread, const struct entry *entry)
{
	uint32_t depth = thread->depth;

	while (depth > 0 && depth <= ENTRY_DEPTH &&
	       thread_entry_is_stale(thread, depth - 1, entry->sp))
		depth--;
	return depth;
}

uint32_t thread_enter(struct thread *thread, struct entry *entry)
{
	uint32_t depth = drop_stale(thread, entry);

	if (!atomic_load_explicit(&thread_table.has_entries, memory_order_relaxed))
		atomic_store_explicit(&thread_table.has_entries, true, memory_order_relaxed);
	thread->depth = depth;
	note_outer(thread, depth > 0 && depth <= ENTRY_DEPTH ? &thread->entries[depth - 1] : NULL,
		   entry);
	if (depth < ENTRY_DEPTH)
		thread->entries[depth] = *entry;
	else
		stat_count(STAT_ENTRIES_TOO_DEEP);
	atomic_signal_fence(memory_order_seq_cst);
	thread->depth = depth + 1;
	return depth;
}

void thread_leave(struct thread *thread, uint32_t depth)
{
	atomic_signal_fence(memory_order_seq_cst);
	thread->depth = depth;
}

SIGNAL_SAFE bool thread_entry_is_stale(const struct thread *thread, uint32_t index, uintptr_t sp)
{
	const struct entry *entry = &thread->entries[index];
	uintptr_t start = atomic_load_explicit(&thread->stack_start, memory_order_relaxed);
	uintptr_t end = atomic_load_explicit(&thread->stack_end, memory_order_relaxed);

	if ((entry->flags & ENTRY_FIBER) != 0 || sp < start || sp >= end || entry->sp < start ||
	    entry->sp >= end)
		return false;
	return entry->sp <= sp;
}

void thread_note_resumer(struct thread *thread, uintptr_t sp)
{
	uintptr_t start = atomic_load_explicit(&thread->stack_start, memory_order_relaxed);
	uintptr_t end = atomic_load_explicit(&thread->stack_end, memory_order_relaxed);

	if (sp == 0 || (end != 0 && (sp < start || sp >= end)))
		return;
	/* Beyond what was copied from the place that is known: that stays the right one. */
	if (sp - atomic_load_explicit(&thread->resumer_sp, memory_order_relaxed) >
	    2 * SAMPLE_MAX_RESUMER)
		atomic_store_explicit(&thread->resumer_sp, sp, memory_order_relaxed);
}
