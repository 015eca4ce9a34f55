/* SPDX-License-Identifier: MIT */
/*
 * target.h - why a program may not take a preloaded library.
 */
#ifndef PRELOAD_CMD_TARGET_H
#define PRELOAD_CMD_TARGET_H

#include "symtab/base.h"

/* A reason that can be seen in the program NAME (searched in PATH), or NULL. Static text. */
const char *target_why_unseen(const char *name);

#endif /* PRELOAD_CMD_TARGET_H */
