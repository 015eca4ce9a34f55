/* SPDX-License-Identifier: MIT */
/*
 * state.h - what the whole library shares: is it on, and whom to call when it wakes.
 *
 * Before the constructor everything is zero: off. Only lifecycle.c writes; everybody reads.
 */
#ifndef PRELOAD_BASE_STATE_H
#define PRELOAD_BASE_STATE_H

#include "symtab/base.h"

struct thread;

struct state {
	/* True from the end of the constructor until the process ends or we step back. One load,
	 * one branch. */
	atomic_bool on;
	/* True once a guest module was seen and sampling was set up (lifecycle.c). */
	atomic_bool sampling;
	/*
	 * Set by the constructor. on_first_guest starts our thread and the sampler; called by load/
	 * or the watch at the first module, through pthread_once, on whatever thread that is.
	 * on_watch starts our thread only, to look for images. NULL before the constructor.
	 */
	void (*on_first_guest)(void);
	void (*on_watch)(void);
	/*
	 * The host has opened PATH as DESCRIPTOR; called from anywhere that may open a file. Keeps
	 * errno. NULL before the constructor.
	 */
	void (*on_opened)(const char *path, int descriptor);
	/*
	 * The host looks up NAME, no function of ours, in HANDLE. Keeps errno. NULL before the
	 * constructor.
	 */
	void (*on_looked_up)(void *handle, const char *name);
	/*
	 * The calling thread's block (sig/thread.h), made if need be, its clock armed; NULL when
	 * there is none to be had. Set by the sampler when it starts; NULL before.
	 */
	struct thread *(*adopt_thread)(void);
	/* Wakes our thread: a load, a ring half full. Async-signal-safe. NULL before it exists. */
	void (*wake)(void);
};

extern struct state state;

/*
 * What the next thread that a thread makes is to run its function in: whoever calls into an engine
 * which goes on elsewhere sets it, pthread_create takes it, and it is NULL then. RUN calls FUNCTION
 * once and frees SELF.
 */
struct inheritance {
	void *(*run)(struct inheritance *self, void *(*function)(void *), void *argument);
};
extern __thread __attribute__((tls_model("initial-exec"),
			       visibility("hidden"))) struct inheritance *state_inheritance;

#endif /* PRELOAD_BASE_STATE_H */
