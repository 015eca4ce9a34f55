/* SPDX-License-Identifier: MIT */
/*
 * remote.h - libunwind in remote mode over registers and a slice.
 *
 * One cursor at a time. libunwind sees the slice, our copies of unwind tables, and nothing else:
 * where there is no table it stops instead of guessing. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_REMOTE_H
#define PRELOAD_UNWIND_REMOTE_H

#include "preload/unwind/unwind.h"

enum remote_step {
	REMOTE_STEPPED,
	REMOTE_OUTERMOST,
	REMOTE_SLICE_END,
	REMOTE_NO_TABLE,
	REMOTE_BROKEN,
};

/* Opens libunwind. 0, or -ENOENT with one line logged. Later calls answer the same. */
int remote_start(void);
bool remote_is_open(void);

/* Never again: libunwind's state was copied by a fork while it was in use. */
void remote_give_up(void);

/* Lets INPUT be what the next cursors unwind, and limits the work for all of them together. */
void remote_prepare(const struct unwind_input *input);

/*
 * A cursor at the frame with REGISTERS; LOOKUP is the address whose tables count: the pc of an
 * interrupted frame, one less for a caller (a call may be the last instruction of its function).
 */
bool remote_begin(const uint64_t *registers, uint64_t lookup);

/* To the caller. What failed leaves the cursor where it was. */
enum remote_step remote_step(void);

/* The address of the word for want of which the last step failed; 0: it was not that. */
uint64_t remote_missing(void);

/* Register NUMBER of the cursor's frame; false when it cannot be had. */
bool remote_register(unsigned int number, uint64_t *value);

/* Rows that libunwind remembers are dropped. */
void remote_flush(void);

#endif /* PRELOAD_UNWIND_REMOTE_H */
