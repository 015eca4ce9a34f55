/* SPDX-License-Identifier: MIT */
/*
 * dl.c - dlsym, dlvsym, dlclose and dlerror as the host sees them.
 *
 * dlsym and dlvsym answer what the host would get without us, but for functions that we observe:
 * there it gets a thunk, which remembers the engine. The entry points are in dl_x86_64.c: unless
 * dl_pick() has an answer they jump on to the libc's own, which looks at its return address and
 * must find the host's (RTLD_NEXT, RTLD_DEFAULT, $ORIGIN).
 */
#include "preload/hook/dl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/hook/bind.h"
#include "preload/hook/dl_x86_64.h"
#include "preload/hook/hook.h"
#include "preload/hook/libc.h"
#include "preload/hook/object.h"
#include "preload/hook/slot.h"

EXPORT int dlclose(void *handle);
EXPORT char *dlerror(void);

/* ---- dlerror --------------------------------------------------------------------------------- */

/*
 * Per thread; each dl call of the libc wipes its text. PENDING is one that our calls would have
 * wiped, or that we made; SHOWN is what dlerror() returned, to be valid until the next call. Leaks
 * with its thread.
 */
static HOOK_TLS struct {
	char *pending, *shown;
} error;

static void set_pending(char *text)
{
	free(error.pending);
	error.pending = text;
}

void dl_error_save(void)
{
	const char *text = libc_real()->dlerror();

	if (text != NULL)
		set_pending(strdup(text));
}

void dl_error_restore(void)
{
	(void)libc_real()->dlerror();
}

HOOK_PLAIN(dlerror);
char *dlerror(void)
{
	char *text = libc_real()->dlerror();

	if (text != NULL) {
		/* An error newer than ours. */
		set_pending(NULL);
		return text;
	}
	free(error.shown);
	error.shown = error.pending;
	error.pending = NULL;
	return error.shown;
}

/* The words of glibc's elf/dl-lookup.c. */
static void report_undefined(const struct object *from, const char *name, const char *version)
{
	const char *file =
		from->name != NULL && *from->name != '\0' ? from->name : program_invocation_name;
	char *text;

	if (asprintf(&text, "%s: undefined symbol: %s%s%s", file, name,
		     version != NULL ? ", version " : "", version != NULL ? version : "") >= 0)
		set_pending(text);
}

/* ---- dlclose --------------------------------------------------------------------------------- */

HOOK_PLAIN(dlclose);
int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);
	int saved_errno = errno;

	if (result == 0)
		set_pending(NULL);
	hook_unloaded();
	errno = saved_errno;
	return result;
}

/* ---- dlsym and dlvsym ------------------------------------------------------------------------ */

struct lookup {
	void *handle;
	const char *name;
	const char *version; /* NULL: dlsym */
	void *caller;
};

static void *look_up(const struct lookup *lookup)
{
	if (lookup->version != NULL)
		return libc_real()->dlvsym(lookup->handle, lookup->name, lookup->version);
	return libc_real()->dlsym(lookup->handle, lookup->name);
}

/* A host that looks for dlsym itself gets ours: else its lookups would go past us. */
LIBC_UNCHECKED static void *find_ours(const char *name)
{
	static const struct {
		const char *name;
		const void *function;
	} ours[] = {
		{ "dlsym", dl_dlsym },
		{ "dlvsym", dl_dlvsym },
		{ "dlclose", wrapper_dlclose },
		{ "dlerror", wrapper_dlerror },
	};

	for (size_t i = 0; name[0] == 'd' && i < ARRAY_SIZE(ours); i++)
		if (libc_is_same(name, ours[i].name))
			return (void *)ours[i].function;
	return NULL;
}

/*
 * The handle leads to our own wrapper, so it stands for the global scope (or for the caller's,
 * which begins with it). What would be found if we were not there?
 */
static void *look_past_us(const struct lookup *lookup)
{
	struct object from = { .name = "" };
	void *found;

	if (lookup->handle == RTLD_DEFAULT)
		(void)object_at((uintptr_t)lookup->caller, &from);
	found = hook_in_scope(&from, lookup->name);
	if (found == NULL) {
		dl_error_restore();
		report_undefined(&from, lookup->name, lookup->version);
	}
	return found;
}

void *dl_thunk(struct hook *hook, void *found)
{
	static atomic_flag logged = ATOMIC_FLAG_INIT;
	struct object engine;
	int slot;

	/*
	 * In an object that does not define it: a fixed executable's way to our own wrapper. Or not
	 * the version that the others in this object call by its thunk.
	 */
	if (!object_at((uintptr_t)found, &engine) || object_symbol(&engine, hook->name) != found)
		return found;
	slot = slot_for(&engine);
	if (slot < 0) {
		log_once(&logged, "more than %d engines: %s in %s is not observed", HOOK_SLOTS,
			 hook->name, engine.name);
		return found;
	}
	/* release: pairs with hook_real() */
	atomic_store_explicit(&hook->slot[slot], found, memory_order_release);
	return (void *)(hook->thunks + (size_t)slot * HOOK_THUNK_SIZE);
}

static void *pick(const struct lookup *lookup, void *ours, struct hook *hook, bool *is_passed)
{
	void *found = look_up(lookup);

	*is_passed =
		found == NULL; /* once more, for the host to have the error from the libc itself */
	if (found == NULL)
		return NULL;
	if (ours != NULL)
		return ours;
	if (object_is_ours(found))
		found = look_past_us(lookup);
	return found != NULL ? dl_thunk(hook, found) : NULL;
}

/*
 * A sanitizer's runtime looks up the functions that it intercepts through here before it can bear
 * checked code: up to the decision that a name is none of ours, this calls nothing that is checked.
 */
LIBC_UNCHECKED struct dl_answer dl_pick(void *handle, const char *name, const char *version,
					void *caller)
{
	struct dl_answer answer = { NULL, true };
	void *ours = NULL;
	struct hook *hook = NULL;
	int saved_errno = errno;
	bool is_passed;

	if (handle != RTLD_NEXT)
		bind_new_objects();
	if (error.pending != NULL)
		set_pending(NULL);
	if (handle == RTLD_NEXT || name == NULL)
		return answer;
	ours = find_ours(name);
	if (ours == NULL)
		hook = hook_find(name);
	if (ours == NULL && (hook == NULL || hook->thunks == NULL)) {
		if (state.on_looked_up != NULL)
			state.on_looked_up(handle, name);
		return answer;
	}
	answer.symbol =
		pick(&(struct lookup){ handle, name, version, caller }, ours, hook, &is_passed);
	answer.is_passed = is_passed;
	errno = saved_errno;
	return answer;
}

LIBC_UNCHECKED void *dl_real_dlsym(void)
{
	return (void *)libc_real()->dlsym;
}

LIBC_UNCHECKED void *dl_real_dlvsym(void)
{
	return (void *)libc_real()->dlvsym;
}
