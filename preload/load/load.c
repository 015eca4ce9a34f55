/* SPDX-License-Identifier: MIT */
/*
 * load.c - from an event to a loading, on the host's thread. What ours makes of it: work.c.
 */
#include "preload/load/load.h"

#include <stdio.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/base/state.h"
#include "preload/base/stats.h"
#include "preload/load/bytes.h"
#include "preload/load/code.h"
#include "preload/load/codequeue.h"
#include "preload/load/frames.h"
#include "preload/load/handles.h"
#include "preload/load/header.h"
#include "preload/load/hostcalls.h"
#include "preload/load/instance.h"
#include "preload/load/registry.h"
#include "preload/load/wasmfiles.h"
#include "preload/sig/thread.h"

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
	if (!loading->is_built)
		loading->layout.glue_comes_first = event->glue_comes_first;
}

/* The loading that EVENT is about: known by its base, registered last on this thread, or new. */
static struct loading *find_or_add(const struct load_event *event, enum load_verdict *verdict)
{
	struct image_layout layout;
	struct loading *loading;

	*verdict = LOAD_SEEN;
	if (event->is_interpreted)
		return registry_add_interpreted(event->engine);
	if (event->code != NULL)
		return code_add(event->code, event->engine);
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

/*
 * The scan met the image between its mapping and this, and our thread has built what could be known
 * without the wasm bytes: that ends here.
 */
static struct loading *begin_anew(struct loading *scanned, enum load_verdict *verdict)
{
	struct loading *loading = registry_add(&scanned->layout, scanned->engine, verdict);

	if (loading != NULL)
		loading->maker = scanned->maker;
	return loading != NULL ? loading : scanned;
}

/* HANDLE stands for FACTS from now on, and for nothing else. */
static void set_handle(const void *handle, const struct load_facts *facts)
{
	struct loading *before = registry_by_id(handles_get(handle).loading);
	struct loading *loading = registry_by_id(facts->loading);

	if (handle == NULL)
		return;
	if (before != NULL) {
		before->handles--;
		before->was_forgotten = true;
	}
	handles_set(handle, facts);
	if (loading != NULL)
		loading->handles++;
}

uint32_t load_announce(const struct load_event *event)
{
	struct load_facts facts = { 0 };
	struct load_bytes *bytes = event->bytes;
	struct loading *loading;

	registry_lock();
	loading = find_or_add(event, &facts.verdict);
	if (loading != NULL && loading->was_scanned && loading->is_built && bytes != NULL)
		loading = begin_anew(loading, &facts.verdict);
	facts.owner = handles_owner(event->owner);
	if (loading != NULL) {
		facts.loading = loading->id;
		attach(loading, event);
		if (loading->bytes == NULL && !loading->is_built) {
			loading->bytes = bytes;
			bytes = NULL;
		}
	}
	set_handle(event->handle, &facts);
	registry_unlock();
	code_free(event->code);
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
		set_handle(other, &facts);
	registry_unlock();
}

void load_forget(const void *handle)
{
	struct loading *loading;

	registry_lock();
	loading = registry_by_id(handles_get(handle).loading);
	handles_forget(handle);
	if (loading != NULL) {
		loading->users++;
		loading->handles--;
		loading->was_forgotten = true;
	}
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

bool load_is_interpreted(uint32_t id)
{
	struct image_layout layout;

	/* mostly there is none, and this is asked for every instance */
	if (!atomic_load_explicit(&thread_table.has_interpreted, memory_order_relaxed))
		return false;
	return layout_of(id, &layout) && layout.is_bytecode;
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
