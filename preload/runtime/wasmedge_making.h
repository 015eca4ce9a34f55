/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_making.h - around a call that makes an instance.
 *
 * A start function runs meanwhile, and a JIT compiles, or the whole program runs: the instance has
 * its number before, and its module as soon as there is one. Threads: any.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_MAKING_H
#define PRELOAD_RUNTIME_WASMEDGE_MAKING_H

#include "preload/load/instance.h"
#include "preload/runtime/wasmedge.h"

struct wasmedge_making {
	struct runtime_wasmedge call;
	const void *holder; /* of the module; NULL: its bytes are ours */
	uint32_t id;	    /* of the instance; 0: the call is not observed */
	struct activation activation;
	bool is_seen;
	bool has_code; /* of what runs at once: there is, or will be, code of it */
};

/* The module of HOLDER (wasmedge_holder.h), or of a file, or of SIZE bytes, is instantiated. */
void wasmedge_making_of(struct wasmedge_making *making, const void *real, const void *holder);
void wasmedge_making_of_file(struct wasmedge_making *making, const void *real, const char *path);
void wasmedge_making_of_bytes(struct wasmedge_making *making, const void *real,
			      const uint8_t *bytes, size_t size);

/*
 * Before the real call: the instance has its number. A start function that runs meanwhile is seen
 * by its code, as of no instance: to be in the guest would be wrong of all the compiling.
 */
void wasmedge_making_number(struct wasmedge_making *making);

/*
 * The same where the real call also runs the guest, and makes no code but what is in the module:
 * without it that is interpreted. FRAME is the wrapper's; NULL: it runs elsewhere.
 */
void wasmedge_making_enter(struct wasmedge_making *making, void *frame);

/*
 * Behind it: INSTANCE was made, for VM if that is not NULL; NULL: nothing was. Keeps errno. True
 * when it is known from now on.
 */
bool wasmedge_making_leave(struct wasmedge_making *making, const void *instance, const void *vm);

/* Behind a call that was not entered: the instance is as it is. Keeps errno. */
void wasmedge_making_drop(struct wasmedge_making *making);

#endif /* PRELOAD_RUNTIME_WASMEDGE_MAKING_H */
