/* SPDX-License-Identifier: MIT */
/* v8.h - the moments at which we look for V8 on the calling thread. */
#ifndef PRELOAD_RUNTIME_V8_H
#define PRELOAD_RUNTIME_V8_H

#include "symtab/base.h"

/*
 * The host has opened PATH. Keeps errno. Cheap for a path that is not called like a script's, and
 * where there is no V8.
 */
void runtime_v8_opened(const char *path);

/* Whether this process has a V8 that we know. Within hook_begin(). */
bool runtime_v8_is_there(void);

#endif /* PRELOAD_RUNTIME_V8_H */
