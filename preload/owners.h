/* SPDX-License-Identifier: MIT */
/*
 * owners.h - instances in hosts whose calls into guests nobody sees: from samples to their ids.
 *
 * Threads: ours.
 */
#ifndef PRELOAD_OWNERS_H
#define PRELOAD_OWNERS_H

#include "symtab/base.h"

struct sample;

/* Code of ENGINE, VERSION was loaded: handlers copy what instances are told by, if it is known. */
void owners_note_engine(const char *engine, const char *version);

/*
 * Fills in SAMPLE's instance, and SAMPLE_LIKELY or SAMPLE_MODULE_ONLY, if it is of thread TID in
 * such a host. Loads were taken in.
 */
void owners_fill(struct sample *sample, uint64_t tid);

/* Now and then: forgets stores that are gone. */
void owners_tidy(void);

#endif /* PRELOAD_OWNERS_H */
