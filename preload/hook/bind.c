/* SPDX-License-Identifier: MIT */
/*
 * bind.c - calls of libraries that come by dlopen reach us by thunks, too.
 *
 * An object is held by a reference of its own while its words are changed: then it is loaded to the
 * end, and stays. Where the loader bound a name past us (RTLD_DEEPBIND, a definition that came
 * earlier) nothing is changed.
 */
#include "preload/hook/bind.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "preload/hook/dl.h"
#include "preload/hook/hook.h"
#include "preload/hook/imports.h"
#include "preload/hook/libc.h"
#include "preload/hook/object.h"

enum { NAME_SIZE = 1024 };

static struct {
	atomic_bool is_started;
	uint32_t startup_count;
	_Atomic(uint64_t) seen; /* state_of() all that was seen to */
	/* In the child of a fork, until something is loaded: the last object. */
	_Atomic(const struct link_map *) last;
} self;

enum { COUNT_BITS = 20, CHANGE_BITS = 22 };

/* Objects now, and how many came and went until now, in one word: threads that meet here agree. */
static uint64_t state_of(uint32_t count, uint64_t loads, uint64_t unloads)
{
	const uint64_t changes = (UINT64_C(1) << CHANGE_BITS) - 1;

	return (loads & changes) << (COUNT_BITS + CHANGE_BITS) | (unloads & changes) << COUNT_BITS |
	       (count & ((1u << COUNT_BITS) - 1));
}

/*
 * The row of a function of an engine. Names that begin with _ are the implementation's or C++'s:
 * theirs is one definition, or one for each library that uses it (unwinders).
 */
static struct hook *hook_of(const struct import *import)
{
	struct hook *hook = *import->name != '_' ? hook_find(import->name) : NULL;

	return hook != NULL && hook->thunks != NULL ? hook : NULL;
}

static bool is_hooked(const struct import *import, void *context)
{
	(void)context;
	return hook_of(import) != NULL;
}

/* ---- one object --------------------------------------------------------------------------------
 */

/*
 * What the loader has bound OBJECT's import of HOOK's name to, or will at the first call; NULL: not
 * known, or past us. A lazy one of an object with RTLD_DEEPBIND begins with the object's own scope,
 * and nothing tells us that it has that: so both scopes must agree.
 */
static void *target_of(const struct hook *hook, const struct object *object, bool is_unbound)
{
	void *target = hook_meant(hook->name, object);
	void *nearest = is_unbound ? hook_symbol_near((void *)object->dynamic, hook->name) : NULL;

	return nearest == NULL || nearest == target ? target : NULL;
}

static bool bind_word(const struct import *import, void *context)
{
	const struct object *object = context;
	struct hook *hook = hook_of(import);
	uintptr_t bound = atomic_load_explicit(import->word, memory_order_relaxed);
	bool is_unbound = import->is_lazy && bound - object->start < object->end - object->start;
	void *target;

	if (hook == NULL || (bound != (uintptr_t)hook->wrapper && !is_unbound))
		return false;
	target = target_of(hook, object, is_unbound);
	if (target != NULL)
		imports_store(object, import, bound, (uintptr_t)dl_thunk(hook, target));
	return false;
}

/* NAME is OBJECT's, copied while it could not go. */
static void bind_object(const struct object *object, const char *name)
{
	void *handle = libc_real()->dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	struct object held;

	if (handle == NULL)
		return;
	if (object_at(object->start, &held) && held.dynamic == object->dynamic)
		imports_each(&held, bind_word, &held);
	libc_real()->dlclose(handle);
	hook_unloaded();
}

/* ---- all that are new --------------------------------------------------------------------------
 */

struct search {
	uint32_t from; /* ranks before this are done */
	struct object found;
	char name[NAME_SIZE];
};

static bool visit(const struct object *object, void *context)
{
	struct search *search = context;

	if (object->rank < search->from || object->name == NULL ||
	    strlen(object->name) >= sizeof(search->name) || !imports_each(object, is_hooked, NULL))
		return false;
	search->found = *object;
	strcpy(search->name, object->name);
	return true;
}

static void bind_from(uint32_t rank)
{
	struct search search = { .from = rank };

	while (object_each(visit, &search)) {
		bind_object(&search.found, search.name);
		search.from = search.found.rank + 1;
	}
}

static void bind_since(uint64_t seen, uint64_t loads, uint64_t unloads)
{
	uint32_t count = object_count(), seen_count = (uint32_t)(seen & ((1u << COUNT_BITS) - 1));

	/* what is new is at the end, unless something went */
	bind_from(((seen ^ state_of(0, 0, unloads)) & state_of(0, 0, UINT64_MAX)) == 0
			  ? seen_count
			  : self.startup_count);
	/* release: pairs with bind_changes() */
	atomic_store_explicit(&self.seen, state_of(count, loads, unloads), memory_order_release);
}

/*
 * A thread of the parent may have held the lock that the walk over objects takes, and glibc does
 * not free it in the child (seen with 2.36). Whoever loads or unloads an object has had
 * it.
 */
static bool is_lock_doubtful(void)
{
	const struct link_map *last = atomic_load_explicit(&self.last, memory_order_relaxed);

	if (last == NULL)
		return false;
	if (last->l_next == NULL)
		return true;
	bind_lock_is_free();
	return false;
}

static void bind_changes(void)
{
	/* acquire: pairs with bind_since() */
	uint64_t seen = atomic_load_explicit(&self.seen, memory_order_acquire);
	int saved_errno = errno;
	uint64_t loads, unloads;

	if (is_lock_doubtful())
		return;
	object_changes(&loads, &unloads);
	if (seen >> COUNT_BITS != state_of(0, loads, unloads) >> COUNT_BITS)
		bind_since(seen, loads, unloads);
	errno = saved_errno;
}

LIBC_UNCHECKED void bind_new_objects(void)
{
	/* acquire: pairs with bind_start() */
	if (atomic_load_explicit(&self.is_started, memory_order_acquire))
		bind_changes();
}

void bind_lock_is_free(void)
{
	atomic_store_explicit(&self.last, NULL, memory_order_relaxed);
}

void bind_fork_child(void)
{
	const struct link_map *last = _r_debug.r_map;

	while (last != NULL && last->l_next != NULL)
		last = last->l_next;
	atomic_store_explicit(&self.last, last, memory_order_relaxed);
}

void bind_start(uint32_t startup_count)
{
	uint64_t loads, unloads;

	object_changes(&loads, &unloads);
	self.startup_count = startup_count;
	atomic_store_explicit(&self.seen, state_of(startup_count, loads, unloads),
			      memory_order_relaxed);
	/* release: pairs with bind_new_objects() */
	atomic_store_explicit(&self.is_started, true, memory_order_release);
}
