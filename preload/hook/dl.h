/* SPDX-License-Identifier: MIT */
/*
 * dl.h - what the files of this room share about dlsym, dlclose and dlerror.
 */
#ifndef PRELOAD_HOOK_DL_H
#define PRELOAD_HOOK_DL_H

#include "symtab/base.h"

struct object;

/*
 * Around our own dl calls: the host's dlerror text, if one is waiting, is kept for its next call of
 * dlerror, and errors of ours are dropped. Pairs; not nested.
 */
void dl_error_save(void);
void dl_error_restore(void);

/*
 * What NAME means to the object FROM without us: global scope first, then its own. NULL if nothing.
 * Disturbs dlerror.
 */
void *hook_in_scope(const struct object *from, const char *name);

/* After a dlclose: when an object went, voids what was remembered and tells the listener. */
void hook_unloaded(void);

#endif /* PRELOAD_HOOK_DL_H */
