/* SPDX-License-Identifier: MIT */
/*
 * given.h - host functions without a name get that of the import they are supplied for.
 *
 * A host makes a function first (wasmtime_func_new, wasm_func_new), and gives it to an instance
 * later, by position. What was made lately is remembered by the engine's handle; older ones may
 * be forgotten, and then stay without a name. Threads: any. All inside hook_begin().
 */
#ifndef PRELOAD_RUNTIME_GIVEN_H
#define PRELOAD_RUNTIME_GIVEN_H

#include "preload/runtime/exactcall.h"
#include "preload/runtime/wasmtime_engine.h"

/* A function that a host made. */
struct given {
	uint64_t store; /* runtime_engine_store() */
	uintptr_t function;
	uintptr_t callback;	 /* the host's */
	struct exact_call *call; /* NULL: it is not wrapped */
};

void given_made(const struct given *given);

/* The function that HANDLE words mean; false: it is not known, or not the host's. */
bool given_find(uint64_t store, uintptr_t function, struct given *given);

/*
 * The module behind HANDLE, a wasm_module_t or wasmtime_module_t of ENGINE, was given COUNT
 * functions: FUNCTIONS[i] for its import number i, callback 0 for what is no function or not known.
 * LOADING: the module's number, 0 unknown. IMPORTS: the engine's function that lists its imports.
 */
void given_to_module(const struct runtime_engine *engine, const void *handle, uint32_t loading,
		     void (*imports)(const void *handle, wasm_importtype_vec_t *list),
		     const struct given *functions, size_t count);

#endif /* PRELOAD_RUNTIME_GIVEN_H */
