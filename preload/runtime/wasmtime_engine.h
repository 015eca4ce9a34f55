/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_engine.h - what is known of each object in the process that is a Wasmtime.
 *
 * Lifetime: engines are never freed; one whose object was unloaded is not found any more, and the
 * same file loaded again is another engine. Threads: any.
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_ENGINE_H
#define PRELOAD_RUNTIME_WASMTIME_ENGINE_H

#include "preload/load/instance.h"
#include "preload/runtime/wasmtime_abi.h"

/* WAMR's wasm_frame_t, and wasm_copy_callstack() (wasm_export.h, 2.4.3). */
struct wamr_frame {
	void *instance;
	uint32_t module_offset, function, function_offset;
	const char *name;
	void *sp, *reference, *locals;
};
typedef uint32_t wamr_copy_callstack(void *env, struct wamr_frame *frames, uint32_t length,
				     uint32_t skipped, char *error, uint32_t error_size);

struct runtime_engine {
	uintptr_t start, end;  /* of the object */
	const char *name;      /* "wasmtime", or another with the names of wasm.h; NULL: strange */
	char said_version[32]; /* by the engine itself; "" where its images tell */
	bool is_wasmtime;
	bool is_wamr;	 /* it has no name here: its names of wasm.h lead to wamr.c's */
	uint16_t number; /* from 1: two engines count their stores alike */
	atomic_bool is_unloaded;
	atomic_int version; /* major; 0 until its first module was loaded */
	/* NULL until the version is known, and for unknown versions. */
	_Atomic(struct exit_layout *) layout;
	struct exit_layout exit;
	struct runtime_engine *replaced; /* the unloaded one whose place it took: still reachable */

	/* Functions of the same object; NULL where it has none. */
	void (*module_image_range)(const wasmtime_module_t *, void **start, void **end);
	bool (*instance_export_nth)(wasmtime_context_t *, const wasmtime_instance_t *, size_t index,
				    char **name, size_t *name_size, wasmtime_extern_t *item);
	void (*extern_delete)(wasmtime_extern_t *);
	wasmtime_context_t *(*store_context)(wasmtime_store_t *);
	uint8_t (*extern_kind)(const wasm_extern_t *);
	void (*wasm_module_imports)(const void *, wasm_importtype_vec_t *);
	void (*wasmtime_module_imports)(const void *, wasm_importtype_vec_t *);
	const wasm_byte_vec_t *(*importtype_module)(const wasm_importtype_t *);
	const wasm_byte_vec_t *(*importtype_name)(const wasm_importtype_t *);
	void (*importtype_vec_delete)(wasm_importtype_vec_t *);
	wasm_func_t *(*func_new_with_env)(wasm_store_t *, const wasm_functype_t *,
					  void (*callback)(void), void *environment,
					  void (*finalizer)(void *));
	/* WAMR's */
	wamr_copy_callstack *wamr_copy; /* as 2.4 has it, and where it was built with that */
	void *(*wamr_instance)(void *env);
	void *(*wamr_module)(void *instance);		  /* 2.0 and later */
	int32_t (*wamr_import_count)(const void *module); /* 2.2 and later */
	void (*wamr_import_type)(const void *module, int32_t index, void *import);
};

/* The Wasmtime that REAL, a function of its API, belongs to. NULL: not a Wasmtime, or a stub. */
struct runtime_engine *runtime_engine_of(const void *real);

/*
 * The same for any engine that is known by name: of those that are no Wasmtime only modules, and
 * what stands behind a handle's address (handle_owners.h).
 */
struct runtime_engine *runtime_engine_named(const void *real);

/* The same for a WAMR alone. */
const struct runtime_engine *runtime_engine_wamr(const void *real);

/* ENGINE made LOADING: its image tells the engine's version. */
void runtime_engine_learn(struct runtime_engine *engine, uint32_t loading);

/* True when functions carry the address of their instance: 34 and later. */
bool runtime_engine_has_contexts(const struct runtime_engine *engine);

/* STORE_ID as it is unique in the process. */
uint64_t runtime_engine_store(const struct runtime_engine *engine, uint64_t store_id);

#endif /* PRELOAD_RUNTIME_WASMTIME_ENGINE_H */
