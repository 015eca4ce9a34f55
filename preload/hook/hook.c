/* SPDX-License-Identifier: MIT */
/*
 * hook.c - the table of hooks, and the way from a wrapper to the function that it hides.
 *
 * A call by plain symbol reached us because we come first in the global scope. What it would have
 * reached without us is decided as the loader decides: the global scope first, then the scope of
 * the library that calls. Where only one object in the process defines the name there is nothing
 * to decide, and the dl functions are left alone.
 */
#include "preload/hook/hook.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/hook/bind.h"
#include "preload/hook/dl.h"
#include "preload/hook/libc.h"
#include "preload/hook/object.h"

enum { CALLERS_KEPT = 64 }; /* for each hook; more are looked up each time */

/*
 * What the object in [start, end) reaches. Immutable but for the epoch; never freed, for a reader
 * may be at it: the same fact is not entered twice, so unloading and loading again adds nothing.
 */
struct hook_caller {
	struct hook_caller *next;
	uintptr_t start, end;
	void *target;
	atomic_uint epoch; /* in which this was last found true */
};

extern struct hook __start_hooks[] __attribute__((weak, visibility("hidden")));
extern struct hook __stop_hooks[] __attribute__((weak, visibility("hidden")));

HOOK_TLS uint8_t hook_slot;
HOOK_TLS struct hook_scope hook_scope;

static struct {
	atomic_uint epoch; /* rises with every unload */
	_Atomic(uint64_t) unloads;
	uint32_t startup_count; /* objects before the first dlopen; set by the constructor */
	_Atomic(void (*)(void)) unloaded[UNLOAD_LISTENERS]; /* filled from the front */
} self;

size_t hook_count(void)
{
	return (size_t)(__stop_hooks - __start_hooks);
}

LIBC_UNCHECKED struct hook *hook_find(const char *name)
{
	for (struct hook *hook = __start_hooks; hook < __stop_hooks; hook++)
		if (libc_is_same(hook->name, name))
			return hook;
	return NULL;
}

static uintptr_t missing_function(void)
{
	stat_count(STAT_REAL_MISSING);
	return 0;
}

bool hook_is_missing(const void *function)
{
	return function == (const void *)missing_function;
}

static void *missing(struct hook *hook)
{
	log_once(&hook->is_missing_logged,
		 "%s was called, but nothing here defines it: it returned zero", hook->name);
	return (void *)missing_function;
}

/* GLOBAL or LOCAL, which differ: which did the loader bind the calls of FROM to? */
static void *first_bound(const struct object *from, void *global, void *local)
{
	struct object definer;

	/* FROM saw what was global when it was opened. */
	return object_at((uintptr_t)global, &definer) && definer.rank > from->rank ? local : global;
}

/*
 * In the scope that the loader binds the calls of FROM in, after the global one. By dlopen(), not
 * by its link map, which glibc calls a handle too: that of a dependency has no scope for dlsym().
 */
static void *find_local(const struct object *from, const char *name)
{
	const struct libc *libc = libc_real();
	struct object root;
	void *handle, *found;

	object_root(from, &root);
	handle = libc->dlopen(root.name, RTLD_LAZY | RTLD_NOLOAD);
	found = handle != NULL ? libc->dlsym(handle, name) : NULL;
	if (handle != NULL)
		libc->dlclose(handle);
	return found;
}

void *hook_in_scope(const struct object *from, const char *name)
{
	void *global = libc_real()->dlsym(RTLD_NEXT, name);
	void *local;

	/* Objects of the start are in the global scope, and saw all of it. */
	if (from->name == NULL || from->rank < self.startup_count)
		return global;
	local = find_local(from, name);
	if (local == NULL || local == global)
		return global;
	return global != NULL ? first_bound(from, global, local) : local;
}

void *hook_meant(const char *name, const struct object *from)
{
	void *nearest, *target;

	if (object_definitions(name, from->rank, &nearest) < 2)
		return nearest;
	dl_error_save();
	target = hook_in_scope(from, name);
	dl_error_restore();
	/* A dependency may use what only the library that brought it depends on. */
	return target != NULL ? target : nearest;
}

static void remember(struct hook *hook, const struct object *from, void *target, unsigned int epoch)
{
	struct hook_caller *first = atomic_load_explicit(&hook->callers, memory_order_acquire);
	struct hook_caller *caller;
	int count = 0;

	for (caller = first; caller != NULL; caller = caller->next, count++) {
		if (caller->start == from->start && caller->end == from->end &&
		    caller->target == target) {
			atomic_store_explicit(&caller->epoch, epoch, memory_order_relaxed);
			return;
		}
	}
	caller = count < CALLERS_KEPT ? malloc(sizeof(*caller)) : NULL;
	if (caller == NULL)
		return;
	*caller = (struct hook_caller){ first, from->start, from->end, target, epoch };
	/* release: pairs with find_caller(). Two threads at once: the other's stays, ours is asked
	 * for again. */
	if (!atomic_compare_exchange_strong_explicit(&hook->callers, &first, caller,
						     memory_order_release, memory_order_relaxed))
		free(caller);
}

