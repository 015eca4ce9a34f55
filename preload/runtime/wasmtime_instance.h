/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_instance.h - which instance is meant: from what the host holds to our ids.
 *
 * All but runtime_instance_enter() inside hook_begin() and hook_end().
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_INSTANCE_H
#define PRELOAD_RUNTIME_WASMTIME_INSTANCE_H

#include "preload/runtime/wasmtime_engine.h"

/* INSTANCE was made from the module behind HANDLE, in the store of CONTEXT. */
void runtime_instance_made(struct runtime_engine *engine, wasmtime_context_t *context,
			   const void *handle, const wasmtime_instance_t *instance);

/* The same for a component's. */
void runtime_component_instance_made(struct runtime_engine *engine, wasmtime_context_t *context,
				     const void *handle,
				     const wasmtime_component_instance_t *instance);

/*
 * The instance that FUNCTION (the word of a handle) in store STORE_ID belongs to; 0 unknown. STORE
 * is what the store is known by, NULL if it is not at hand.
 */
uint32_t runtime_instance_of(struct runtime_engine *engine, const void *store, uint64_t store_id,
			     uintptr_t function);

/* INSTANCE exports FUNCTION: for engines whose functions do not say whose they are. */
void runtime_instance_exports(struct runtime_engine *engine, const wasmtime_instance_t *instance,
			      uintptr_t function);

/* An instance known by the handle of wasm.h: FUNCTION was found among its exports. */
void runtime_instance_has(struct runtime_engine *engine, uint64_t store_id, uintptr_t function,
			  uint32_t loading, uint64_t number);

/* The id of a component's instance, made if new. */
uint32_t runtime_component_instance(struct runtime_engine *engine, uint64_t store_id,
				    uint32_t instance);

/* STORE (any address that stands for it) is the store STORE_ID; and it is about to be deleted. */
void runtime_store_known(struct runtime_engine *engine, const void *store, uint64_t store_id);
void runtime_store_ends(const void *store);

/*
 * What stands behind the host's own handles, for guestprof.h: the store's id (STORE: a context, or
 * a wasm_store_t), and an instance's. 0: never seen, or not one of that store's.
 */
uint64_t runtime_store_behind(const void *store);
uint32_t runtime_instance_behind(const void *store, const wasmtime_instance_t *instance);
uint32_t runtime_component_instance_behind(const void *store,
					   const wasmtime_component_instance_t *instance);
/* The same for wasm.h, once the host has listed the instance's exports. (wasm_c_api.c) */
uint32_t runtime_wasm_instance_behind(const wasm_instance_t *instance);

/* The id of the instance that runtime_instance_has() was told of as NUMBER. */
uint32_t runtime_instance_numbered(uint64_t store, uint64_t number);

/*
 * Enters a guest of which only the store is known: its start function, or a destructor. FRAME is
 * the wrapper's. Outside hook_begin(); ends with guest_leave().
 */
struct activation runtime_instance_enter(const void *real, wasmtime_context_t *context,
					 void *frame);

#endif /* PRELOAD_RUNTIME_WASMTIME_INSTANCE_H */
