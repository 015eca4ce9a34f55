/* SPDX-License-Identifier: MIT */
/*
 * given.c - two tables in which newer entries replace older ones: functions that hosts made, and
 * which function was given for which import already.
 *
 * An entry is good while its key is there before and after it was read; the key goes first and
 * comes last when another is written in its place.
 */
#include "preload/runtime/given.h"

#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"

enum { MADE = 4096, SEEN = 4096 };

struct made {
	atomic_ullong store; /* 0: free; release, pairs with given_find() */
	atomic_uintptr_t function, callback;
	_Atomic(struct exact_call *) call;
};

struct seen {
	atomic_ullong key; /* loading and position; 0: free; release, pairs with find_seen() */
	atomic_uintptr_t callback;
	atomic_uint name;
};

static struct made made[MADE];
static struct seen seen[SEEN];

static size_t place_of(uint64_t a, uint64_t b, size_t count)
{
	uint64_t hash = (a ^ b * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;

	return (size_t)(hash >> 32) % count;
}

void given_made(const struct given *given)
{
	struct made *entry = &made[place_of(given->store, given->function, MADE)];

	atomic_store_explicit(&entry->store, 0, memory_order_relaxed);
	/* release: who reads what follows finds the key gone */
	atomic_store_explicit(&entry->function, given->function, memory_order_release);
	atomic_store_explicit(&entry->callback, given->callback, memory_order_release);
	atomic_store_explicit(&entry->call, given->call, memory_order_release);
	atomic_store_explicit(&entry->store, given->store, memory_order_release);
}

bool given_find(uint64_t store, uintptr_t function, struct given *given)
{
	const struct made *entry = &made[place_of(store, function, MADE)];

	if (atomic_load_explicit(&entry->store, memory_order_acquire) != store)
		return false;
	*given = (struct given){
		.store = store,
		.function = atomic_load_explicit(&entry->function, memory_order_acquire),
		.callback = atomic_load_explicit(&entry->callback, memory_order_acquire),
		.call = atomic_load_explicit(&entry->call, memory_order_acquire),
	};
	return given->function == function &&
	       atomic_load_explicit(&entry->store, memory_order_relaxed) == store;
}

/* ---- what was given before ------------------------------------------------------------------- */

static uint64_t seen_key(uint32_t loading, size_t position)
{
	return (uint64_t)loading << 32 | (uint32_t)position;
}

/* CALLBACK was given for that import before; *NAME: the import's number. */
static bool find_seen(uint64_t key, uintptr_t callback, uint32_t *name)
{
	const struct seen *entry = &seen[place_of(key, callback, SEEN)];

	if (atomic_load_explicit(&entry->key, memory_order_acquire) != key ||
	    atomic_load_explicit(&entry->callback, memory_order_acquire) != callback)
		return false;
	*name = atomic_load_explicit(&entry->name, memory_order_acquire);
	return atomic_load_explicit(&entry->key, memory_order_relaxed) == key;
}

static void add_seen(uint64_t key, uintptr_t callback, uint32_t name)
{
	struct seen *entry = &seen[place_of(key, callback, SEEN)];

	atomic_store_explicit(&entry->key, 0, memory_order_relaxed);
	atomic_store_explicit(&entry->callback, callback, memory_order_release);
	atomic_store_explicit(&entry->name, name, memory_order_release);
	atomic_store_explicit(&entry->key, key, memory_order_release);
}

/* True when there was no need to ask for the names of the module's imports. */
static bool give_seen(uint32_t loading, const struct given *functions, size_t count)
{
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		uint32_t name;

		if (functions[i].callback == 0)
			continue;
		if (loading == 0 || !find_seen(seen_key(loading, i), functions[i].callback, &name))
			all = false;
		else if (functions[i].call != NULL)
			exact_name(functions[i].call, name);
	}
	return all;
}

static void give(const struct runtime_engine *engine, const wasm_importtype_t *import,
		 const struct given *function, uint64_t key)
{
	const wasm_byte_vec_t *module = engine->importtype_module(import);
	const wasm_byte_vec_t *name = engine->importtype_name(import);
	uint32_t number = HOSTCALLS_NO_NAME;

	callbacks_add(function->callback, (const char *)module->data, module->size,
		      (const char *)name->data, name->size);
	if (function->call != NULL) {
		number = hostcalls_name((const char *)module->data, module->size,
					(const char *)name->data, name->size);
		exact_name(function->call, number);
	}
	if (key != 0)
		add_seen(key, function->callback, number);
}

void given_to_module(const struct runtime_engine *engine, const void *handle, uint32_t loading,
		     void (*imports)(const void *handle, wasm_importtype_vec_t *list),
		     const struct given *functions, size_t count)
{
	wasm_importtype_vec_t list = { 0 };

	if (imports == NULL || engine->importtype_module == NULL ||
	    engine->importtype_name == NULL || engine->importtype_vec_delete == NULL ||
	    give_seen(loading, functions, count))
		return;
	imports(handle, &list);
	for (size_t i = 0; i < count && i < list.size; i++)
		if (functions[i].callback != 0)
			give(engine, list.data[i], &functions[i],
			     loading != 0 ? seen_key(loading, i) : 0);
	engine->importtype_vec_delete(&list);
}
