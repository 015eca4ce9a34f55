/* SPDX-License-Identifier: MIT */
/*
 * wasm_c_api.c - the names of wasm.h, which several engines define.
 *
 * Wasmtime's functions tell their instance, which is met when the host lists its exports. Of
 * another engine that is known by name only the handles' addresses are used (handle_owners.h), of
 * all others nothing: there we only pass on.
 */
#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/handle_owners.h"
#include "preload/runtime/pointer_map.h"
#include "preload/runtime/wasmtime_func.h"
#include "preload/runtime/wasmtime_instance.h"
#include "preload/runtime/wasmtime_module.h"

EXPORT wasm_store_t *wasm_store_new(wasm_engine_t *engine);
EXPORT wasm_module_t *wasm_module_new(wasm_store_t *store, const wasm_byte_vec_t *wasm);
EXPORT wasm_module_t *wasm_module_deserialize(wasm_store_t *store, const wasm_byte_vec_t *image);
EXPORT wasm_module_t *wasm_module_copy(const wasm_module_t *module);
EXPORT void wasm_module_delete(wasm_module_t *module);
EXPORT wasm_shared_module_t *wasm_module_share(const wasm_module_t *module);
EXPORT wasm_module_t *wasm_module_obtain(wasm_store_t *store, const wasm_shared_module_t *shared);
EXPORT void wasm_shared_module_delete(wasm_shared_module_t *shared);
EXPORT wasm_instance_t *wasm_instance_new(wasm_store_t *store, const wasm_module_t *module,
					  const wasm_extern_vec_t *imports, wasm_trap_t **trap);
EXPORT wasm_instance_t *wasm_instance_copy(const wasm_instance_t *instance);
EXPORT void wasm_instance_delete(wasm_instance_t *instance);
EXPORT void wasm_instance_exports(const wasm_instance_t *instance, wasm_extern_vec_t *exports);
EXPORT void wasm_store_delete(wasm_store_t *store);
EXPORT void wasm_func_delete(wasm_func_t *function);
EXPORT void wasm_extern_delete(wasm_extern_t *item);
EXPORT void wasm_extern_vec_delete(wasm_extern_vec_t *items);
EXPORT wasm_func_t *wasi_get_start_function(wasm_instance_t *instance);
EXPORT wasm_trap_t *wasm_func_call(const wasm_func_t *function, const wasm_val_vec_t *arguments,
				   wasm_val_vec_t *results);

/* ---- modules ----------------------------------------------------------------------------------
 */

/* A store stands for the engine that it was made with: its modules are that engine's. */
HOOK(wasm_store_new);
wasm_store_t *wasm_store_new(wasm_engine_t *engine)
{
	__typeof__(&wasm_store_new) real = REAL(wasm_store_new);
	wasm_store_t *store = real(engine);

	if (store != NULL && hook_begin()) {
		if (runtime_engine_named(real) != NULL)
			load_owner_alias(engine, store);
		hook_end();
	}
	return store;
}

/* NULL when we did not see STORE made: its engine is not known then. */
static const void *owner_of(const wasm_store_t *store)
{
	const void *owner = NULL;

	if (!hook_begin())
		return NULL;
	if (load_owner(store) != 0)
		owner = store;
	hook_end();
	return owner;
}

HOOK(wasm_module_new);
wasm_module_t *wasm_module_new(wasm_store_t *store, const wasm_byte_vec_t *wasm)
{
	__typeof__(&wasm_module_new) real = REAL(wasm_module_new);
	struct runtime_load load =
		runtime_load_begin(real, owner_of(store), wasm->data, wasm->size);
	wasm_module_t *module = real(store, wasm);

	runtime_load_end(load, module, NULL);
	return module;
}

HOOK(wasm_module_deserialize);
wasm_module_t *wasm_module_deserialize(wasm_store_t *store, const wasm_byte_vec_t *image)
{
	__typeof__(&wasm_module_deserialize) real = REAL(wasm_module_deserialize);
	struct runtime_load load = runtime_load_begin(real, owner_of(store), NULL, 0);
	wasm_module_t *module = real(store, image);

	runtime_load_end(load, module, NULL);
	return module;
}

HOOK(wasm_module_copy);
wasm_module_t *wasm_module_copy(const wasm_module_t *module)
{
	__typeof__(&wasm_module_copy) real = REAL(wasm_module_copy);
	wasm_module_t *copy = real(module);

	runtime_load_alias(real, copy, module);
	return copy;
}

