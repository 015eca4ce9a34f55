/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_func.h - functions that a host made are given to a module's instance.
 *
 * Before the instantiation, which may already call them, inside hook_begin() and hook_end().
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_FUNC_H
#define PRELOAD_RUNTIME_WASMTIME_FUNC_H

#include "preload/runtime/wasmtime_engine.h"

/* IMPORTS[i] is for import number i of MODULE. */
void runtime_func_given(const struct runtime_engine *engine, const wasmtime_module_t *module,
			const wasmtime_extern_t *imports, size_t count);

/* The same for wasm.h. */
void runtime_wasm_func_given(const struct runtime_engine *engine, const wasm_module_t *module,
			     const wasm_extern_vec_t *imports);

#endif /* PRELOAD_RUNTIME_WASMTIME_FUNC_H */
