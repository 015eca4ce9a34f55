/* SPDX-License-Identifier: MIT */
/*
 * object.h - the loaded objects: which one holds an address, and what it defines.
 *
 * All of it goes through the libc's dl_iterate_phdr, which takes only the loader's short lock: a
 * constructor that runs inside dlopen may wait for a thread that is in here. dlerror is untouched.
 * Threads: any. Signals: never.
 */
#ifndef PRELOAD_HOOK_OBJECT_H
#define PRELOAD_HOOK_OBJECT_H

#include <link.h>

#include "symtab/base.h"

struct object {
	uintptr_t start, end; /* of all its segments */
	uintptr_t base;	      /* what its addresses are relative to: 0 for a fixed executable */
	const ElfW(Dyn) * dynamic;
	const char *name; /* as in its link map: "" for the main program; its text lives with the
			     object */
	uint32_t rank;	  /* its place in the order of loading, 0 for the main program */
	uintptr_t relro_start, relro_end; /* read only once it is relocated; 0, 0: nothing */
};

/*
 * Calls VISIT for each object but ours, in the order of loading, until it returns true. Returns
 * true when it did. The loader's lock is held: VISIT calls no dl function, and allocates nothing.
 */
bool object_each(bool (*visit)(const struct object *object, void *context), void *context);

/* The object that holds ADDRESS. False when none does: code made at run time. */
bool object_at(uintptr_t address, struct object *object);

/* The function that OBJECT itself defines, in its default version. NULL if it does not. */
void *object_symbol(const struct object *object, const char *name);

/*
 * The object whose dlopen brought OBJECT: the first that names it as needed, and so on upwards. Its
 * scope is the one that the calls of all it brought were bound in. OBJECT itself if none needs it.
 */
void object_root(const struct object *object, struct object *root);

/* True when ADDRESS lies in the object that this code is part of. */
bool object_is_ours(const void *address);

/*
 * How many objects besides ours define NAME; *FOUND is the definition in the one that was loaded
 * nearest to RANK: what one dlopen brings is neighbours.
 */
int object_definitions(const char *name, uint32_t rank, void **found);

/* Objects that ever were unloaded: a change voids whatever was remembered of addresses. */
uint64_t object_unloads(void);

/* How many objects were ever loaded, and unloaded. */
void object_changes(uint64_t *loads, uint64_t *unloads);

/* Objects in the process now. */
uint32_t object_count(void);

#endif /* PRELOAD_HOOK_OBJECT_H */
