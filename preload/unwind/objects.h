/* SPDX-License-Identifier: MIT */
/*
 * objects.h - which objects the loader has mapped, and which it had until lately.
 *
 * A copy of the loader's list, renewed when its counters moved. Inside the loader's lock only
 * copying is done. Objects that went stay for the samples that still need them, the last few of
 * them, with what was copied of their tables. Threads: ours only.
 */
#ifndef PRELOAD_UNWIND_OBJECTS_H
#define PRELOAD_UNWIND_OBJECTS_H

#include "preload/unwind/object.h"
#include "symtab/base.h"

/* Renews the copy if need be. True when an object the unwinder may remember rows of has gone. */
bool objects_refresh(void);

/*
 * Call when a sample is done: were objects unloaded since the refresh, then pages copied
 * meanwhile may be another object's, and are dropped. True when some were: so must be the rows.
 */
bool objects_confirm(void);

/* Nothing is remembered any more. */
void objects_flushed(void);

/* The object whose code (or any of whose segments) holds the address, else one that went, or NULL.
 */
struct object *objects_find_code(uintptr_t pc);
struct object *objects_find(uintptr_t address);

/* Objects that are mapped, and that went. */
size_t objects_count(void);
size_t objects_gone(void);

#endif /* PRELOAD_UNWIND_OBJECTS_H */
