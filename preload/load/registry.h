/* SPDX-License-Identifier: MIT */
/*
 * registry.h - every loading of a module that is there or still needed, and its way through our
 * hands.
 *
 *   announced: range published --> tables taken (our thread, or the thread that unmaps) --> built
 * --> retired --> freed
 *
 * Everything here but loading_take_tables() wants the registry's lock.
 */
#ifndef PRELOAD_LOAD_REGISTRY_H
#define PRELOAD_LOAD_REGISTRY_H

#include "preload/load/load.h"
#include "symtab/symtab.h"

enum tables_state { TABLES_WAITING, TABLES_TAKING, TABLES_TAKEN };

struct loading {
	struct loading *next;
	uint32_t id;
	struct image_layout layout;
	const char *engine;
	struct load_maker maker; /* of code that was registered; else no function in it */
	char *given_name, *path;
	struct load_bytes *bytes;
	struct image_tables *tables;
	atomic_int tables_state;
	uint32_t handles;    /* of the host's that stand for it */
	bool was_forgotten;  /* one of them was */
	atomic_uint users;   /* threads that use it without the lock: it is not freed meanwhile */
	uint64_t born, died; /* died: UINT64_MAX while the code is there */
	bool is_held;  /* registered from within a load call that has not ended: name and bytes will
			  follow */
	bool is_built; /* our thread put it into the symbol set */
	bool is_retire_told; /* and took it out again */
	bool is_named;	     /* its tables name all its functions: no binary need be found */
	bool was_scanned;    /* found by the scan: nobody will tell us when it goes */
};

void registry_lock(void);
void registry_unlock(void);

/* All loadings, newest first. */
struct loading *registry_first(void);

/* The live loading of the image with LAYOUT, or NULL; another image at the same base is not it. */
struct loading *registry_at(const struct image_layout *layout);
struct loading *registry_by_id(uint32_t id);

/*
 * Whether code without an image may still be added; says once when not. Without the lock: a few may
 * be over the bound.
 */
bool registry_has_room_for_bare(void);

/*
 * Adds the image that LAYOUT describes and publishes its code. NULL when there is nothing to sample
 * (*VERDICT says why; counted and said once) or memory is short. Wakes nobody.
 */
struct loading *registry_add(const struct image_layout *layout, const char *engine,
			     enum load_verdict *verdict);

/* The same for a module of ENGINE without an image: layout.is_bytecode, and base 0. */
struct loading *registry_add_interpreted(const char *engine);

/* Whether LOADING's module is interpreted, and no handle and no instance of it is left. */
bool registry_is_done_with(const struct loading *loading);

/* The number of a loading that is not in this list. */
uint32_t registry_new_id(void);

/* Ends LOADING's range; its tables must have been taken. */
void registry_retire(struct loading *loading);

/* Removes and frees LOADING, which nobody uses. */
void registry_drop(struct loading *loading);

/* Copies the image's tables if nobody has, or waits for whoever does. Without the lock. */
void loading_take_tables(struct loading *loading);

/* Around a fork: the lock is held; in the child it is new and what a lost thread began is begun
 * anew. */
void registry_fork_child(void);

#endif /* PRELOAD_LOAD_REGISTRY_H */
