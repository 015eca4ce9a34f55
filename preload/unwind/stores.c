/* SPDX-License-Identifier: MIT */
/* stores.c - a table of stores by place and number. Threads: ours. */
#include "preload/unwind/stores.h"

#include <stdlib.h>
#include <string.h>

#include "preload/unwind/numbers.h"

/* Of samples of a store that is gone none waits in a ring after that. */
#define LINGER_NS UINT64_C(5000000000)
#define KEY_BIT (UINT64_C(1) << 63)

enum { BUCKETS = 1024, FIRST_MAX = 256, NONE = -1 };

static struct {
	struct store *stores; /* STORES_MAX */
	int *next;	      /* in the bucket; and of free ones */
	int buckets[BUCKETS];
	int newest[BUCKETS]; /* by place: the one with the highest number; collisions are lost */
	int free;
	int number_at; /* that stores are known by; SAMPLE_NUMBER_UNKNOWN */
	size_t count;
	uint64_t last_key;
} self;

static int *bucket_of(uint64_t record, uint64_t number)
{
	uint64_t hash =
		(record ^ number * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);

	return &self.buckets[hash >> 32 & (BUCKETS - 1)];
}

static bool begin(void)
{
	if (self.stores != NULL)
		return true;
	self.stores = calloc(STORES_MAX, sizeof(*self.stores));
	self.next = malloc(STORES_MAX * sizeof(*self.next));
	if (self.stores == NULL || self.next == NULL) {
		stores_reset();
		return false;
	}
	for (int i = 0; i < BUCKETS; i++)
		self.buckets[i] = self.newest[i] = NONE;
	for (int i = 0; i < STORES_MAX; i++)
		self.next[i] = i + 1 < STORES_MAX ? i + 1 : NONE;
	self.free = 0;
	self.number_at = SAMPLE_NUMBER_UNKNOWN;
	return true;
}

static struct store *find(uint64_t record, uint64_t number)
{
	for (int i = *bucket_of(record, number); i != NONE; i = self.next[i])
		if (self.stores[i].record == record && self.stores[i].number == number)
			return &self.stores[i];
	return NULL;
}

/* Of two stores in one place the one with the higher number is there now. */
static void supersede(int index)
{
	struct store *store = &self.stores[index], *other;
	int *newest = &self.newest[bucket_of(store->record, 0) - self.buckets];

	if (*newest != NONE && self.stores[*newest].key != 0 &&
	    self.stores[*newest].record == store->record) {
		other = &self.stores[*newest];
		store->is_superseded = store->number < other->number;
		other->is_superseded |= !store->is_superseded;
	}
	if (!store->is_superseded)
		*newest = index;
}

static void chain(int index)
{
	int *bucket = bucket_of(self.stores[index].record, self.stores[index].number);

	self.next[index] = *bucket;
	*bucket = index;
}

static struct store *add(uint64_t record, uint64_t number)
{
	int index = self.free;

	if (index == NONE)
		return NULL;
	self.free = self.next[index];
	self.stores[index] = (struct store){
		.key = KEY_BIT | ++self.last_key,
		.record = record,
		.number = number,
	};
	chain(index);
	self.count++;
	supersede(index);
	return &self.stores[index];
}

static void unchain(int index)
{
	int *at = bucket_of(self.stores[index].record, self.stores[index].number);

	while (*at != index)
		at = &self.next[*at];
	*at = self.next[index];
}

static void drop(int index)
{
	unchain(index);
	free(self.stores[index].first);
	self.stores[index] = (struct store){ 0 };
	self.next[index] = self.free;
	self.free = index;
	self.count--;
}

/* Where numbers are is known, for good or not: stores that were seen get theirs. */
static void settle(int number_at)
{
	self.number_at = number_at;
	for (int i = 0; i < STORES_MAX; i++) {
		struct store *store = &self.stores[i];

		if (store->first == NULL)
			continue;
		unchain(i);
		store->number = number_at != SAMPLE_NUMBER_UNKNOWN
					? numbers_value(store->first, number_at)
					: 0;
		chain(i);
		supersede(i);
		if (!numbers_are_sure())
			continue;
		free(store->first);
		store->first = NULL;
	}
}

