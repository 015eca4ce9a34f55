/* SPDX-License-Identifier: MIT */
/*
 * interpreted.h - code of an interpreter, whose frames are all alike: which function one is of says
 * a word in it.
 *
 * Where a walk meets such code, that word follows the program counter in sample.pcs, marked
 * (sample.h). Signals: readers are async-signal-safe. The newest INTERPRETED_MAX ranges are kept:
 * where other code is by now, a word is added that leads nowhere.
 */
#ifndef PRELOAD_SIG_INTERPRETED_H
#define PRELOAD_SIG_INTERPRETED_H

#include "symtab/base.h"

struct reach;

enum { INTERPRETED_MAX = 64 };

/*
 * Frames of code in [START, END) have the word BELOW_FP bytes below their frame pointer. One thread
 * at a time.
 */
void interpreted_add(uintptr_t start, uintptr_t end, uint32_t below_fp);

/* Whether any was added: mostly there are none. */
bool interpreted_are_there(void);

/* The marked word of the frame with FP whose code is at PC; 0: none, PC is no interpreter's. */
uint64_t interpreted_word(const struct reach *reach, uintptr_t pc, uintptr_t fp);

#endif /* PRELOAD_SIG_INTERPRETED_H */
