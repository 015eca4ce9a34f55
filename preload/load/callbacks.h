/* SPDX-License-Identifier: MIT */
/*
 * callbacks.h - host functions under the names by which the host gave them to an engine.
 *
 * Nothing is wrapped: only the function's address is remembered, so that a host frame of it can be
 * shown as `env.log`. A function that was given under several names has none. Bounded. Threads: any
 * adds; ours asks.
 */
#ifndef PRELOAD_LOAD_CALLBACKS_H
#define PRELOAD_LOAD_CALLBACKS_H

#include "symtab/base.h"

enum { CALLBACKS_NAME = 128 };

/* FUNCTION is MODULE.NAME from now on; both are bytes that need not be text. */
void callbacks_add(uintptr_t function, const char *module, size_t module_size, const char *name,
		   size_t name_size);

/*
 * MODULE.NAME as one text, cut to what fits; a byte that is no text of its own becomes `?`. MODULE
 * NULL: NAME alone. The rest of JOINED is zero.
 */
void callbacks_join(char joined[CALLBACKS_NAME], const char *module, size_t module_size,
		    const char *name, size_t name_size);

/* Copies the name of FUNCTION (the address of its first byte). False when it has none. */
bool callbacks_find(uintptr_t function, char name[CALLBACKS_NAME]);

#endif /* PRELOAD_LOAD_CALLBACKS_H */
