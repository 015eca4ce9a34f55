/* SPDX-License-Identifier: MIT */
/*
 * climb.h - from the leaf to the outermost frame of one stack. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_CLIMB_H
#define PRELOAD_UNWIND_CLIMB_H

#include "preload/unwind/unwind.h"

/* A stack being climbed. The registers are those of the frame that was added last. */
struct climb {
	/* The caller's. */
	const struct unwind_input *input;
	enum unwinder unwinder;
	struct unwind_frame *frames;
	size_t max;

	/* The result. */
	size_t count;
	uint64_t missing; /* the stack address that was lacking; 0: none was */

	uint64_t registers[UNWIND_REGISTERS];
	size_t doubtful;  /* a frame whose return address follows no call; SIZE_MAX: none */
	bool interrupted; /* that frame's pc was interrupted, not left by a call */
	bool sigreturn;	  /* that frame is the way back from a signal handler */
	bool has_cursor;  /* libunwind stands at that frame */
	bool is_guess;	  /* the next one will be */
	enum unwind_end end;
};

/* Climbs. Objects and images must be up to date, and stay as they are meanwhile. */
enum unwind_end climb_all(struct climb *climb);

#endif /* PRELOAD_UNWIND_CLIMB_H */
