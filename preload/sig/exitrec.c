/* SPDX-License-Identifier: MIT */
/*
 * exitrec.c - learning where an engine keeps its exit record, and reading it.
 *
 * Threads: the handlers of several threads may learn one layout at once. The fields are single
 * words and independent; whoever agrees with the candidate settles it.
 */
#include "preload/sig/exitrec.h"

#include "preload/sig/cpu.h"

enum { HOPELESS_AFTER = 256 /* samples in which more than one place matched */ };

SIGNAL_SAFE bool exitrec_is_learned(const struct exit_layout *layout)
{
	return layout != NULL &&
	       atomic_load_explicit(&layout->offset, memory_order_relaxed) != EXIT_NOT_LEARNED;
}

SIGNAL_SAFE static bool read_words(const struct exit_layout *layout, struct reach *reach,
				   uintptr_t place, struct exit_record *record)
{
	if (!reach_word(reach, place + layout->exit_fp) ||
	    !reach_word(reach, place + layout->exit_pc) ||
	    !reach_word(reach, place + layout->entry_fp))
		return false;
	record->frame = cpu_word(place + layout->exit_fp);
	record->pc = cpu_word(place + layout->exit_pc);
	record->entry_fp = cpu_word(place + layout->entry_fp);
	return true;
}

/* sp < exit frame < entry frame < the wrapper, as far as these are on one stack. */
SIGNAL_SAFE static bool fits_stack(const struct entry *entry, uintptr_t sp,
				   const struct exit_record *record)
{
	if (record->frame <= sp || record->frame - sp > EXIT_MAX_DISTANCE)
		return false;
	if (record->entry_fp <= record->frame)
		return false;
	return (entry->flags & ENTRY_FIBER) != 0 || record->entry_fp < entry->sp;
}

SIGNAL_SAFE enum exit_state exitrec_read_at(const struct entry *entry, struct reach *reach,
					    uintptr_t sp, int offset, struct exit_record *record)
{
	const struct exit_layout *layout = entry->layout;

	if (!read_words(layout, reach, entry->context + (uintptr_t)offset, record))
		return EXIT_UNKNOWN;
	if (!fits_stack(entry, sp, record) || !reach_word(reach, record->frame) ||
	    !reach_word(reach, record->frame + 8))
		return EXIT_NONE;
	record->fp = record->frame;
	if (!layout->exit_fp_is_trampoline)
		return EXIT_FOUND;
	/* Host frames that have grown over a returned guest's leave another word here. */
	if (cpu_word(record->frame + 8) != record->pc)
		return EXIT_NONE;
	record->fp = cpu_word(record->frame);
	return record->fp > record->frame ? EXIT_FOUND : EXIT_NONE;
}

SIGNAL_SAFE enum exit_state exitrec_read(const struct entry *entry, struct reach *reach,
					 uintptr_t sp, struct exit_record *record)
{
	if (entry->context == 0 || !exitrec_is_learned(entry->layout))
		return EXIT_UNKNOWN;
	return exitrec_read_at(entry, reach, sp,
			       atomic_load_explicit(&entry->layout->offset, memory_order_relaxed),
			       record);
}

SIGNAL_SAFE bool exitrec_is_wanted(const struct entry *entry)
{
	return entry->context != 0 && entry->layout != NULL && !exitrec_is_learned(entry->layout) &&
	       !atomic_load_explicit(&entry->layout->hopeless, memory_order_relaxed);
}

SIGNAL_SAFE void exitrec_agree(struct exit_layout *layout, int offset, int matches)
{
	if (matches > 1 && atomic_fetch_add_explicit(&layout->ambiguous, 1, memory_order_relaxed) >=
				   HOPELESS_AFTER)
		atomic_store_explicit(&layout->hopeless, true, memory_order_relaxed);
	if (matches == 1 &&
	    atomic_exchange_explicit(&layout->candidate, offset, memory_order_relaxed) == offset)
		atomic_store_explicit(&layout->offset, offset, memory_order_relaxed);
}

/* Whether a record at PLACE would make sense: never left yet, or left from guest code. */
SIGNAL_SAFE static bool plausible(const struct exit_layout *layout, struct reach *reach,
				  const struct ranges *ranges, uintptr_t place)
{
	struct exit_record record;

	if (!read_words(layout, reach, place, &record))
		return false;
	if (record.pc == 0 || record.frame == 0)
		return true;
	return (record.frame & 7) == 0 && ranges_find(ranges, record.pc - 1) != NULL;
}

SIGNAL_SAFE void exitrec_learn(const struct entry *entry, struct reach *reach,
			       const struct ranges *ranges, uintptr_t trampoline_fp)
{
	int found = EXIT_NOT_LEARNED, matches = 0;
	uintptr_t field;

	if (trampoline_fp == 0 || !exitrec_is_wanted(entry))
		return;
	for (int at = 0; at < EXIT_SEARCH_SIZE - entry->layout->entry_fp; at += 8) {
		field = entry->context + (uintptr_t)at + entry->layout->entry_fp;
		if (!reach_word(reach, field))
			break;
		if (cpu_word(field) != trampoline_fp ||
		    !plausible(entry->layout, reach, ranges, entry->context + (uintptr_t)at))
			continue;
		found = at;
		matches++;
	}
	exitrec_agree(entry->layout, found, matches);
}