/*
 * A function of the libc exists once, whoever calls. Kept for good: such functions are called from
 * signal handlers and in the children of forks, where neither the loader's lock nor malloc will do.
 */
static void *find_plain(struct hook *hook)
{
	void *target = hook_next_symbol(hook->name);

	if (target == NULL)
		(void)object_definitions(hook->name, 0, &target);
	/* release: pairs with hook_real() */
	atomic_store_explicit(&hook->slot[0], target, memory_order_release);
	return target;
}

static void *find_for_caller(struct hook *hook, uintptr_t caller)
{
	unsigned int epoch = atomic_load_explicit(&self.epoch, memory_order_acquire);
	struct object from;
	bool is_known = object_at(caller, &from);
	void *target = hook_meant(hook->name, &from);

	/* Not found is not remembered: a dlopen may bring it. */
	if (target != NULL && is_known)
		remember(hook, &from, target, epoch);
	return target;
}

/* Out of line, for hook_real() to be a few loads without a frame. */
__attribute__((noinline, cold)) static void *find_target(struct hook *hook, uintptr_t caller)
{
	int saved_errno = errno;
	void *target = hook->thunks == NULL ? find_plain(hook) : find_for_caller(hook, caller);

	if (target == NULL)
		target = missing(hook);
	errno = saved_errno;
	return target;
}

static void *find_known(const struct hook *hook, uintptr_t address)
{
	/* acquire: pairs with hook_unloaded() and remember() */
	unsigned int epoch = atomic_load_explicit(&self.epoch, memory_order_acquire);
	const struct hook_caller *caller =
		atomic_load_explicit(&hook->callers, memory_order_acquire);

	for (; caller != NULL; caller = caller->next)
		if (address - caller->start < caller->end - caller->start &&
		    atomic_load_explicit(&caller->epoch, memory_order_relaxed) == epoch)
			return caller->target;
	return NULL;
}

void *hook_real(struct hook *hook, void *caller)
{
	unsigned int slot = 0;
	void *target;

	if (hook->thunks != NULL && (slot = hook_slot) == 0) {
		target = find_known(hook, (uintptr_t)caller);
	} else {
		/* acquire: pairs with dl_thunk() and find_plain() */
		target = atomic_load_explicit(&hook->slot[slot != 0 ? slot - 1 : 0],
					      memory_order_acquire);
		if (slot != 0)
			hook_slot = 0;
	}
	return target != NULL ? target : find_target(hook, (uintptr_t)caller);
}

void hook_on_unload(void (*unloaded)(void))
{
	for (size_t i = 0; i < UNLOAD_LISTENERS; i++) {
		void (*known)(void) = NULL;

		/* release: pairs with hook_unloaded() */
		if (unloaded == NULL)
			atomic_store_explicit(&self.unloaded[i], NULL, memory_order_release);
		else if (atomic_compare_exchange_strong(&self.unloaded[i], &known, unloaded) ||
			 known == unloaded)
			return;
	}
}

void hook_unloaded(void)
{
	uint64_t unloads = object_unloads();
	void (*listener)(void);

	bind_lock_is_free();
	if (atomic_exchange_explicit(&self.unloads, unloads, memory_order_relaxed) == unloads)
		return;
	/* release: pairs with hook_real() */
	atomic_fetch_add_explicit(&self.epoch, 1, memory_order_release);
	for (size_t i = 0; i < UNLOAD_LISTENERS; i++) {
		listener = atomic_load_explicit(&self.unloaded[i], memory_order_acquire);
		if (listener != NULL)
			listener();
	}
}

void hook_fork_child(void)
{
	bind_fork_child();
}

void *hook_symbol(void *handle, const char *name)
{
	void *found;

	dl_error_save();
	found = libc_real()->dlsym(handle, name);
	dl_error_restore();
	return found;
}

void *hook_next_symbol(const char *name)
{
	return hook_symbol(RTLD_NEXT, name);
}

void *hook_symbol_near(const void *address, const char *name)
{
	struct object object;
	void *found;

	if (!object_at((uintptr_t)address, &object))
		return NULL;
	dl_error_save();
	found = find_local(&object, name);
	dl_error_restore();
	return found;
}

void *hook_sibling(const void *function, const char *name)
{
	struct object object;

	return object_at((uintptr_t)function, &object) ? object_symbol(&object, name) : NULL;
}

bool hook_object_range(const void *function, uintptr_t *start, uintptr_t *end)
{
	struct object object;

	if (!object_at((uintptr_t)function, &object))
		return false;
	*start = object.start;
	*end = object.end;
	return true;
}

__attribute__((constructor)) static void start(void)
{
	self.startup_count = object_count();
	bind_start(self.startup_count);
	atomic_store_explicit(&self.unloads, object_unloads(), memory_order_relaxed);
	for (struct hook *hook = __start_hooks; hook < __stop_hooks; hook++)
		if (hook->thunks == NULL && atomic_load(&hook->slot[0]) == NULL)
			find_plain(hook);
}
