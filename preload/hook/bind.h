/* SPDX-License-Identifier: MIT */
/*
 * bind.h - calls of libraries that come by dlopen reach us by thunks, too.
 *
 * A plugin that is linked with an engine calls our wrappers as its loader bound them, by one
 * address for all engines. Whose call it is, the return address tells only where the plugin really
 * calls: where it jumps (a call that is a function's last act), or hands the function's address to
 * others, it is the host's. So the words that the loader filled for such a library (imports.h) are
 * given the thunk of the engine that was meant, before the host can call into it.
 */
#ifndef PRELOAD_HOOK_BIND_H
#define PRELOAD_HOOK_BIND_H

#include "symtab/base.h"

/*
 * Before each lookup by dlsym, which a host makes before it calls what it opened. Quick when no
 * object was loaded since the last time; may wait for the loader's lock, as dlsym itself. Disturbs
 * dlerror. Nothing is bound before bind_start().
 */
void bind_new_objects(void);

/* STARTUP_COUNT objects are there from the start: what those import is of one scope. */
void bind_start(uint32_t startup_count);

/*
 * In the child of a fork, while it has one thread: nothing new is looked for until the child has
 * loaded something, or dlclose() has come back.
 */
void bind_fork_child(void);
void bind_lock_is_free(void);

#endif /* PRELOAD_HOOK_BIND_H */