/* What is needed of it: the window. */
static void keep_first(struct store *store, const struct sample_anchor *anchor)
{
	struct sample_anchor *first = malloc(sizeof(*first) + anchor->window_size);

	if (first == NULL)
		return;
	*first = *anchor;
	first->stack_size = 0;
	memcpy(first->words, anchor->words + anchor->stack_size / 8, anchor->window_size);
	store->first = first;
}

/* By ANCHOR's window, from which more is learned; 0 while it is not settled. */
static uint64_t learned_number(const struct sample_anchor *anchor, uint64_t tid)
{
	bool was_sure = numbers_are_sure();

	numbers_learn(anchor, tid);
	if (numbers_settled() != self.number_at || numbers_are_sure() != was_sure)
		settle(numbers_settled());
	return self.number_at != SAMPLE_NUMBER_UNKNOWN ? numbers_value(anchor, self.number_at) : 0;
}

struct store *stores_of(const struct sample_anchor *anchor, uint64_t tid, uint64_t time_ns,
			bool *is_sure)
{
	uint64_t number = anchor->number;
	struct store *store;

	if (!begin())
		return NULL;
	if (anchor->window_size != 0)
		number = learned_number(anchor, tid);
	*is_sure = numbers_are_sure();
	if (*is_sure && number == 0)
		return NULL;
	store = find(anchor->record, number);
	if (store == NULL) {
		store = add(anchor->record, number);
		if (store != NULL && !*is_sure && self.count <= FIRST_MAX)
			keep_first(store, anchor);
	}
	if (store != NULL && time_ns > store->last_ns)
		store->last_ns = time_ns;
	return store;
}

int stores_number_at(void)
{
	return numbers_are_sure() ? numbers_settled() : SAMPLE_NUMBER_UNKNOWN;
}

static int oldest(void)
{
	int found = NONE;

	for (int i = 0; i < STORES_MAX; i++)
		if (self.stores[i].key != 0 &&
		    (found == NONE || self.stores[i].last_ns < self.stores[found].last_ns))
			found = i;
	return found;
}

void stores_tidy(uint64_t now_ns, void (*forget)(uint64_t key))
{
	int index;

	if (self.stores == NULL)
		return;
	for (int i = 0; i < STORES_MAX; i++) {
		struct store *store = &self.stores[i];

		if (store->key == 0 || !store->is_superseded || store->last_ns + LINGER_NS > now_ns)
			continue;
		forget(store->key);
		drop(i);
	}
	/* room for what the next second may bring */
	while (self.count > STORES_MAX / 4 * 3 && (index = oldest()) != NONE) {
		forget(self.stores[index].key);
		drop(index);
	}
}

void store_note(struct store *store, uint32_t loading, uint32_t core, uint64_t context)
{
	struct store_instance *instance = store->instances;

	for (size_t i = 0; i < store->instance_count; i++, instance++) {
		if (instance->loading != loading || instance->core != core)
			continue;
		instance->has_others |= instance->context != context;
		return;
	}
	if (store->instance_count == STORE_INSTANCES_MAX)
		return;
	store->instance_count++;
	*instance = (struct store_instance){ loading, core, context, false };
}

uint64_t store_only(const struct store *store, uint32_t loading, uint32_t core)
{
	for (size_t i = 0; i < store->instance_count; i++)
		if (store->instances[i].loading == loading && store->instances[i].core == core)
			return store->instances[i].has_others ? 0 : store->instances[i].context;
	return 0;
}

void stores_reset(void)
{
	for (int i = 0; self.stores != NULL && i < STORES_MAX; i++)
		free(self.stores[i].first);
	free(self.stores);
	free(self.next);
	self = (__typeof__(self)){ 0 };
	numbers_start();
}
