/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_abi.h - the part of wasm.h and of Wasmtime's C API that we replace or call.
 *
 * Seen in the headers of wasmtime-c-api 14 to 50; what differs between versions is said at its
 * place. Only x86_64.
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_ABI_H
#define PRELOAD_RUNTIME_WASMTIME_ABI_H

#include "symtab/base.h"

/* Opaque to everybody but the engine. */
typedef struct wasm_engine_t wasm_engine_t;
typedef struct wasm_store_t wasm_store_t;
typedef struct wasm_module_t wasm_module_t;
typedef struct wasm_shared_module_t wasm_shared_module_t;
typedef struct wasm_instance_t wasm_instance_t;
typedef struct wasm_extern_t wasm_extern_t;
typedef struct wasm_functype_t wasm_functype_t;
typedef struct wasm_importtype_t wasm_importtype_t;
typedef struct wasm_trap_t wasm_trap_t;
typedef struct wasm_val_vec_t wasm_val_vec_t;
typedef struct wasmtime_caller wasmtime_caller_t;
typedef struct wasmtime_call_future wasmtime_call_future_t;
typedef struct wasmtime_component wasmtime_component_t;
typedef struct wasmtime_component_linker wasmtime_component_linker_t;
typedef struct wasmtime_component_linker_instance wasmtime_component_linker_instance_t;
typedef struct wasmtime_component_val wasmtime_component_val_t;
typedef struct wasmtime_component_resource_any wasmtime_component_resource_any_t;
typedef struct wasmtime_context wasmtime_context_t; /* one address for each store */
typedef struct wasmtime_error wasmtime_error_t;
typedef struct wasmtime_instance_pre wasmtime_instance_pre_t;
typedef struct wasmtime_linker wasmtime_linker_t;
typedef struct wasmtime_module wasmtime_module_t;
typedef struct wasmtime_store wasmtime_store_t;
typedef struct wasmtime_val wasmtime_val_t;
typedef union wasmtime_val_raw wasmtime_val_raw_t;

typedef struct {
	size_t size;
	uint8_t *data;
} wasm_byte_vec_t;

typedef struct {
	size_t size;
	wasm_extern_t **data;
} wasm_extern_vec_t;

typedef struct {
	size_t size;
	wasm_importtype_t **data;
} wasm_importtype_vec_t;

/*
 * A function of wasm.h. Three words of Rust's Extern::Func in front; the order was checked on 36,
 * 43 and 50 by the magic behind the third.
 */
typedef struct {
	uint64_t kind;
	uint64_t store_id;
	uintptr_t function; /* as in wasmtime_func_t */
} wasm_func_t;

typedef struct {
	uint64_t store_id; /* of a counter in the engine, from 1, never reused */
	uintptr_t
		function; /* 34 and later: a struct vm_func_ref *; before: an index in the store */
} wasmtime_func_t;

typedef struct {
	uint64_t store_id;
	uint64_t index; /* in the store */
} wasmtime_instance_t;

/* 33 and later. wasmtime_component_func_t starts with the same words. */
typedef struct {
	uint64_t store_id;
	uint32_t instance;
	uint32_t reserved;
} wasmtime_component_instance_t;
typedef wasmtime_component_instance_t wasmtime_component_func_t;

enum { WASMTIME_EXTERN_FUNC = 0, WASMTIME_EXTERN_SHAREDMEMORY = 4 };

/* The engine fills in less than this: the largest payload so far is a table's, 24 bytes. */
typedef struct {
	uint8_t kind;
	union {
		wasmtime_func_t func;
		uint64_t words[15];
	} of;
} wasmtime_extern_t;

enum { WASM_EXTERN_FUNC = 0 };

/* crates/wasmtime/src/runtime/vm/vmcontext.rs, 22 and later. */
struct vm_func_ref {
	uintptr_t array_call;
	uintptr_t wasm_call;
	uint64_t type_index;
	const uint32_t *vmctx; /* starts with a magic: who the callee belongs to */
};

enum { VMCTX_CORE = 0x65726f63 /* "core": an instance of a core module */ };

#endif /* PRELOAD_RUNTIME_WASMTIME_ABI_H */
