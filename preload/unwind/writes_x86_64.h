/* SPDX-License-Identifier: MIT */
/*
 * writes_x86_64.h - all that a function writes to registers and to slots of its frame, in order.
 *
 * For homes_x86_64.c. Threads: any.
 */
#ifndef PRELOAD_UNWIND_WRITES_X86_64_H
#define PRELOAD_UNWIND_WRITES_X86_64_H

#include "preload/unwind/effect_x86_64.h"
#include "preload/unwind/homes.h"

enum {
	/* registers and slots; a function with more has its other slots left out */
	WRITES_PLACES = 256,
	WRITES_SPOILT = 512,
	WRITES_NO_PLACE = 0xffff,
	WRITES_ARGUMENT = 0xfffe, /* the value that came in %rdi */
};

struct write {
	uint32_t at, next; /* offsets of the instruction and of the one behind it */
	uint16_t to, from; /* places; from WRITES_NO_PLACE: something else */
	bool is_restore;
};

struct place {
	int32_t slot;	/* from the frame pointer */
	uint32_t first; /* offset behind the first write; UINT32_MAX: none */
	uint8_t saves;	/* the register whose caller's value is kept here; HOMES_REGISTERS */
	bool is_home;
};

/* Bytes of the frame that something other than a copy of 64 bits is written to. */
struct spoilt {
	int32_t at; /* from the frame pointer */
	int32_t size;
};

/* A function, and what was found in it. */
struct finder {
	const uint8_t *code;
	size_t size;
	struct homes *homes;
	int32_t depth; /* of the stack pointer below the frame pointer */
	bool has_frame;
	uint32_t leaving_since;	 /* an epilogue has begun here; UINT32_MAX: none */
	uint32_t argument_until; /* %rdi is the argument before that */
	uint32_t first_call;
	struct place places[WRITES_PLACES];
	size_t place_count;
	struct write *writes;
	size_t write_count, write_capacity;
	struct spoilt spoilt[WRITES_SPOILT];
	size_t spoilt_count; /* WRITES_SPOILT: all of it */
};

/*
 * FINDER is zero but for its first three fields, which are given. 0; -EINVAL when the code
 * cannot be decoded, or changes the stack pointer in a way that is not understood; -ENOMEM. The
 * caller frees writes.
 */
int writes_list(struct finder *finder);

#endif /* PRELOAD_UNWIND_WRITES_X86_64_H */
