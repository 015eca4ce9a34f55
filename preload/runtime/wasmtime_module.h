/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_module.h - the two halves of a load wrapper, around the engine's own call.
 */
#ifndef PRELOAD_RUNTIME_WASMTIME_MODULE_H
#define PRELOAD_RUNTIME_WASMTIME_MODULE_H

#include "preload/runtime/wasmtime_engine.h"

struct load_bytes;

struct runtime_load {
	struct runtime_engine *engine; /* NULL: we only pass on */
	struct load_bytes *bytes;
	uint32_t registrations;
	const void *owner; /* the engine's handle; NULL: not known */
	const char *path;  /* the file that is loaded, the host's; NULL: none */
};

/* Before the real call. WASM NULL: nothing to read (precompiled). OWNER: the engine's handle, or
 * NULL. */
struct runtime_load runtime_load_begin(const void *real, const void *owner, const uint8_t *wasm,
				       size_t size);

/*
 * After it. HANDLE is what the host gets, NULL when the load failed. The image is what the engine
 * says of MODULE, or, with MODULE NULL or an engine that says nothing, what it registered
 * meanwhile. Keeps errno.
 */
void runtime_load_end(struct runtime_load load, const void *handle,
		      const wasmtime_module_t *module);

/* OTHER was made from HANDLE, if it was made. Keeps errno. */
void runtime_load_alias(const void *real, const void *other, const void *handle);

/* HANDLE is about to be deleted. Keeps errno. */
void runtime_load_forget(const void *real, const void *handle);

#endif /* PRELOAD_RUNTIME_WASMTIME_MODULE_H */
