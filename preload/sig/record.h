/* SPDX-License-Identifier: MIT */
/*
 * record.h - a sample's place in the thread's ring: open it, fill it, close it or let it go.
 *
 * Signals: async-signal-safe. Each opened record is counted once: as a sample, or as lost.
 */
#ifndef PRELOAD_SIG_RECORD_H
#define PRELOAD_SIG_RECORD_H

#include "preload/sig/sample.h"
#include "preload/sig/tick.h"

/*
 * Room for a record of KIND with SAMPLE_MAX_PCS pcs and SLICE_SIZE bytes of stack (both only for
 * SAMPLE_HOST). NULL when there is none: counted. Not closing it leaves no trace.
 */
struct sample *record_open(struct tick *tick, enum sample_kind kind, size_t slice_size);

/* Adds registers and slice to a SAMPLE_HOST, after its pcs. */
void record_add_slice(struct tick *tick, struct sample *sample, size_t slice_size);

/* Publishes SAMPLE with TICK's flags; wakes our thread when the ring is half full. */
void record_close(struct tick *tick, struct sample *sample);

#endif /* PRELOAD_SIG_RECORD_H */
