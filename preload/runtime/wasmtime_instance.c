/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_instance.c - which instance is meant: from what the host holds to our ids.
 *
 * Four kinds of keys share a store: the index of an instance's handle, a component's instance, the
 * address of an instance's context (from 34 on functions lead there), and a function's index
 * (before). Tags keep the small numbers apart; addresses have their two top bits clear.
 */
#include "preload/runtime/wasmtime_instance.h"

#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/pointer_map.h"

#define TAG_INSTANCE (UINT64_C(1) << 63)
#define TAG_COMPONENT (UINT64_C(3) << 62)
#define TAG_FUNCTION (UINT64_C(1) << 62)

enum {
	STORES = 16384,
	EXPORTS_TRIED = 64,
	REMEMBERED = 8, /* a power of two */
};

static struct pointer_entry store_entries[STORES];
static const struct pointer_map stores = { store_entries, STORES };

/* A thread's last answers, for hosts that call ten million times a second. Ids are never reused. */
static HOOK_TLS struct {
	uint64_t store;
	uintptr_t function;
	uint32_t id;
} remembered[REMEMBERED];

static struct instance_key key_of(const struct runtime_engine *engine, uint64_t store_id,
				  uint64_t key)
{
	return (struct instance_key){ runtime_engine_store(engine, store_id), key };
}

static bool is_of_loading(const struct vm_func_ref *function, uint32_t loading)
{
	uintptr_t start, end;

	return function->wasm_call != 0 && function->vmctx != NULL &&
	       load_range(loading, &start, &end) && function->wasm_call >= start &&
	       function->wasm_call < end && *function->vmctx == VMCTX_CORE;
}

/*
 * An instance's context, from an export that its own code defines: what it only passes on leads to
 * the instance where it came from. Asking for exports makes nothing in the store but the functions'
 * lazy references (34 to 50).
 */
static const void *find_context(struct runtime_engine *engine, wasmtime_context_t *context,
				const wasmtime_instance_t *instance, uint32_t loading)
{
	const void *found = NULL;
	wasmtime_extern_t item;
	size_t name_size;
	char *name;

	if (engine->instance_export_nth == NULL)
		return NULL;
	for (size_t i = 0; found == NULL && i < EXPORTS_TRIED; i++) {
		const struct vm_func_ref *function;

		if (!engine->instance_export_nth(context, instance, i, &name, &name_size, &item))
			break;
		function = (const void *)item.of.func.function;
		if (item.kind == WASMTIME_EXTERN_FUNC && is_of_loading(function, loading))
			found = function->vmctx;
		else if (item.kind == WASMTIME_EXTERN_SHAREDMEMORY && engine->extern_delete != NULL)
			engine->extern_delete(&item);
	}
	return found;
}

void runtime_instance_made(struct runtime_engine *engine, wasmtime_context_t *context,
			   const void *handle, const wasmtime_instance_t *instance)
{
	uint32_t loading = load_of_handle(handle);
	const void *vmctx;
	uint32_t id;

	runtime_store_known(engine, context, instance->store_id);
	if (loading == 0)
		return; /* nothing of it can be sampled, or its calls will tell */
	id = instance_for(key_of(engine, instance->store_id, instance->index | TAG_INSTANCE),
			  loading);
	if (id == 0 || !runtime_engine_has_contexts(engine))
		return;
	vmctx = find_context(engine, context, instance, loading);
	if (vmctx != NULL)
		instance_alias(key_of(engine, instance->store_id, (uintptr_t)vmctx), id);
}

uint32_t runtime_component_instance(struct runtime_engine *engine, uint64_t store_id,
				    uint32_t instance)
{
	return instance_for(key_of(engine, store_id, instance | TAG_COMPONENT), 0);
}

void runtime_component_instance_made(struct runtime_engine *engine, wasmtime_context_t *context,
				     const void *handle,
				     const wasmtime_component_instance_t *instance)
{
	runtime_store_known(engine, context, instance->store_id);
	instance_for(key_of(engine, instance->store_id, instance->instance | TAG_COMPONENT),
		     load_of_handle(handle));
}

