/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the list of loadings and the lock around it.
 *
 * A list, for there are few at a time: what died leaves as soon as no sample can need it.
 */
#include "preload/load/registry.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/base/log.h"
#include "preload/base/stats.h"
#include "preload/load/bytes.h"
#include "preload/load/instance.h"
#include "preload/load/publish.h"
#include "preload/load/whereabouts.h"
#include "preload/sig/thread.h"

/*
 * JITs that register each function by itself come with hundreds of thousands, and every list here
 * is walked at each.
 */
enum { BARE_MAX = 256 };

static struct {
	pthread_mutex_t lock; /* guards all below, and publish.c */
	struct loading *first;
	uint32_t last_id;
	atomic_uint bare_count;	    /* of loadings without an image around them */
	uint32_t interpreted_count; /* of those that have no image either */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

void registry_lock(void)
{
	pthread_mutex_lock(&self.lock);
}

void registry_unlock(void)
{
	pthread_mutex_unlock(&self.lock);
}

struct loading *registry_first(void)
{
	return self.first;
}

bool registry_has_room_for_bare(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (atomic_load_explicit(&self.bare_count, memory_order_relaxed) < BARE_MAX)
		return true;
	log_once(&said,
		 "more than %d pieces of generated code are registered one by one: the rest is "
		 "not looked at",
		 BARE_MAX);
	return false;
}

static bool is_same_image(const struct image_layout *a, const struct image_layout *b)
{
	return a->base == b->base && a->size == b->size && a->text == b->text &&
	       a->text_size == b->text_size && a->eh_frame_size == b->eh_frame_size &&
	       a->fingerprint == b->fingerprint;
}

struct loading *registry_at(const struct image_layout *layout)
{
	for (struct loading *loading = self.first; loading != NULL; loading = loading->next) {
		if (loading->died == UINT64_MAX && is_same_image(&loading->layout, layout))
			return loading;
	}
	return NULL;
}

struct loading *registry_by_id(uint32_t id)
{
	for (struct loading *loading = self.first; loading != NULL; loading = loading->next) {
		if (loading->id == id)
			return loading;
	}
	return NULL;
}

/* LOAD_SEEN, or why nothing of this image can be sampled. */
static enum load_verdict judge(const struct image_layout *layout)
{
	static atomic_flag said_debug = ATOMIC_FLAG_INIT;

	if (layout->has_guest_debug) {
		log_once(
			&said_debug,
			"a module was refused: its engine has guest debugging on, which copies the "
			"code for each store; turn it off to profile");
		stat_count(STAT_MODULES_REFUSED);
		return LOAD_GUEST_DEBUG;
	}
	if (layout->text_size == 0) {
		stat_count(STAT_MODULES_SKIPPED);
		return LOAD_EMPTY;
	}
	return LOAD_SEEN;
}

/* Code at the same addresses replaces what was there: the host unmapped it without telling. */
static void end_overlapped(const struct loading *newer)
{
	const struct image_layout *fresh = &newer->layout;

	for (struct loading *loading = self.first; loading != NULL; loading = loading->next) {
		const struct image_layout *old = &loading->layout;

		if (loading != newer && loading->died == UINT64_MAX &&
		    old->text < fresh->text + fresh->text_size &&
		    fresh->text < old->text + old->text_size) {
			int waiting = TABLES_WAITING;

			loading->died = newer->born;
			/* What its tables' addresses hold now is not its own. */
			atomic_compare_exchange_strong(&loading->tables_state, &waiting,
						       TABLES_TAKEN);
		}
	}
}

/* The generation from which LOADING is there; 0: no memory. */
static uint64_t publish(const struct loading *loading)
{
	const struct image_layout *layout = &loading->layout;
	struct range range = {
		.start = layout->text,
		.end = layout->text + layout->text_size,
		.id = loading->id,
		.has_frame_pointers = !layout->is_bare || layout->has_frame_pointers,
	};

	if (!layout->is_bytecode)
		return publish_add(&range);
	atomic_store_explicit(&thread_table.has_interpreted, true, memory_order_relaxed);
	/* No range, for the processor is never there: a generation that samples can wait for. */
	return publish_remove(loading->id);
}

static struct loading *add(const struct image_layout *layout, const char *engine)
{
	struct loading *loading = calloc(1, sizeof(*loading));

