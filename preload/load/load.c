/* SPDX-License-Identifier: MIT */
/*
 * load.c - from an event to a loading (the host's thread), from a loading to a module (ours).
 */
#include "preload/load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/bare.h"
#include "preload/load/bytes.h"
#include "preload/load/codequeue.h"
#include "preload/load/codespace.h"
#include "preload/load/frames.h"
#include "preload/load/handles.h"
#include "preload/load/header.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"
#include "preload/load/publish.h"
#include "preload/load/registry.h"
#include "preload/load/wasmfiles.h"

static struct symtab *symtab; /* our thread's */

/* Tells whoever starts sampling and our thread that there is work. Without the lock. */
static void wake_up(void)
{
	if (state.on_first_guest != NULL)
		state.on_first_guest();
	if (state.wake != NULL)
		state.wake();
}

static void attach(struct loading *loading, const struct load_event *event)
{
	loading->is_held = false;
	if (event->engine != NULL)
		loading->engine = event->engine;
	if (event->version != NULL && loading->layout.engine_version[0] == '\0')
		snprintf(loading->layout.engine_version, sizeof(loading->layout.engine_version),
			 "%s", event->version);
	if (event->given_name != NULL && loading->given_name == NULL)
		loading->given_name = strdup(event->given_name);
	if (event->path != NULL && loading->path == NULL)
		loading->path = strdup(event->path);
}

/* The loading that EVENT is about: known by its base, registered last on this thread, or new. */
static struct loading *find_or_add(const struct load_event *event, enum load_verdict *verdict)
{
	struct image_layout layout;
	struct loading *loading;

	*verdict = LOAD_SEEN;
	if (event->image == 0)
		return registry_by_id(frames_last_registered());
	if (header_find(event->image, &layout) != 0) {
		*verdict = LOAD_BROKEN;
		stat_count(STAT_MODULES_BROKEN);
		log_line(LOG_INFO, "no code image at %#lx: the module is left out",
			 (unsigned long)event->image);
		return NULL;
	}
	loading = registry_at(&layout);
	return loading != NULL ? loading : registry_add(&layout, event->engine, verdict);
}

uint32_t load_announce(const struct load_event *event)
{
	struct load_facts facts = { 0 };
	struct load_bytes *bytes = event->bytes;
	struct loading *loading;

	registry_lock();
	loading = find_or_add(event, &facts.verdict);
	facts.owner = handles_owner(event->owner);
	if (loading != NULL) {
		facts.loading = loading->id;
		attach(loading, event);
		if (loading->bytes == NULL && !loading->is_built) {
			loading->bytes = bytes;
			bytes = NULL;
		}
	}
	handles_set(event->handle, &facts);
	registry_unlock();
	load_bytes_free(bytes);
	frames_release();
	if (facts.loading != 0)
		wake_up();
	return facts.loading;
}

void load_hold(void)
{
	frames_hold();
}

void load_release(void)
{
	frames_release();
}

void load_alias(const void *handle, const void *other)
{
	struct load_facts facts;

	registry_lock();
	facts = handles_get(handle);
	if (facts.verdict != LOAD_UNKNOWN)
		handles_set(other, &facts);
	registry_unlock();
}

void load_forget(const void *handle)
{
	struct loading *loading;

	registry_lock();
	loading = registry_by_id(handles_get(handle).loading);
	handles_forget(handle);
	if (loading != NULL)
		loading->users++;
	registry_unlock();
	/*
	 * This may have been the last reference, and where unwind tables are off nobody will tell
	 * us when the image goes: take its tables while they are surely there.
	 */
	if (loading != NULL) {
		loading_take_tables(loading);
		loading->users--;
	}
}

struct load_facts load_facts(const void *handle)
{
	struct load_facts facts;

	registry_lock();
	facts = handles_get(handle);
	registry_unlock();
	return facts;
}

uint32_t load_of_handle(const void *handle)
{
	return load_facts(handle).loading;
}

uint32_t load_owner(const void *owner)
{
	uint32_t number;

	registry_lock();
	number = handles_owner_find(owner);
	registry_unlock();
	return number;
}

void load_owner_alias(const void *owner, const void *clone)
{
	registry_lock();
	handles_owner_alias(owner, clone);
	registry_unlock();
}

void load_owner_forget(const void *owner)
{
	registry_lock();
	handles_owner_forget(owner);
	registry_unlock();
}

/* What is known of the image of the loading ID, copied. False: there is no such loading. */
static bool layout_of(uint32_t id, struct image_layout *layout)
{
	const struct loading *loading;

	registry_lock();
	loading = registry_by_id(id);
	if (loading != NULL)
		*layout = loading->layout;
	registry_unlock();
	return loading != NULL;
}

bool load_range(uint32_t id, uintptr_t *start, uintptr_t *end)
{
	struct image_layout layout;

	if (!layout_of(id, &layout))
		return false;
	*start = layout.text;
	*end = layout.text + layout.text_size;
	return true;
}

