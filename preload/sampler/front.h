/* SPDX-License-Identifier: MIT */
/*
 * front.h - the host's own action for a signal that our handler is in front of.
 *
 * The kernel knows of our handler only; what the host has set is noted here, and done here for
 * signals that are not our clocks'.
 * Threads: writers hold the lock of signal.c; handlers read without. A slot is used again only
 * after FRONT_SLOTS further changes, while a handler copies it within microseconds.
 */
#ifndef PRELOAD_SAMPLER_FRONT_H
#define PRELOAD_SAMPLER_FRONT_H

#include <signal.h>

#include "symtab/base.h"

enum { FRONT_COUNT = 5, FRONT_SLOTS = 64 };

/*
 * Those that may be ours. The first is what profilers use; a program has to ask for the others. The
 * last is the fast clock's first choice (signal.h).
 */
extern const int front_signals[FRONT_COUNT];

struct front_slot {
	struct sigaction action;
	atomic_bool spent; /* SA_RESETHAND, and it has run */
};

struct front {
	atomic_bool is_there; /* our handler is in front */
	int flags;	      /* of the installed action */
	struct front_slot slots[FRONT_SLOTS];
	atomic_uint latest; /* changes so far; the slot is this modulo FRONT_SLOTS */
};

/* NULL when SIGNO can be none of ours. */
struct front *front_of(int signo);

/* Is our handler in front of the host's action? FRONT may be NULL. */
bool front_is_there(struct front *front);

/* The host has set ACTION. */
void front_note(struct front *front, const struct sigaction *action);

/* What the host has set, as the kernel would tell it. */
struct sigaction front_action(struct front *front);

/* Neither handler: ACTION is the default, or to ignore. */
bool front_is_unused(const struct sigaction *action);

/* handler_setup.foreign: does what the kernel would have done with the host's action. */
void front_deliver(int signo, siginfo_t *info, void *context);

#endif /* PRELOAD_SAMPLER_FRONT_H */
