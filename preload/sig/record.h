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
 * Room for a record of KIND with SAMPLE_MAX_PCS pcs and SLICE_SIZE bytes of stack, and for the
 * registers that go with it. NULL when there is none: counted. Not closing it leaves no trace.
 */
struct sample *record_open(struct tick *tick, enum sample_kind kind, size_t slice_size);

/* Adds the tick's registers and SLICE_SIZE bytes of its stack, after the pcs. */
void record_add_slice(struct tick *tick, struct sample *sample, size_t slice_size);

/* The same for a caller's frame: PC returns into it, FP is its frame pointer, and its stack is
 * copied from ADDRESS on. */
void record_add_caller(struct sample *sample, uintptr_t pc, uintptr_t fp, uintptr_t address,
		       size_t slice_size);

/* What record_add_resumer() adds takes SIZE bytes of stack and this. */
enum { RECORD_RESUMER_HEAD = 16 };

/* Adds SIZE bytes at ADDRESS, of the stack of whoever resumed the fiber. After the slice. */
void record_add_resumer(struct tick *tick, struct sample *sample, uintptr_t address, size_t size);

/* Publishes SAMPLE with TICK's flags; wakes our thread when the ring is half full. */
void record_close(struct tick *tick, struct sample *sample);

#endif /* PRELOAD_SIG_RECORD_H */
