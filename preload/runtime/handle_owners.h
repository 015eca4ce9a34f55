/* SPDX-License-Identifier: MIT */
/*
 * handle_owners.h - whose a handle of wasm.h is, for engines whose handles tell nothing.
 *
 * Only addresses are compared, nothing behind them is read: which store an instance was made in,
 * which instance a function was listed by. Threads: any. All of it within hook_begin().
 */
#ifndef PRELOAD_RUNTIME_HANDLE_OWNERS_H
#define PRELOAD_RUNTIME_HANDLE_OWNERS_H

#include "preload/runtime/wasmtime_engine.h"

/* STORE is about to be deleted: instances of it are known no more. */
void runtime_owner_store_ends(const wasm_store_t *store);

/* INSTANCE of the module with LOADING was made in STORE. Returns its id, 0 without memory. */
uint32_t runtime_owner_instance_made(const struct runtime_engine *engine, const wasm_store_t *store,
				     uint32_t loading);

/* Instance ID lists, or has made, FUNCTION (as wasm_func_t or wasm_extern_t: one address). */
void runtime_owner_has(uint32_t id, const void *function);

/* FUNCTION is about to be deleted: its address may be another's next. */
void runtime_owner_forget(const void *function);

/* The id of the instance that has FUNCTION; 0 unknown. */
uint32_t runtime_owner_of(const void *function);

#endif /* PRELOAD_RUNTIME_HANDLE_OWNERS_H */
