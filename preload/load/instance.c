/* SPDX-License-Identifier: MIT */
/*
 * instance.c - the table of instances.
 *
 * A slot per live key, chained by store: when the store goes, its slots go, but the facts of an
 * instance stay until our thread says that no sample of it can be waiting. Platforms make thousands
 * of instances a second, so slots are reused and nothing grows with the number ever made but one
 * counter a loading.
 */
#include "preload/load/instance.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "preload/base/clock.h"
#include "preload/base/stats.h"
#include "preload/load/load.h"
#include "preload/load/map.h"

/* A key of a store: an instance's own, an alias, or STORE_KEY. */
struct slot {
	struct instance_key key;
	struct instance_info info;    /* id 0: an alias, or the store's */
	struct label_version *labels; /* of the instance, or for all of the store; NULL: none */
	uint32_t next; /* in the store's chain, or in the free or ended chain; 0 ends */
};

/* What is said of a whole store; its "id" is the slot. No instance's key has all bits set. */
#define STORE_KEY UINT64_MAX

static struct {
	pthread_mutex_t lock; /* guards all below */
	struct slot *slots;   /* index 0 is never used */
	uint32_t slot_count, slot_capacity;
	uint32_t free;	/* chain */
	uint32_t ended; /* instances of deleted stores, chain */
	uint32_t old;	/* those that had ended at the last reclaim */
	uint32_t last_id;
	struct map ids;	       /* key -> id */
	struct map by_id;      /* id -> slot */
	struct map stores;     /* store -> chain */
	struct map serials;    /* loading -> instances created */
	struct map living;     /* loading -> instances whose stores are there */
	uint64_t reclaimed_ns; /* of samples before that none is waiting: see instance_reclaim() */
	uint64_t last_reclaim_ns;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread __attribute__((tls_model("initial-exec"))) struct {
	struct instance_key key;
	uint32_t id;
} last_used; /* store ids are never reused, so this never lies */

static uint32_t take_slot(void)
{
	uint32_t index = self.free;

	if (index != 0) {
		self.free = self.slots[index].next;
		return index;
	}
	if (self.slot_count + 1 >= self.slot_capacity) {
		uint32_t capacity = self.slot_capacity != 0 ? self.slot_capacity * 2 : 64;
		struct slot *bigger = realloc(self.slots, capacity * sizeof(*bigger));

		if (bigger == NULL)
			return 0;
		self.slots = bigger;
		self.slot_capacity = capacity;
	}
	return ++self.slot_count;
}

static void give_slot(uint32_t index)
{
	label_versions_free(&self.slots[index].labels);
	self.slots[index].next = self.free;
	self.free = index;
}

/* Puts a new slot for KEY into its store's chain. Returns its index, 0 without memory. */
static uint32_t add_slot(struct instance_key key, uint32_t id)
{
	uint32_t index = take_slot();

	if (index == 0)
		return 0;
	self.slots[index] = (struct slot){
		.key = key,
		.next = map_get(&self.stores, key.store, 0),
	};
	if (map_put(&self.ids, key.store, key.key, id) != 0) {
		give_slot(index);
		return 0;
	}
	if (map_put(&self.stores, key.store, 0, index) != 0) {
		map_remove(&self.ids, key.store, key.key);
		give_slot(index);
		return 0;
	}
	return index;
}

static uint32_t next_serial(uint32_t loading)
{
	uint32_t serial = map_get(&self.serials, loading, 0) + 1;

	map_put(&self.serials, loading, 0, serial);
	return serial;
}

/* SLOT is of a new instance: what its store is labelled with. */
static void inherit_labels(struct slot *slot)
{
	uint32_t store = map_get(&self.ids, slot->key.store, STORE_KEY);

	if (store != 0)
		slot->labels =
			label_versions_inherit(self.slots[store].labels, slot->info.created_ns);
	slot->info.has_labels = slot->labels != NULL;
}

/* INFO's instance is one of LOADING. */
static void join(struct instance_info *info, uint32_t loading, bool is_interpreted)
{
	info->loading = loading;
	info->is_interpreted = is_interpreted;
	if (loading == 0)
		return;
	info->serial = next_serial(loading);
	map_put(&self.living, loading, 0, map_get(&self.living, loading, 0) + 1);
}

static uint32_t create(struct instance_key key, uint32_t loading, bool is_interpreted)
{
	uint32_t id = self.last_id + 1, index = add_slot(key, id);

	if (index == 0)
		return 0;
	if (map_put(&self.by_id, id, 0, index) != 0)
		return 0;
	self.last_id = id;
	self.slots[index].info = (struct instance_info){
		.id = id,
		.store = key.store,
		.created_ns = clock_ns(CLOCK_MONOTONIC),
	};
	join(&self.slots[index].info, loading, is_interpreted);
	inherit_labels(&self.slots[index]);
	stat_count(STAT_INSTANCES);
	return id;
}

static void complete(uint32_t id, uint32_t loading, bool is_interpreted)
{
	struct instance_info *info = &self.slots[map_get(&self.by_id, id, 0)].info;

	if (info->id == id && info->loading == 0 && loading != 0)
		join(info, loading, is_interpreted);
}

uint32_t instance_for(struct instance_key key, uint32_t loading)
{
	bool is_interpreted;
	uint32_t id;

	if (loading == 0 && last_used.id != 0 && last_used.key.store == key.store &&
	    last_used.key.key == key.key)
		return last_used.id;
	/* not under the lock: it has one of its own */
	is_interpreted = loading != 0 && load_is_interpreted(loading);
	pthread_mutex_lock(&self.lock);
	id = map_get(&self.ids, key.store, key.key);
	if (id == 0)
		id = create(key, loading, is_interpreted);
	else
		complete(id, loading, is_interpreted);
	pthread_mutex_unlock(&self.lock);
	last_used.key = key;
	last_used.id = id;
	return id;
}

uint32_t instance_find(struct instance_key key)
{
	uint32_t id;

	if (last_used.id != 0 && last_used.key.store == key.store && last_used.key.key == key.key)
		return last_used.id;
	pthread_mutex_lock(&self.lock);
	id = map_get(&self.ids, key.store, key.key);
	pthread_mutex_unlock(&self.lock);
	if (id != 0) {
		last_used.key = key;
		last_used.id = id;
	}
	return id;
}

void instance_alias(struct instance_key alias, uint32_t id)
{
	if (id == 0)
		return;
	pthread_mutex_lock(&self.lock);
	if (map_get(&self.ids, alias.store, alias.key) == 0)
		add_slot(alias, id);
	pthread_mutex_unlock(&self.lock);
}

/* An instance of LOADING ends. */
static void part(uint32_t loading)
{
	uint32_t count = map_get(&self.living, loading, 0);

	if (count > 1)
		map_put(&self.living, loading, 0, count - 1);
	else
		map_remove(&self.living, loading, 0);
}

void instance_forget_store(uint64_t store)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t index, next;