HOOK(wasm_module_delete);
void wasm_module_delete(wasm_module_t *module)
{
	__typeof__(&wasm_module_delete) real = REAL(wasm_module_delete);

	runtime_load_forget(real, module);
	real(module);
}

HOOK(wasm_module_share);
wasm_shared_module_t *wasm_module_share(const wasm_module_t *module)
{
	__typeof__(&wasm_module_share) real = REAL(wasm_module_share);
	wasm_shared_module_t *shared = real(module);

	runtime_load_alias(real, shared, module);
	return shared;
}

HOOK(wasm_module_obtain);
wasm_module_t *wasm_module_obtain(wasm_store_t *store, const wasm_shared_module_t *shared)
{
	__typeof__(&wasm_module_obtain) real = REAL(wasm_module_obtain);
	wasm_module_t *module = real(store, shared);

	runtime_load_alias(real, module, shared);
	return module;
}

HOOK(wasm_shared_module_delete);
void wasm_shared_module_delete(wasm_shared_module_t *shared)
{
	__typeof__(&wasm_shared_module_delete) real = REAL(wasm_shared_module_delete);

	runtime_load_forget(real, shared);
	real(shared);
}

/* ---- instances --------------------------------------------------------------------------------
 */

enum { INSTANCES = 8192 };

/*
 * By handle: { loading, number, store, id }. Numbers, for handles are reused within a store. Ids
 * are of engines that handle_owners.h knows; 0: Wasmtime's.
 */
static struct pointer_entry instance_entries[INSTANCES];
static const struct pointer_map instances = { instance_entries, INSTANCES };
static atomic_uint numbers;

