/* SPDX-License-Identifier: MIT */
/* handle_owners.c - two maps from addresses: a store's number, a function's instance. */
#include "preload/runtime/handle_owners.h"

#include "preload/runtime/pointer_map.h"

enum { STORES = 4096, FUNCTIONS = 16384 };

/* By store: { number }. By function: { id of its instance }. */
static struct pointer_entry store_entries[STORES], function_entries[FUNCTIONS];
static const struct pointer_map stores = { store_entries, STORES };
static const struct pointer_map functions = { function_entries, FUNCTIONS };
static atomic_uint store_count, made_count;

/* No such engine has made an instance: Wasmtime's hosts delete functions too. */
static bool nothing_is_known(void)
{
	return atomic_load_explicit(&made_count, memory_order_relaxed) == 0;
}

/* A number that no other store has, ever: addresses come back. */
static uint64_t number_of(const struct runtime_engine *engine, const wasm_store_t *store)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (!pointer_map_get(&stores, store, values)) {
		values[0] = runtime_engine_store(engine, atomic_fetch_add(&store_count, 1) + 1);
		pointer_map_put(&stores, store, values);
	}
	return values[0];
}

void runtime_owner_store_ends(const wasm_store_t *store)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (nothing_is_known())
		return;
	if (pointer_map_take(&stores, store, values))
		instance_forget_store(values[0]);
}

uint32_t runtime_owner_instance_made(const struct runtime_engine *engine, const wasm_store_t *store,
				     uint32_t loading)
{
	struct instance_key key = { .store = number_of(engine, store),
				    .key = atomic_fetch_add(&made_count, 1) + 1 };

	return instance_for(key, loading);
}

void runtime_owner_has(uint32_t id, const void *function)
{
	uintptr_t values[POINTER_MAP_VALUES] = { id };

	if (function != NULL)
		pointer_map_put(&functions, function, values);
}

void runtime_owner_forget(const void *function)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (!nothing_is_known())
		pointer_map_take(&functions, function, values);
}

uint32_t runtime_owner_of(const void *function)
{
	uintptr_t values[POINTER_MAP_VALUES];

	return pointer_map_get(&functions, function, values) ? (uint32_t)values[0] : 0;
}