	pthread_mutex_lock(&self.lock);
	for (index = map_remove(&self.stores, store, 0); index != 0; index = next) {
		struct slot *slot = &self.slots[index];

		next = slot->next;
		map_remove(&self.ids, slot->key.store, slot->key.key);
		if (slot->info.id == 0) {
			give_slot(index);
			continue;
		}
		part(slot->info.loading);
		slot->info.ended_ns = now_ns;
		slot->next = self.ended;
		self.ended = index;
	}
	pthread_mutex_unlock(&self.lock);
}

bool instance_get(uint32_t id, struct instance_info *info)
{
	uint32_t index;

	pthread_mutex_lock(&self.lock);
	index = map_get(&self.by_id, id, 0);
	if (index != 0)
		*info = self.slots[index].info;
	pthread_mutex_unlock(&self.lock);
	return index != 0;
}

static int label(struct slot *slot, const char *key, const char *value, uint64_t now_ns)
{
	int error = label_versions_set(&slot->labels, key, value, now_ns, self.reclaimed_ns);

	slot->info.has_labels = slot->labels != NULL;
	return error;
}

int instance_label(uint32_t id, const char *key, const char *value)
{
	int error = -ENOENT;
	uint32_t index;

	pthread_mutex_lock(&self.lock);
	index = map_get(&self.by_id, id, 0);
	if (index != 0)
		error = label(&self.slots[index], key, value, clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&self.lock);
	return error;
}

/* The slot of STORE's own labels, made if new; 0 without memory. */
static uint32_t store_slot(uint64_t store)
{
	const struct instance_key key = { store, STORE_KEY };
	uint32_t index = map_get(&self.ids, store, STORE_KEY);

	if (index != 0)
		return index;
	index = add_slot(key, UINT32_MAX);
	if (index != 0)
		map_put(&self.ids, store, STORE_KEY, index); /* replaces: needs no memory */
	return index;
}

int instance_label_store(uint64_t store, const char *key, const char *value)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int error = -ENOENT, one;
	uint32_t index;

	pthread_mutex_lock(&self.lock);
	if (map_get(&self.stores, store, 0) != 0) {
		index = store_slot(store);
		error = index != 0 ? label(&self.slots[index], key, value, now_ns) : -ENOMEM;
	}
	if (error == 0) {
		for (index = map_get(&self.stores, store, 0); index != 0;
		     index = self.slots[index].next) {
			if (self.slots[index].info.id == 0)
				continue;
			one = label(&self.slots[index], key, value, now_ns);
			error = error == 0 ? one : error;
		}
	}
	pthread_mutex_unlock(&self.lock);
	return error;
}

void instance_labels_at(uint32_t id, uint64_t time_ns, struct instance_labels *labels)
{
	uint32_t index;

	pthread_mutex_lock(&self.lock);
	index = map_get(&self.by_id, id, 0);
	label_versions_at(index != 0 ? self.slots[index].labels : NULL, time_ns, labels);
	pthread_mutex_unlock(&self.lock);
}

void instance_reclaim(void)
{
	uint32_t index, next;

	pthread_mutex_lock(&self.lock);
	/* A handler that runs now may add a sample of now: hence the time before last. */
	self.reclaimed_ns = self.last_reclaim_ns;
	self.last_reclaim_ns = clock_ns(CLOCK_MONOTONIC);
	for (index = self.old; index != 0; index = next) {
		next = self.slots[index].next;
		map_remove(&self.by_id, self.slots[index].info.id, 0);
		give_slot(index);
	}
	self.old = self.ended;
	self.ended = 0;
	pthread_mutex_unlock(&self.lock);
}

uint64_t instance_count(uint32_t loading)
{
	uint64_t count;

	pthread_mutex_lock(&self.lock);
	count = map_get(&self.serials, loading, 0);
	pthread_mutex_unlock(&self.lock);
	return count;
}

bool instance_lives(uint32_t loading)
{
	bool lives;

	pthread_mutex_lock(&self.lock);
	lives = map_get(&self.living, loading, 0) != 0;
	pthread_mutex_unlock(&self.lock);
	return lives;
}

void instance_fork_prepare(void)
{
	pthread_mutex_lock(&self.lock);
}

void instance_fork_parent(void)
{
	pthread_mutex_unlock(&self.lock);
}

void instance_fork_child(void)
{
	pthread_mutex_init(&self.lock, NULL);
}
