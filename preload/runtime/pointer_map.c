/* SPDX-License-Identifier: MIT */
/* pointer_map.c - open addressing within a window: an entry is where its hash says, or close by. */
#include "preload/runtime/pointer_map.h"

#include <string.h>

/*
 * No aligned pointer. An entry never becomes 0 again: what its key once pushed further stays to be
 * found behind it, and a search may end at the first 0. Each entry is a line of the cache.
 */
enum { WINDOW = 32, BEING_WRITTEN = 1, WAS_USED = 3 };

static struct pointer_entry *entry_at(const struct pointer_map *map, uintptr_t key, uint32_t step)
{
	uint64_t hash = (key >> 4) * 0x9e3779b97f4a7c15u;

	return &map->entries[((hash >> 32) + step) & (map->capacity - 1)];
}

static struct pointer_entry *find(const struct pointer_map *map, uintptr_t key)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct pointer_entry *entry = entry_at(map, key, step);
		/* acquire: pairs with pointer_map_put() */
		uintptr_t found = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (found == key)
			return entry;
		if (found == 0)
			return NULL;
	}
	return NULL;
}

static struct pointer_entry *claim(const struct pointer_map *map, uintptr_t key)
{
	for (uint32_t step = 0; step < WINDOW; step++) {
		struct pointer_entry *entry = entry_at(map, key, step);
		uintptr_t expected = atomic_load_explicit(&entry->key, memory_order_relaxed);

		if (expected != 0 && expected != WAS_USED)
			continue;
		/* acquire: pairs with the release in pointer_map_take() */
		if (atomic_compare_exchange_strong_explicit(&entry->key, &expected, BEING_WRITTEN,
							    memory_order_acquire,
							    memory_order_relaxed))
			return entry;
	}
	return NULL;
}

bool pointer_map_put(const struct pointer_map *map, const void *key, const uintptr_t *values)
{
	struct pointer_entry *entry = find(map, (uintptr_t)key);

	if (entry == NULL)
		entry = claim(map, (uintptr_t)key);
	if (entry == NULL)
		return false;
	memcpy(entry->values, values, sizeof(entry->values));
	/* release: pairs with find() */
	atomic_store_explicit(&entry->key, (uintptr_t)key, memory_order_release);
	return true;
}

bool pointer_map_get(const struct pointer_map *map, const void *key, uintptr_t *values)
{
	const struct pointer_entry *entry = key != NULL ? find(map, (uintptr_t)key) : NULL;

	if (entry == NULL) {
		memset(values, 0, sizeof(entry->values));
		return false;
	}
	memcpy(values, entry->values, sizeof(entry->values));
	return true;
}

bool pointer_map_take(const struct pointer_map *map, const void *key, uintptr_t *values)
{
	struct pointer_entry *entry = key != NULL ? find(map, (uintptr_t)key) : NULL;

	if (entry == NULL) {
		memset(values, 0, sizeof(entry->values));
		return false;
	}
	memcpy(values, entry->values, sizeof(entry->values));
	/* release: pairs with claim() */
	atomic_store_explicit(&entry->key, WAS_USED, memory_order_release);
	return true;
}

void pointer_map_each(const struct pointer_map *map, uint32_t index, uintptr_t value,
		      void (*visit)(const void *key))
{
	for (uint32_t i = 0; i < map->capacity; i++) {
		const struct pointer_entry *entry = &map->entries[i];
		/* acquire: pairs with pointer_map_put() */
		uintptr_t key = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (key > WAS_USED && entry->values[index] == value)
			visit((const void *)key);
	}
}
