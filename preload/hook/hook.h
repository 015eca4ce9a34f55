/* SPDX-License-Identifier: MIT */
/*
 * hook.h - register, resolve and guard interposed functions.
 *
 * Every wrapper is an ordinary exported C function with one HOOK(name) row above it. The host
 * reaches it as a plain symbol (the preload comes first in the global scope) or through our dlsym,
 * which hands out a thunk. REAL(name) is the engine's own definition: one per engine, not per name,
 * for two engines that export the same C API may live in one process.
 *
 *   dlsym(handle, "wasm_func_call") -> thunk [hook, slot]: notes slot in hook_slot, jumps to the
 * wrapper REAL(wasm_func_call): slot noted? the target of that slot. Else by the caller's object.
 *
 * Before the constructor every wrapper is pure pass-through: hook_begin() is false.
 */
#ifndef PRELOAD_HOOK_HOOK_H
#define PRELOAD_HOOK_HOOK_H

#include <errno.h>

#include "preload/base/state.h"
#include "symtab/base.h"

/* Thread-locals that wrappers touch: the first touch must not allocate, or call __tls_get_addr. */
#define HOOK_TLS __thread __attribute__((tls_model("initial-exec")))
#define HOOK_HIDDEN __attribute__((visibility("hidden")))

enum { HOOK_SLOTS = 8 };

struct hook_caller; /* an object's address range and the definition it reaches */

struct hook {
	const char *name;
	void *wrapper;
	const char *thunks; /* HOOK_SLOTS of HOOK_THUNK_SIZE bytes; NULL: dlsym passes */
	_Atomic(void *) slot[HOOK_SLOTS]; /* targets that dlsym found; without thunks only [0] */
	_Atomic(struct hook_caller *) callers;
	atomic_flag is_missing_logged;
};

/*
 * HOOK(func) adds a row with thunks, HOOK_PLAIN(func) one without: for functions of the libc, which
 * exist once. Above the definition of FUNC, below its declaration.
 */
#include "preload/hook/hook_x86_64.h"

/* The function that FUNC hides, with FUNC's own type. Once per call of the wrapper, before all
 * else. */
#define REAL(func) ((__typeof__(&func))hook_real(&hook_##func, __builtin_return_address(0)))

/*
 * The definition that CALLER (a return address) means; never NULL: where there is none, a stub that
 * returns zero, counted, logged once per name. Keeps errno and the text of dlerror.
 */
void *hook_real(struct hook *hook, void *caller);

/* True when FUNCTION, as REAL gave it, is the stub. */
bool hook_is_missing(const void *function);

/* Written by the thunks: 1 and the engine's slot; taken back to 0 by hook_real(). */
extern HOOK_TLS uint8_t hook_slot HOOK_HIDDEN;

struct hook_scope {
	bool is_inside;
	int saved_errno;
};
extern HOOK_TLS struct hook_scope hook_scope HOOK_HIDDEN;

/*
 * True when the wrapper shall observe this call: we are on, and the thread is not already inside
 * our own code. Saves errno; hook_end() restores it. Only after a true hook_begin(). Inline: off
 * costs one load and one branch.
 */
static inline bool hook_begin(void)
{
	if (!atomic_load_explicit(&state.on, memory_order_relaxed) || hook_scope.is_inside)
		return false;
	hook_scope.is_inside = true;
	hook_scope.saved_errno = errno;
	return true;
}

static inline void hook_end(void)
{
	errno = hook_scope.saved_errno;
	hook_scope.is_inside = false;
}

/* The libc's own dlsym, past our wrappers. The text of dlerror stays what it was. */
void *hook_next_symbol(const char *name);	   /* RTLD_NEXT from our object */
void *hook_symbol(void *handle, const char *name); /* of HANDLE; NULL if none */
void *hook_symbol_near(const void *address,
		       const char *name); /* in the scope of the object that holds ADDRESS */

/*
 * The definition of NAME in the same object as FUNCTION (an engine's own function, as REAL gave
 * it): how a wrapper calls the rest of its engine's API. NULL when the engine has none. About 1 us.
 */
void *hook_sibling(const void *function, const char *name);

/* The address range of the object that holds FUNCTION. False when none does. */
bool hook_object_range(const void *function, uintptr_t *start, uintptr_t *end);

enum { UNLOAD_LISTENERS = 4 };

/*
 * UNLOADED is called on the thread that unloaded an object by dlclose, after it is gone. Up to
 * UNLOAD_LISTENERS: whoever remembers addresses of engines, or of what they load; the same one is
 * kept once. They must not open, close or look up by dl functions. NULL: nobody any more.
 */
void hook_on_unload(void (*unloaded)(void));

/* In the child of a fork, first of all. */
void hook_fork_child(void);

/* The row of NAME, or NULL. */
struct hook *hook_find(const char *name);

/* Rows in the table, for the test that counts them. */
size_t hook_count(void);

#endif /* PRELOAD_HOOK_HOOK_H */
