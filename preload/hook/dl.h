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

/*
 * The same as the loader bound it when there is only one definition: that one, whatever the scope.
 * Keeps dlerror.
 */
void *hook_meant(const char *name, const struct object *from);

struct hook;

/* What the host gets for FOUND, a definition of HOOK's name: a thunk, or FOUND itself. */
void *dl_thunk(struct hook *hook, void *found);

/* After a dlclose: when an object went, voids what was remembered and tells the listener. */
void hook_unloaded(void);

#endif /* PRELOAD_HOOK_DL_H */
