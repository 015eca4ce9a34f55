/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - which word near a store's record is the store's number? (stores.h has the rules.)
 *
 * Threads: ours.
 */
#ifndef PRELOAD_UNWIND_NUMBERS_H
#define PRELOAD_UNWIND_NUMBERS_H

#include "preload/sig/sample.h"
#include "symtab/base.h"

/* Begins anew. */
void numbers_start(void);

/* Another sample, of thread TID, with a window. Nothing is learned when memory is short. */
void numbers_learn(const struct sample_anchor *anchor, uint64_t tid);

/* The word DISTANCE from the record, in ANCHOR's window; 0: it is not there. */
uint64_t numbers_value(const struct sample_anchor *anchor, int distance);

/* Its distance from the record once it is settled; else SAMPLE_NUMBER_UNKNOWN. */
int numbers_settled(void);

/*
 * It is settled for good. False while all stores were seen in one place: then what counts something
 * else in one lasting store would look the same.
 */
bool numbers_are_sure(void);

#endif /* PRELOAD_UNWIND_NUMBERS_H */