__attribute__((noinline)) static uint32_t find_instance(struct runtime_engine *engine,
							uint64_t store_id, uintptr_t function)
{
	const struct vm_func_ref *reference = (const void *)function;

	if (!runtime_engine_has_contexts(engine))
		return instance_find(key_of(engine, store_id, function | TAG_FUNCTION));
	if (reference == NULL || reference->vmctx == NULL || *reference->vmctx != VMCTX_CORE)
		return 0; /* a function of the host */
	return instance_for(key_of(engine, store_id, (uintptr_t)reference->vmctx), 0);
}

uint32_t runtime_instance_of(struct runtime_engine *engine, const void *store, uint64_t store_id,
			     uintptr_t function)
{
	uint64_t unique = runtime_engine_store(engine, store_id);
	size_t at = (function >> 5 ^ function ^ unique) & (REMEMBERED - 1);
	uint32_t id;

	if (remembered[at].store == unique && remembered[at].function == function &&
	    remembered[at].id != 0)
		return remembered[at].id;
	id = find_instance(engine, store_id, function);
	if (id != 0 && store != NULL)
		runtime_store_known(engine, store, store_id);
	remembered[at].store = unique;
	remembered[at].function = function;
	remembered[at].id = id;
	return id;
}

void runtime_instance_exports(struct runtime_engine *engine, const wasmtime_instance_t *instance,
			      uintptr_t function)
{
	struct instance_key key =
		key_of(engine, instance->store_id, instance->index | TAG_INSTANCE);
	uint32_t id;

	/* From 34 on what was learned when the instance was made is better: this may be passed on.
	 */
	if (runtime_engine_has_contexts(engine))
		return;
	id = instance_find(key);
	if (id != 0)
		instance_alias(key_of(engine, instance->store_id, function | TAG_FUNCTION), id);
}

void runtime_instance_has(struct runtime_engine *engine, uint64_t store_id, uintptr_t function,
			  uint32_t loading, uint64_t number)
{
	const struct vm_func_ref *reference = (const void *)function;
	struct instance_key key = key_of(engine, store_id, number | TAG_INSTANCE);

	if (loading == 0)
		return;
	if (!runtime_engine_has_contexts(engine))
		instance_alias(key_of(engine, store_id, function | TAG_FUNCTION),
			       instance_for(key, loading));
	else if (reference != NULL && is_of_loading(reference, loading))
		instance_alias(key,
			       instance_for(key_of(engine, store_id, (uintptr_t)reference->vmctx),
					    loading));
}

uint64_t runtime_store_behind(const void *store)
{
	uintptr_t values[POINTER_MAP_VALUES];

	return pointer_map_get(&stores, store, values) ? values[0] : 0;
}

uint32_t runtime_instance_numbered(uint64_t store, uint64_t number)
{
	return instance_find((struct instance_key){ store, number | TAG_INSTANCE });
}

/* The engine's number is above the store's id: see runtime_engine_store(). */
static bool is_store(uint64_t store, uint64_t store_id)
{
	return store != 0 && (store ^ store_id) << 16 == 0;
}

uint32_t runtime_instance_behind(const void *store, const wasmtime_instance_t *instance)
{
	uint64_t id = runtime_store_behind(store);

	return is_store(id, instance->store_id) ? runtime_instance_numbered(id, instance->index)
						: 0;
}

uint32_t runtime_component_instance_behind(const void *store,
					   const wasmtime_component_instance_t *instance)
{
	uint64_t id = runtime_store_behind(store);

	return is_store(id, instance->store_id) ? instance_find((struct instance_key){
							  id, instance->instance | TAG_COMPONENT })
						: 0;
}

void runtime_store_known(struct runtime_engine *engine, const void *store, uint64_t store_id)
{
	uintptr_t values[POINTER_MAP_VALUES] = { runtime_engine_store(engine, store_id) };

	pointer_map_put(&stores, store, values);
}

void runtime_store_ends(const void *store)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (pointer_map_take(&stores, store, values))
		instance_forget_store(values[0]);
}

struct activation runtime_instance_enter(const void *real, wasmtime_context_t *context, void *frame)
{
	struct activation activation = { 0 };
	struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_named(real);
	if (engine != NULL)
		activation =
			guest_enter(0, (uintptr_t)frame, (uintptr_t)context,
				    atomic_load_explicit(&engine->layout, memory_order_acquire), 0);
	hook_end();
	return activation;
}
