/* SPDX-License-Identifier: MIT */
/* mapping.h - what /proc/self/maps says of one address. Threads: ours. */
#ifndef PRELOAD_LOAD_MAPPING_H
#define PRELOAD_LOAD_MAPPING_H

#include "symtab/base.h"

/* The executable mapping that holds ADDRESS. False when there is none. */
bool mapping_around(uintptr_t address, uintptr_t *start, uintptr_t *end);

#endif /* PRELOAD_LOAD_MAPPING_H */
