/* SPDX-License-Identifier: MIT */
/*
 * handles.h - what stands behind the host's handles of modules and engines.
 *
 * The registry's lock (registry.h) is held around all of it.
 */
#ifndef PRELOAD_LOAD_HANDLES_H
#define PRELOAD_LOAD_HANDLES_H

#include "preload/load/load.h"

/* HANDLE of a module stands for FACTS from now on. Without memory it stays unknown. */
void handles_set(const void *handle, const struct load_facts *facts);
void handles_forget(const void *handle);
struct load_facts handles_get(const void *handle);

/* The number of the engine behind OWNER, given at the first sight; 0 for NULL or without memory. */
uint32_t handles_owner(const void *owner);
uint32_t handles_owner_find(const void *owner);
void handles_owner_alias(const void *owner, const void *clone);
void handles_owner_forget(const void *owner);

#endif /* PRELOAD_LOAD_HANDLES_H */
