/* SPDX-License-Identifier: MIT */
/*
 * asleep.h - the stack of a thread that sleeps in the kernel, as the handler would have taken it.
 *
 * Our thread only. The thread may wake at any moment: all of its memory is read by guarded copy,
 * and what was made is worth nothing until the caller has seen that the thread still sleeps.
 */
#ifndef PRELOAD_SAMPLER_ASLEEP_H
#define PRELOAD_SAMPLER_ASLEEP_H

#include "preload/sig/sample.h"
#include "preload/sig/thread.h"

enum asleep_result {
	ASLEEP_TAKEN,
	ASLEEP_NO_GUEST,   /* there is none on its stack */
	ASLEEP_UNREADABLE, /* its stack is not where the kernel says */
};

/*
 * THREAD sleeps with SP and PC. Makes a SAMPLE_HOST of it in *SAMPLE, valid until the next call:
 * guest frames from the engine's exit record where that is known, and the stack from SP to the
 * innermost activation (to the stack's top or SAMPLE_MAX_SLICE when WHOLE, and what resumed a
 * fiber). Its registers are 0 but for SP and PC: the kernel does not tell them.
 */
enum asleep_result asleep_take(const struct thread *thread, uintptr_t sp, uintptr_t pc, bool whole,
			       struct sample **sample);

#endif /* PRELOAD_SAMPLER_ASLEEP_H */
