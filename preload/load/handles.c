/* SPDX-License-Identifier: MIT */
/*
 * handles.c - three maps: handle to loading, handle to verdict and engine, engine to number.
 *
 * Addresses of handles are reused, so a deleted one is forgotten at once.
 */
#include "preload/load/handles.h"

#include "preload/load/map.h"

enum { VERDICT_BITS = 4 };

static struct {
	struct map loadings; /* handle -> loading */
	struct map verdicts; /* handle -> owner << VERDICT_BITS | verdict */
	struct map owners;   /* engine -> number */
	uint32_t last_owner;
} self;

void handles_set(const void *handle, const struct load_facts *facts)
{
	uintptr_t key = (uintptr_t)handle;

	if (handle == NULL)
		return;
	handles_forget(handle);
	if (map_put(&self.verdicts, key, 0, facts->owner << VERDICT_BITS | facts->verdict) == 0 &&
	    facts->loading != 0)
		map_put(&self.loadings, key, 0, facts->loading);
}

void handles_forget(const void *handle)
{
	map_remove(&self.loadings, (uintptr_t)handle, 0);
	map_remove(&self.verdicts, (uintptr_t)handle, 0);
}

struct load_facts handles_get(const void *handle)
{
	uint32_t value = map_get(&self.verdicts, (uintptr_t)handle, 0);

	return (struct load_facts){
		.verdict = value & ((1u << VERDICT_BITS) - 1),
		.loading = map_get(&self.loadings, (uintptr_t)handle, 0),
		.owner = value >> VERDICT_BITS,
	};
}

uint32_t handles_owner_find(const void *owner)
{
	return map_get(&self.owners, (uintptr_t)owner, 0);
}

uint32_t handles_owner(const void *owner)
{
	uint32_t number = handles_owner_find(owner);

	if (number != 0 || owner == NULL)
		return number;
	if (map_put(&self.owners, (uintptr_t)owner, 0, self.last_owner + 1) != 0)
		return 0;
	return ++self.last_owner;
}

void handles_owner_alias(const void *owner, const void *clone)
{
	uint32_t number = handles_owner(owner);

	if (number != 0 && clone != NULL)
		map_put(&self.owners, (uintptr_t)clone, 0, number);
}

void handles_owner_forget(const void *owner)
{
	map_remove(&self.owners, (uintptr_t)owner, 0);
}
