/* SPDX-License-Identifier: MIT */
/*
 * instance.h - instances: their ids, and the thread's way in and out of them.
 *
 * An instance is known by its store's id and its own key in that store (address of its context,
 * index in the store), and belongs to one loading of a module. Ids are process-wide, from 1, never
 * reused. Threads: any; one lock around the table, none on the way in once a thread's last-used
 * instance is cached.
 */
#ifndef PRELOAD_LOAD_INSTANCE_H
#define PRELOAD_LOAD_INSTANCE_H

#include "preload/load/instance_labels.h"
#include "preload/sig/thread.h"
#include "symtab/base.h"

struct instance_key {
	uint64_t store; /* never reused by the engine */
	uint64_t key;	/* within the store */
};

struct instance_info {
	uint32_t id;
	uint32_t loading; /* of its module; 0 unknown */
	uint32_t serial;  /* 1, 2, ... within its module, in order of creation */
	uint64_t store;
	uint64_t created_ns; /* CLOCK_MONOTONIC */
	uint64_t ended_ns;   /* its store was deleted; 0: it is there */
	bool has_labels;     /* instance_labels_at() has something to say */
	bool is_interpreted; /* its module is */
};

/*
 * The id of the instance with KEY, made if new. LOADING is what the caller knows of its module, 0
 * if nothing; a later call with a loading completes it. 0 when memory is short.
 */
uint32_t instance_for(struct instance_key key, uint32_t loading);

/* 0 when KEY was never seen. */
uint32_t instance_find(struct instance_key key);

/* Another name for the same instance (the address of a function, an index): instance_find() answers
 * it too. */
void instance_alias(struct instance_key alias, uint32_t id);

/* The store is about to be deleted: its keys will not be asked for again. Facts of its instances
 * stay until drained. */
void instance_forget_store(uint64_t store);

/* Facts of instance ID. False when unknown or dropped. Any thread. */
bool instance_get(uint32_t id, struct instance_info *info);

/*
 * From now on samples of instance ID carry KEY=VALUE; VALUE "" takes the label away. The other one:
 * of all instances that STORE has and will have. 0; -ENOENT when ID or STORE was never seen;
 * errors of label_versions_set(), of which the store's instances may have part. Any thread.
 */
int instance_label(uint32_t id, const char *key, const char *value);
int instance_label_store(uint64_t store, const char *key, const char *value);

/* What was said of instance ID at TIME_NS (CLOCK_MONOTONIC). Any thread. */
void instance_labels_at(uint32_t id, uint64_t time_ns, struct instance_labels *labels);

/* Our thread: facts of instances of deleted stores may go when no ring holds a sample from before.
 */
void instance_reclaim(void);

/* Around a fork (load_fork_prepare() and so on call these). */
void instance_fork_prepare(void);
void instance_fork_parent(void);
void instance_fork_child(void);

/* Instances created so far for LOADING. */
uint64_t instance_count(uint32_t loading);

/* Whether the store of an instance of LOADING is still there. */
bool instance_lives(uint32_t loading);

/* ---- in and out ------------------------------------------------------------------------------ */

struct activation {
	struct thread *thread; /* NULL: nothing was pushed */
	uint32_t depth;
};

/*
 * The host is about to enter a guest on this thread: from here to guest_leave() samples belong to
 * INSTANCE (0: not known). STACK_POINTER is the wrapper's frame address,
 * CONTEXT the store's context (0 unknown), LAYOUT where the engine keeps its exit record (NULL
 * unknown). Costs a few stores once the thread is known.
 *
 * Where INSTANCE's module is interpreted all CPU time until guest_leave() is booked to it, as time
 * of `(interpreter)`, but that of what guest_call_out() says, and of guests entered meanwhile,
 * which is theirs. So INSTANCE must be known here, and its module by now.
 */
struct activation guest_enter(uint32_t instance, uintptr_t stack_pointer, uintptr_t context,
			      struct exit_layout *layout, uint32_t flags);

/*
 * The interpreter that this thread is in calls a function of the host: until guest_leave() its
 * instance is in a host call. NAME is its number (hostcalls_name()), HOSTCALLS_NO_NAME when it is
 * not known; STACK_POINTER as above. Does nothing unless the innermost activation is of an
 * interpreted guest: else the stack itself tells.
 */
struct activation guest_call_out(uint32_t name, uintptr_t stack_pointer);

/*
 * After guest_call_out() on the same thread: in which COUNT functions, innermost first, the guest
 * was. The first CALLED_FROM_MAX are kept. They take the place of `(interpreter)` meanwhile.
 */
void guest_called_from(struct activation activation, const uint32_t *functions, uint32_t count);

/* On the thread that entered: also where the guest trapped. Nested ones that were skipped end too.
 */
void guest_leave(struct activation activation);

#endif /* PRELOAD_LOAD_INSTANCE_H */
