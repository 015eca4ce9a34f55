/* SPDX-License-Identifier: MIT */
/*
 * register_frame.h - what was registered during a load call.
 */
#ifndef PRELOAD_RUNTIME_REGISTER_FRAME_H
#define PRELOAD_RUNTIME_REGISTER_FRAME_H

#include "symtab/base.h"

/* Frame registrations so far on this thread. */
uint32_t runtime_registrations(void);

/* What was registered last on this thread, if anything was since BEFORE; else NULL. */
const void *runtime_registered_since(uint32_t before);

/*
 * From now on called around each registration, with an address in the object that registers: for an
 * engine whose modules' code comes in no other way. First, IS_DONE false: whether that code is
 * known to have no image around it, which takes long to look for. Then, when load/ was told. On
 * that thread, within hook_begin(). One follower.
 */
void runtime_follow_registrations(bool (*follower)(const void *caller, bool is_done));

/*
 * Whether anything was registered, on any thread, since *COUNT was taken: then that is of now, and
 * *CALLER an address in the object that registered last. Any thread.
 */
bool runtime_registered_anew(uint32_t *count, const void **caller);

#endif /* PRELOAD_RUNTIME_REGISTER_FRAME_H */
