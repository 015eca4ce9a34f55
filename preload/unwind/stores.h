/* SPDX-License-Identifier: MIT */
/*
 * stores.h - the stores of hosts that nobody told of: their numbers, and their instances so far.
 *
 * An engine numbers its stores by a counter of the process, and keeps the number at a constant
 * distance from the store's record (sig/anchor.h). Where is different in each build, so it is
 * learned from the first samples, which carry a window of memory around the record:
 *
 *	- it is at one of the distances that builds are known to have (numbers.c),
 *	- it is from 1 to 2^40,
 *	- in one store's place it never falls, on any one thread,
 *	- two stores never have the same.
 *
 * Of the columns for which all that holds one is settled on once it has changed often enough while
 * no other says something else. Until then a store is known by its place alone, and successive ones
 * may be taken for one.
 *
 * Threads: ours.
 */
#ifndef PRELOAD_UNWIND_STORES_H
#define PRELOAD_UNWIND_STORES_H

#include "preload/sig/sample.h"
#include "symtab/base.h"

enum { STORES_MAX = 4096, STORE_INSTANCES_MAX = 4 };

/* An instance that was seen with certainty as the one entered through this module. */
struct store_instance {
	uint32_t loading, core;
	uint64_t context;
	bool has_others; /* of the same module, in the same store */
};

struct store {
	uint64_t key; /* unlike any other store's, ever; has the highest bit */
	uint64_t record, number;
	uint64_t last_ns;	     /* of its newest sample */
	struct sample_anchor *first; /* of its first sample, until numbers are settled; NULL */
	bool is_superseded;	     /* another one was seen in its place */
	struct store_instance instances[STORE_INSTANCES_MAX];
	size_t instance_count;
};

/*
 * The store of ANCHOR, in a sample of thread TID at TIME_NS; made if it is new. NULL: its number
 * could not be read, or memory is short. Valid until the next call. *IS_SURE: it is one, and not
 * perhaps several in a row.
 */
struct store *stores_of(const struct sample_anchor *anchor, uint64_t tid, uint64_t time_ns,
			bool *is_sure);

/* The distance of the number from the record; SAMPLE_NUMBER_UNKNOWN: not known for good. */
int stores_number_at(void);

/*
 * Calls FORGET for stores of which no sample can be waiting: another one was seen in its place, 5
 * seconds after its last; or there are too many.
 */
void stores_tidy(uint64_t now_ns, void (*forget)(uint64_t key));

/* Notes that the instance at CONTEXT of STORE was entered by CORE of LOADING, for certain. */
void store_note(struct store *store, uint32_t loading, uint32_t core, uint64_t context);

/* The one instance of CORE of LOADING that was ever seen in STORE; 0: none, or several. */
uint64_t store_only(const struct store *store, uint32_t loading, uint32_t core);

/* For tests: as at the start. */
void stores_reset(void);

#endif /* PRELOAD_UNWIND_STORES_H */
