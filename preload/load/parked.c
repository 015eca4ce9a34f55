/* SPDX-License-Identifier: MIT */
/*
 * parked.c - a bounded table by address; slots are given back by our thread alone.
 *
 * A slot's time goes from `since` to `pending` when a wait ends, or when our thread comes by: who
 * exchanges `since` for another value owns the time up to now, so none is counted twice.
 */
#include "preload/load/parked.h"

#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/config.h"
#include "preload/base/stats.h"

enum {
	SLOTS = 4096, /* a power of two */
	WINDOW = 32,
	KEY_FREE = 0,
	KEY_CLAIMED = 1, /* its first wait is being written */
	KEY_GONE = 2,	 /* deleted; our thread has not been here yet */
};

struct slot {
	atomic_uintptr_t key;
	atomic_uint instance;
	atomic_ullong since_ns;	  /* 0: being polled */
	atomic_ullong pending_ns; /* waited, and not collected */
};

static struct slot slots[SLOTS];

static bool is_on(void)
{
	const struct config *config = config_current();

	return config != NULL && config->wall;
}

static struct slot *slot_at(uintptr_t key, uint32_t step)
{
	uint64_t hash = (key >> 4) * 0x9e3779b97f4a7c15u;

	return &slots[((hash >> 32) + step) & (SLOTS - 1)];
}

static struct slot *find(uintptr_t key)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct slot *slot = slot_at(key, step);

		/* acquire: pairs with parked_begin() */
		if (atomic_load_explicit(&slot->key, memory_order_acquire) == key)
			return slot;
	}
	return NULL;
}

static struct slot *claim(uintptr_t key)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct slot *slot = slot_at(key, step);
		uintptr_t expected = KEY_FREE;

		/* acquire: pairs with the release in collect() */
		if (atomic_compare_exchange_strong_explicit(&slot->key, &expected, KEY_CLAIMED,
							    memory_order_acquire,
							    memory_order_relaxed))
			return slot;
	}
	return NULL;
}

void parked_begin(const void *key, uint32_t instance)
{
	struct slot *slot;

	if (key == NULL || instance == 0 || !is_on())
		return;
	slot = find((uintptr_t)key);
	if (slot == NULL) {
		slot = claim((uintptr_t)key);
		if (slot == NULL) {
			stat_count(STAT_PARKED_TOO_MANY);
			return;
		}
		atomic_store_explicit(&slot->instance, instance, memory_order_relaxed);
	}
	atomic_store_explicit(&slot->since_ns, clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
	/* release: pairs with find() and parked_collect() */
	atomic_store_explicit(&slot->key, (uintptr_t)key, memory_order_release);
}

static void stop(struct slot *slot)
{
	uint64_t since = atomic_exchange_explicit(&slot->since_ns, 0, memory_order_relaxed);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (since != 0 && now > since)
		atomic_fetch_add_explicit(&slot->pending_ns, now - since, memory_order_relaxed);
}

void parked_end(const void *key)
{
	struct slot *slot = key != NULL && is_on() ? find((uintptr_t)key) : NULL;

	if (slot != NULL)
		stop(slot);
}

void parked_forget(const void *key)
{
	struct slot *slot = key != NULL && is_on() ? find((uintptr_t)key) : NULL;

	if (slot == NULL)
		return;
	stop(slot);
	/* release: pairs with collect(), which then finds all of its time */
	atomic_store_explicit(&slot->key, KEY_GONE, memory_order_release);
}

static uint64_t collect(struct slot *slot, uintptr_t key, uint64_t now)
{
	unsigned long long since = atomic_load_explicit(&slot->since_ns, memory_order_relaxed);
	uint64_t wall_ns = 0;

	if (since != 0 && now > since &&
	    atomic_compare_exchange_strong_explicit(&slot->since_ns, &since, now,
						    memory_order_relaxed, memory_order_relaxed))
		wall_ns = now - since;
	wall_ns += atomic_exchange_explicit(&slot->pending_ns, 0, memory_order_relaxed);
	/* release: pairs with claim() */
	if (key == KEY_GONE)
		atomic_store_explicit(&slot->key, KEY_FREE, memory_order_release);
	return wall_ns;
}

void parked_collect(void (*visit)(void *context, uint32_t instance, uint64_t wall_ns),
		    void *context)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!is_on())
		return;
	for (struct slot *slot = slots; slot < slots + SLOTS; slot++) {
		uintptr_t key = atomic_load_explicit(&slot->key, memory_order_acquire);
		uint32_t instance;
		uint64_t wall_ns;

		if (key == KEY_FREE || key == KEY_CLAIMED)
			continue;
		/* Before the slot is given back. */
		instance = atomic_load_explicit(&slot->instance, memory_order_relaxed);
		wall_ns = collect(slot, key, now);
		if (wall_ns != 0)
			visit(context, instance, wall_ns);
	}
}

static void drop(void *context, uint32_t instance, uint64_t wall_ns)
{
	(void)context, (void)instance, (void)wall_ns;
}

void parked_skip(void)
{
	parked_collect(drop, NULL);
}

void parked_fork_child(void)
{
	parked_skip();
}