static void note_imports(const void *real, const wasm_module_t *module,
			 const wasm_extern_vec_t *imports)
{
	const struct runtime_engine *engine;

	if (imports == NULL || imports->size == 0 || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		runtime_wasm_func_given(engine, module, imports);
	hook_end();
}

HOOK(wasm_instance_new);
wasm_instance_t *wasm_instance_new(wasm_store_t *store, const wasm_module_t *module,
				   const wasm_extern_vec_t *imports, wasm_trap_t **trap)
{
	__typeof__(&wasm_instance_new) real = REAL(wasm_instance_new);
	const struct runtime_engine *engine;
	struct activation activation;
	wasm_instance_t *instance;

	note_imports(real, module, imports);
	activation = runtime_instance_enter(real, NULL, __builtin_frame_address(0));
	instance = real(store, module, imports, trap);
	guest_leave(activation);
	if (instance == NULL || !hook_begin())
		return instance;
	engine = runtime_engine_named(real);
	if (engine != NULL) {
		uintptr_t values[POINTER_MAP_VALUES] = { load_of_handle(module),
							 atomic_fetch_add(&numbers, 1),
							 (uintptr_t)store };

		if (!engine->is_wasmtime)
			values[3] = runtime_owner_instance_made(engine, store, (uint32_t)values[0]);
		pointer_map_put(&instances, instance, values);
	}
	hook_end();
	return instance;
}

HOOK(wasm_instance_copy);
wasm_instance_t *wasm_instance_copy(const wasm_instance_t *instance)
{
	wasm_instance_t *copy = REAL(wasm_instance_copy)(instance);
	uintptr_t values[POINTER_MAP_VALUES];

	if (copy == NULL || !hook_begin())
		return copy;
	if (pointer_map_get(&instances, instance, values))
		pointer_map_put(&instances, copy, values);
	hook_end();
	return copy;
}

HOOK(wasm_instance_delete);
void wasm_instance_delete(wasm_instance_t *instance)
{
	__typeof__(&wasm_instance_delete) real = REAL(wasm_instance_delete);
	uintptr_t values[POINTER_MAP_VALUES];

	pointer_map_take(&instances, instance, values);
	real(instance);
}

static void learn_exports(struct runtime_engine *engine, const uintptr_t *values,
			  const wasm_extern_vec_t *exports)
{
	for (size_t i = 0; !engine->is_wasmtime && i < exports->size; i++)
		runtime_owner_has((uint32_t)values[3], exports->data[i]);
	if (!engine->is_wasmtime)
		return;
	for (size_t i = 0; engine->extern_kind != NULL && i < exports->size; i++) {
		const wasm_func_t *function = (const void *)exports->data[i];

		if (function == NULL || engine->extern_kind(exports->data[i]) != WASM_EXTERN_FUNC)
			continue;
		runtime_store_known(engine, (const void *)values[2], function->store_id);
		runtime_instance_has(engine, function->store_id, function->function,
				     (uint32_t)values[0], values[1]);
	}
}

HOOK(wasm_instance_exports);
void wasm_instance_exports(const wasm_instance_t *instance, wasm_extern_vec_t *exports)
{
	__typeof__(&wasm_instance_exports) real = REAL(wasm_instance_exports);
	uintptr_t values[POINTER_MAP_VALUES];
	struct runtime_engine *engine;

	real(instance, exports);
	if (!hook_begin())
		return;
	engine = runtime_engine_named(real);
	if (engine != NULL && pointer_map_get(&instances, instance, values))
		learn_exports(engine, values, exports);
	hook_end();
}

uint32_t runtime_wasm_instance_behind(const wasm_instance_t *instance)
{
	uintptr_t values[POINTER_MAP_VALUES];
	uint64_t store;

	if (!pointer_map_get(&instances, instance, values))
		return 0;
	if (values[3] != 0)
		return (uint32_t)values[3];
	store = runtime_store_behind((const void *)values[2]);
	return store != 0 ? runtime_instance_numbered(store, values[1]) : 0;
}

HOOK(wasm_store_delete);
void wasm_store_delete(wasm_store_t *store)
{
	__typeof__(&wasm_store_delete) real = REAL(wasm_store_delete);

	if (hook_begin()) {
		if (runtime_engine_named(real) != NULL) {
			runtime_store_ends(store);
			runtime_owner_store_ends(store);
			load_owner_forget(store);
		}
		hook_end();
	}
	real(store);
}

/* ---- functions that are known by their address ------------------------------------------------
 */

static void forget(const void *function)
{
	if (function == NULL || !hook_begin())
		return;
	runtime_owner_forget(function);
	hook_end();
}

HOOK(wasm_func_delete);
void wasm_func_delete(wasm_func_t *function)
{
	__typeof__(&wasm_func_delete) real = REAL(wasm_func_delete);

	forget(function);
	real(function);
}

HOOK(wasm_extern_delete);
void wasm_extern_delete(wasm_extern_t *item)
{
	__typeof__(&wasm_extern_delete) real = REAL(wasm_extern_delete);

	forget(item);
	real(item);
}

HOOK(wasm_extern_vec_delete);
void wasm_extern_vec_delete(wasm_extern_vec_t *items)
{
	__typeof__(&wasm_extern_vec_delete) real = REAL(wasm_extern_vec_delete);

	for (size_t i = 0; items->data != NULL && i < items->size; i++)
		forget(items->data[i]);
	real(items);
}

/* wasmer.h: its function is in no list of exports. */
HOOK(wasi_get_start_function);
wasm_func_t *wasi_get_start_function(wasm_instance_t *instance)
{
	wasm_func_t *function = REAL(wasi_get_start_function)(instance);
	uintptr_t values[POINTER_MAP_VALUES];

	if (function == NULL || !hook_begin())
		return function;
	if (pointer_map_get(&instances, instance, values) && values[3] != 0)
		runtime_owner_has((uint32_t)values[3], function);
	hook_end();
	return function;
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static inline struct activation enter(const void *real, const wasm_func_t *function, void *frame)
{
	struct activation activation = { 0 };
	struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_named(real);
	if (engine != NULL)
		activation = guest_enter(
			engine->is_wasmtime ? runtime_instance_of(engine, NULL, function->store_id,
								  function->function)
					    : runtime_owner_of(function),
			(uintptr_t)frame, 0,
			atomic_load_explicit(&engine->layout, memory_order_acquire), 0);
	hook_end();
	return activation;
}

HOOK(wasm_func_call);
wasm_trap_t *wasm_func_call(const wasm_func_t *function, const wasm_val_vec_t *arguments,
			    wasm_val_vec_t *results)
{
	__typeof__(&wasm_func_call) real = REAL(wasm_func_call);
	struct activation activation = enter(real, function, __builtin_frame_address(0));
	wasm_trap_t *trap = real(function, arguments, results);

	guest_leave(activation);
	return trap;
}
