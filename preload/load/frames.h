/* SPDX-License-Identifier: MIT */
/*
 * frames.h - what a frame registration tells: load.h has the wrappers' side.
 */
#ifndef PRELOAD_LOAD_FRAMES_H
#define PRELOAD_LOAD_FRAMES_H

#include "symtab/base.h"

/* The loading that this thread registered last within its present load call, 0: none. */
uint32_t frames_last_registered(void);

/* A load call with wasm bytes began on this thread: what it registers is held until the bytes are
 * there. */
void frames_hold(void);

/* The load call is over: nothing is held, nothing was registered last. */
void frames_release(void);

#endif /* PRELOAD_LOAD_FRAMES_H */