	if (loading == NULL)
		return NULL;
	loading->id = ++self.last_id;
	loading->layout = *layout;
	loading->engine = engine;
	loading->died = UINT64_MAX;
	loading->born = publish(loading);
	if (loading->born == 0) {
		free(loading);
		return NULL;
	}
	loading->next = self.first;
	self.first = loading;
	whereabouts_add(layout->base, layout->size);
	if (layout->is_bare)
		atomic_fetch_add_explicit(&self.bare_count, 1, memory_order_relaxed);
	end_overlapped(loading);
	stat_count(STAT_MODULES);
	log_line(LOG_DEBUG, "loading %u: %s %s, %zu bytes of code at %#lx", loading->id,
		 engine != NULL ? engine : "code", layout->engine_version, layout->text_size,
		 (unsigned long)layout->text);
	return loading;
}

struct loading *registry_add(const struct image_layout *layout, const char *engine,
			     enum load_verdict *verdict)
{
	*verdict = judge(layout);
	return *verdict == LOAD_SEEN ? add(layout, engine) : NULL;
}

struct loading *registry_add_interpreted(const char *engine)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const struct image_layout layout = { .is_bytecode = true };
	struct loading *loading;

	if (self.interpreted_count >= LOAD_INTERPRETED_MAX) {
		log_once(&said, "more than %d interpreted modules at a time: the rest is left out",
			 LOAD_INTERPRETED_MAX);
		stat_count(STAT_MODULES_REFUSED);
		return NULL;
	}
	loading = add(&layout, engine);
	if (loading == NULL)
		return NULL;
	loading->tables_state = TABLES_TAKEN;
	self.interpreted_count++;
	return loading;
}

bool registry_is_done_with(const struct loading *loading)
{
	return loading->layout.is_bytecode && loading->is_built && loading->was_forgotten &&
	       loading->handles == 0 && !instance_lives(loading->id);
}

uint32_t registry_new_id(void)
{
	return ++self.last_id;
}

void registry_retire(struct loading *loading)
{
	uint64_t died;

	if (loading->died != UINT64_MAX)
		return;
	died = publish_remove(loading->id);
	/* Without memory the range stays; its names stay right, for nothing else is there yet. */
	if (died != 0)
		loading->died = died;
}

void registry_drop(struct loading *loading)
{
	struct loading **link = &self.first;

	while (*link != loading)
		link = &(*link)->next;
	*link = loading->next;
	whereabouts_remove(loading->layout.base, loading->layout.size);
	if (loading->layout.is_bare)
		atomic_fetch_sub_explicit(&self.bare_count, 1, memory_order_relaxed);
	if (loading->layout.is_bytecode && loading->layout.base == 0)
		self.interpreted_count--;
	load_bytes_free(loading->bytes);
	image_tables_free(loading->tables);
	free(loading->given_name);
	free(loading->path);
	free(loading);
}

void loading_take_tables(struct loading *loading)
{
	int expected = TABLES_WAITING;

	if (atomic_compare_exchange_strong(&loading->tables_state, &expected, TABLES_TAKING)) {
		if (loading->tables == NULL)
			loading->tables =
				bytes_are_read(loading->bytes)
					? image_copy_unnamed(&guarded_memory, &loading->layout)
					: image_copy(&guarded_memory, &loading->layout);
		/* the wasm bytes say what it is, where they were seen */
		if (loading->tables != NULL && loading->bytes == NULL)
			image_hash(loading->tables, &guarded_memory, &loading->layout);
		/* release: pairs with the loads below and in load_work() */
		atomic_store_explicit(&loading->tables_state, TABLES_TAKEN, memory_order_release);
		return;
	}
	/* Whoever takes them holds no lock and waits for nothing: this ends. */
	while (atomic_load_explicit(&loading->tables_state, memory_order_acquire) != TABLES_TAKEN)
		sched_yield();
}

void registry_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
	for (struct loading *loading = self.first; loading != NULL; loading = loading->next) {
		int taking = TABLES_TAKING;

		/* The thread that was copying does not exist here; the memory does. */
		atomic_compare_exchange_strong(&loading->tables_state, &taking, TABLES_WAITING);
	}
}
