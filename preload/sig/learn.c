/* SPDX-License-Identifier: MIT */
/* learn.c - which place in the store's context holds a record that fits the stack? */
#include "preload/sig/learn.h"

#include "preload/sig/exitrec.h"

SIGNAL_SAFE static bool chain_fits(struct walk *walk, const struct exit_record *record)
{
	walk->count = 0;
	walk->hit = NULL;
	return walk_caller(walk, record->pc, record->fp, record->frame) == WALK_COMPLETE &&
	       walk->last_fp == record->entry_fp;
}

SIGNAL_SAFE void learn_outside(struct tick *tick, struct walk *walk)
{
	const struct entry *entry = tick->entry;
	int found = EXIT_NOT_LEARNED, matches = 0;
	struct exit_record record;

	if (entry == NULL || !exitrec_is_wanted(entry))
		return;
	for (int at = 0; at < EXIT_SEARCH_SIZE; at += 8) {
		enum exit_state state = exitrec_read_at(entry, &tick->reach, tick->sp, at, &record);

		if (state == EXIT_UNKNOWN)
			break;
		if (state == EXIT_FOUND && chain_fits(walk, &record)) {
			found = at;
			matches++;
		}
	}
	if (matches > 0)
		exitrec_agree(entry->layout, found, matches);
}
