/* SPDX-License-Identifier: MIT */
/*
 * trap.h - the tick came inside a handler that runs on the alternate stack.
 *
 * That is where engines take a guest's trap. The guest's own registers are then in the context
 * which the kernel stored on that stack; the stack pointer says nothing about the guest's frames.
 * Signals: async-signal-safe.
 */
#ifndef PRELOAD_SIG_TRAP_H
#define PRELOAD_SIG_TRAP_H

#include <signal.h>
#include <sys/ucontext.h>

#include "preload/sig/ranges.h"
#include "preload/sig/reach.h"

struct interrupted {
	uintptr_t pc, fp, sp;
};

/* Whether SP lies on the alternate stack that CONTEXT names. */
bool trap_on_alternate_stack(const ucontext_t *context, uintptr_t sp);

/* The guest that was interrupted when the handler on the alternate stack began. */
bool trap_find(const ucontext_t *context, struct reach *reach, const struct ranges *ranges,
	       uintptr_t sp, struct interrupted *out);

#endif /* PRELOAD_SIG_TRAP_H */
