/* SPDX-License-Identifier: MIT */
/*
 * homes.h - where a function of a guest keeps its instance's context.
 *
 * It gets it as its first argument, and moves it to registers and slots of its frame. A place is a
 * home if nothing but that value is ever written to it, from its first write on. Found by one pass
 * over the function's code, without looking at jumps. Threads: any.
 */
#ifndef PRELOAD_UNWIND_HOMES_H
#define PRELOAD_UNWIND_HOMES_H

#include "symtab/base.h"

enum {
	HOMES_MAX = 12,
	HOMES_SAVED_MAX = 8,
	HOMES_EPILOGUES_MAX = 8,
	HOMES_REGISTERS = 16,
	HOMES_CODE_MAX = 1 << 20, /* bytes of a function that is looked at */
};

/* Offsets are of the instruction from the function's start. */
struct home {
	uint8_t reg;	/* CPU number; HOMES_REGISTERS: a slot */
	int32_t slot;	/* from the frame pointer */
	uint32_t from;	/* it holds the context for whoever stands at or behind this ... */
	uint32_t until; /* ... and before this */
};

/* A register of the caller that the function keeps in its frame while it uses it. */
struct saved_register {
	uint8_t reg;
	int32_t slot;
	uint32_t from; /* behind the instruction that saves it */
};

/* From the first register that is given back to the return. */
struct epilogue_span {
	uint32_t from, until;
};

struct homes {
	uint8_t home_count, saved_count, epilogue_count;
	bool has_more_epilogues; /* than were noted */
	uint16_t written;	 /* registers that the function itself changes, calls left aside */
	struct home homes[HOMES_MAX];
	struct saved_register saved[HOMES_SAVED_MAX];
	struct epilogue_span epilogues[HOMES_EPILOGUES_MAX];
};

/* Whether an interrupted function may be giving its registers back at offset AT. */
bool homes_are_leaving(const struct homes *homes, uint32_t at);

/*
 * Looks at SIZE bytes of CODE, a whole function. 0; -EINVAL when it cannot be decoded, or changes
 * the stack pointer in a way that is not understood; -ENOMEM.
 */
int homes_find(const uint8_t *code, size_t size, struct homes *homes);

#endif /* PRELOAD_UNWIND_HOMES_H */