bool load_image_range(uint32_t id, uintptr_t *start, uintptr_t *end)
{
	struct image_layout layout;

	if (!layout_of(id, &layout))
		return false;
	*start = layout.base;
	*end = layout.base + layout.size;
	return true;
}

void load_name(uint32_t id, const char *name)
{
	struct loading *loading;

	registry_lock();
	loading = registry_by_id(id);
	if (loading != NULL && !loading->is_built && loading->given_name == NULL)
		loading->given_name = strdup(name);
	registry_unlock();
}

bool load_engine_version(uint32_t id, char version[32])
{
	struct image_layout layout;

	if (!layout_of(id, &layout))
		return false;
	memcpy(version, layout.engine_version, 32);
	return true;
}

/* ---- our thread ----------------------------------------------------------------------------- */

static void build(struct loading *loading, const struct load_observer *observer)
{
	struct module_source source = {
		.engine = loading->engine,
		.given_name = loading->given_name,
		.path = loading->path,
		.layout = loading->layout,
	};
	struct module *module;

	if (loading->bytes != NULL)
		source.wasm = bytes_parsed(loading->bytes);
	else if (loading->layout.is_bare)
		bare_know(loading, &source);
	source.tables = loading->tables;
	loading->tables = NULL;
	module = source.tables != NULL ? module_new(&source) : NULL;
	if (source.wasm != NULL && wasmbin_problem(source.wasm) != NULL)
		log_line(LOG_INFO, "%s: %s", module != NULL ? module_name(module) : "a module",
			 wasmbin_problem(source.wasm));
	wasmbin_unref(source.wasm);
	if (module == NULL) {
		stat_count(STAT_MODULES_BROKEN);
		return;
	}
	if (module_function_count(module) == 0)
		stat_count(STAT_MODULES_SKIPPED);
	else if (symtab_add(symtab, module, loading->id, loading->layout.text,
			    loading->layout.text_size, loading->born) == 0)
		observer->added(symtab_find(symtab, loading->layout.text, loading->born));
	module_unref(module);
}

/* The next loading that can be built, marked as ours. COMPLETE ends below those that cannot. */
static struct loading *next_to_build(uint64_t *complete)
{
	struct loading *found = NULL;

	registry_lock();
	*complete = publish_generation();
	/* Oldest first: symtab_add() lets a newer range end an older one. */
	for (struct loading *loading = registry_first(); loading != NULL; loading = loading->next) {
		if (loading->is_built)
			continue;
		if (!loading->is_held)
			found = loading;
		else if (loading->born <= *complete)
			*complete = loading->born - 1;
	}
	if (found != NULL)
		found->is_built = true;
	registry_unlock();
	return found;
}

static struct loading *next_to_retire(void)
{
	struct loading *loading;

	registry_lock();
	for (loading = registry_first(); loading != NULL; loading = loading->next) {
		if (loading->is_built && loading->died != UINT64_MAX && !loading->is_retire_told)
			break;
	}
	if (loading != NULL)
		loading->is_retire_told = true;
	registry_unlock();
	return loading;
}

uint64_t load_work(const struct load_observer *observer)
{
	struct loading *loading;
	uint64_t complete;

	if (load_symtab() == NULL)
		return 0;
	while (bytes_work())
		;
	while ((loading = next_to_build(&complete)) != NULL) {
		loading_take_tables(loading);
		build(loading, observer);
	}
	while ((loading = next_to_retire()) != NULL) {
		symtab_retire(symtab, loading->id, loading->died);
		observer->retired(loading->id, loading->died);
	}
	codespace_work(symtab, observer);
	return complete;
}

bool load_waits(void)
{
	return codequeue_waits();
}

struct symtab *load_symtab(void)
{
	if (symtab == NULL)
		symtab = symtab_new();
	return symtab;
}

void load_reclaim(uint64_t drained)
{
	struct loading *loading, *next;

	registry_lock();
	publish_reclaim();
	for (loading = registry_first(); loading != NULL; loading = next) {
		next = loading->next;
		if (loading->is_retire_told && loading->died <= drained && loading->users == 0)
			registry_drop(loading);
	}
	registry_unlock();
	if (symtab != NULL) {
		symtab_forget(symtab, drained);
		codespace_reclaim(symtab);
	}
}

void load_fork_prepare(void)
{
	codequeue_fork_prepare();
	registry_lock();
	wasmfiles_fork_prepare();
	bytes_fork_prepare();
	instance_fork_prepare();
}

void load_fork_parent(void)
{
	instance_fork_parent();
	bytes_fork_parent();
	wasmfiles_fork_parent();
	registry_unlock();
	codequeue_fork_parent();
}

void load_fork_child(void)
{
	instance_fork_child();
	bytes_fork_child();
	wasmfiles_fork_child();
	hostcalls_fork_child();
	registry_fork_child();
	codequeue_fork_child();
}
