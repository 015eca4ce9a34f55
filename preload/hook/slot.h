/* SPDX-License-Identifier: MIT */
/*
 * slot.h - engine slots: a small number for each object whose functions dlsym handed out thunks to.
 */
#ifndef PRELOAD_HOOK_SLOT_H
#define PRELOAD_HOOK_SLOT_H

#include "preload/hook/object.h"

/* The slot of ENGINE, taken now if it has none; -1 when all belong to objects that are still
 * loaded. */
int slot_for(const struct object *engine);

#endif /* PRELOAD_HOOK_SLOT_H */
