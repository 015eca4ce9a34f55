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

#endif /* PRELOAD_RUNTIME_REGISTER_FRAME_H */
