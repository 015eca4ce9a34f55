/* SPDX-License-Identifier: MIT */
/*
 * objects.c - merges the loader's list into ours, keeping what is known of objects that stayed.
 *
 * Both lists are sorted by address, so one pass finds who came and who went. Threads: ours only.
 */
#include "preload/unwind/objects.h"

#include <stdlib.h>
#include <string.h>

#include "preload/base/log.h"
#include "preload/unwind/snapshot.h"

enum { MAX_GONE = 64, MAX_PAGES = 16384 };

static struct {
	struct snapshot snapshot;
	struct object **live; /* sorted by place.low */
	size_t count;
	struct object *gone[MAX_GONE]; /* oldest first */
	size_t gone_count;
	uint64_t confirmed; /* pages_copied() when all copies were known to be good */
	bool stale;
} self;

static bool same(const struct object *object, const struct snapshot_entry *entry)
{
	return memcmp(&object->place, &entry->place, sizeof(entry->place)) == 0 &&
	       strcmp(object->name, self.snapshot.names + entry->name) == 0;
}

static struct object *take_gone(size_t index)
{
	struct object *object = self.gone[index];

	self.gone_count--;
	memmove(&self.gone[index], &self.gone[index + 1],
		(self.gone_count - index) * sizeof(self.gone[0]));
	return object;
}

/* An object was unloaded: keep it for a while in place of older ones at the same addresses. */
static void retire(struct object *object)
{
	size_t i;

	self.stale |= object->used;
	object->gone = true;
	object->pages.frozen = true;
	for (i = self.gone_count; i-- > 0;) {
		if (self.gone[i]->place.low < object->place.high &&
		    object->place.low < self.gone[i]->place.high)
			object_free(take_gone(i));
	}
	if (self.gone_count == MAX_GONE)
		object_free(take_gone(0));
	self.gone[self.gone_count++] = object;
}

/* An object that comes back where it was, as plugins do: what is known of it is worth keeping. */
static struct object *revive(const struct snapshot_entry *entry)
{
	size_t i;

	for (i = self.gone_count; i-- > 0;) {
		struct object *object = self.gone[i];

		if (!same(object, entry))
			continue;
		take_gone(i);
		object->gone = false;
		if (!pages_revive(&object->pages) || object->table_count == 0)
			object_distrust(object);
		return object;
	}
	return NULL;
}

static void merge(struct object **merged)
{
	const struct snapshot *snapshot = &self.snapshot;
	size_t old = 0, count = 0, i;

	for (i = 0; i < snapshot->count; i++) {
		const struct snapshot_entry *entry = &snapshot->entries[i];
		struct object *object;

		while (old < self.count && self.live[old]->place.low < entry->place.low)
			retire(self.live[old++]);
		if (old < self.count && same(self.live[old], entry)) {
			merged[count++] = self.live[old++];
			continue;
		}
		object = revive(entry);
		if (object == NULL)
			object = object_new(&entry->place, snapshot->names + entry->name);
		if (object != NULL)
			merged[count++] = object;
	}
	while (old < self.count)
		retire(self.live[old++]);
	free(self.live);
	self.live = merged;
	self.count = count;
}

static bool forget_pages(bool only_fresh)
{
	bool dropped = false;
	size_t i;

	for (i = 0; i < self.count; i++) {
		if (only_fresh && !self.live[i]->pages.fresh)
			continue;
		object_distrust(self.live[i]);
		dropped = true;
	}
	return dropped;
}

bool objects_confirm(void)
{
	bool dropped = false;
	size_t i;

	if (self.confirmed == pages_copied())
		return false;
	if (snapshot_removed() != self.snapshot.removed)
		dropped = forget_pages(true);
	for (i = 0; i < self.count; i++)
		self.live[i]->pages.fresh = false;
	self.confirmed = pages_copied();
	return dropped;
}

/* Tables that were wanted when their object was not there are copied as soon as it is. */
static void fetch_wanted(void)
{
	size_t i;

	for (i = 0; i < self.count; i++) {
		if (!self.live[i]->pages.missed)
			continue;
		self.live[i]->pages.missed = false;
		object_fetch_tables(self.live[i]);
	}
}

bool objects_refresh(void)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	int changed = snapshot_take(&self.snapshot);
	struct object **merged = NULL;

	if (changed > 0)
		merged = calloc(self.snapshot.count + 1, sizeof(struct object *));
	if (merged != NULL) {
		merge(merged);
		fetch_wanted();
		self.stale |= objects_confirm();
	} else if (changed != 0) {
		self.snapshot.count = 0; /* the next sample tries again */
		log_once(&once, "out of memory: loaded libraries cannot be listed");
	}
	if (pages_total() > MAX_PAGES) {
		forget_pages(false);
		self.stale = true;
	}
	return self.stale;
}

void objects_flushed(void)
{
	size_t i;

	for (i = 0; i < self.count; i++)
		self.live[i]->used = false;
	for (i = 0; i < self.gone_count; i++)
		self.gone[i]->used = false;
	self.stale = false;
}

struct object *objects_find(uintptr_t address)
{
	size_t low = 0, high = self.count, i;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (self.live[middle]->place.low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && address < self.live[low - 1]->place.high)
		return self.live[low - 1];
	for (i = self.gone_count; i-- > 0;) {
		if (address >= self.gone[i]->place.low && address < self.gone[i]->place.high)
			return self.gone[i];
	}
	return NULL;
}

struct object *objects_find_code(uintptr_t pc)
{
	struct object *object = objects_find(pc);

	return object != NULL && object_holds_code(object, pc) ? object : NULL;
}

size_t objects_count(void)
{
	return self.count;
}

size_t objects_gone(void)
{
	return self.gone_count;
}
