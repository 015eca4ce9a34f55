/* SPDX-License-Identifier: MIT */
/* wasmtime_module.c - modules of Wasmtime's C API: compiled, deserialized, cloned, deleted. */
#include "preload/runtime/wasmtime_module.h"

#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/register_frame.h"

EXPORT wasmtime_error_t *wasmtime_module_new(wasm_engine_t *engine, const uint8_t *wasm,
					     size_t size, wasmtime_module_t **module);
EXPORT wasmtime_error_t *wasmtime_module_deserialize(wasm_engine_t *engine, const uint8_t *image,
						     size_t size, wasmtime_module_t **module);
EXPORT wasmtime_error_t *wasmtime_module_deserialize_file(wasm_engine_t *engine, const char *path,
							  wasmtime_module_t **module);
EXPORT wasmtime_module_t *wasmtime_module_clone(const wasmtime_module_t *module);
EXPORT void wasmtime_module_delete(wasmtime_module_t *module);
EXPORT wasmtime_module_t *wasmtime_instance_pre_module(const wasmtime_instance_pre_t *pre);
EXPORT wasmtime_error_t *wasmtime_linker_instantiate_pre(const wasmtime_linker_t *linker,
							 const wasmtime_module_t *module,
							 wasmtime_instance_pre_t **pre);
EXPORT void wasmtime_instance_pre_delete(wasmtime_instance_pre_t *pre);

EXPORT wasm_engine_t *wasmtime_engine_clone(wasm_engine_t *engine);
EXPORT void wasm_engine_delete(wasm_engine_t *engine);

/* ---- the two halves ---------------------------------------------------------------------------
 */

struct runtime_load runtime_load_begin(const void *real, const void *owner, const uint8_t *wasm,
				       size_t size)
{
	struct runtime_load load = { .owner = owner };

	if (!hook_begin())
		return load;
	load.engine = runtime_engine_named(real);
	if (load.engine != NULL && wasm != NULL)
		load.bytes = load_bytes_begin(wasm, size);
	else if (load.engine != NULL)
		load_hold();
	load.registrations = runtime_registrations();
	hook_end();
	return load;
}

/* False when nothing was made that can be seen. *IMAGE 0: what this thread registered last. */
static bool find_image(const struct runtime_load *load, const wasmtime_module_t *module,
		       uintptr_t *image)
{
	void *start = NULL, *end = NULL;

	if (module != NULL && load->engine->module_image_range != NULL)
		load->engine->module_image_range(module, &start, &end);
	if (start == NULL || start == end)
		start = (void *)runtime_registered_since(load->registrations);
	/* of other engines there is no image to be found */
	*image = load->engine->is_wasmtime ? (uintptr_t)start : 0;
	return start != NULL;
}

void runtime_load_end(struct runtime_load load, const void *handle, const wasmtime_module_t *module)
{
	int saved_errno = errno;
	uintptr_t image;

	if (load.engine == NULL)
		return;
	load_bytes_end(load.bytes);
	if (handle == NULL || !hook_begin()) {
		load_bytes_free(load.bytes);
		load_release();
		errno = saved_errno;
		return;
	}
	if (find_image(&load, module, &image)) {
		uint32_t loading = load_announce(&(struct load_event){
			.engine = load.engine->name,
			.version = load.engine->said_version,
			.handle = handle,
			.owner = load.owner,
			.image = image,
			.bytes = load.bytes,
			.path = load.path,
		});

		if (load.engine->is_wasmtime)
			runtime_engine_learn(load.engine, loading);
	} else {
		load_bytes_free(load.bytes);
	}
	load_release();
	hook_end();
	errno = saved_errno;
}

void runtime_load_alias(const void *real, const void *other, const void *handle)
{
	if (other == NULL || !hook_begin())
		return;
	if (runtime_engine_named(real) != NULL)
		load_alias(other, handle);
	hook_end();
}

void runtime_load_forget(const void *real, const void *handle)
{
	if (handle == NULL || !hook_begin())
		return;
	if (runtime_engine_named(real) != NULL)
		load_forget(handle);
	hook_end();
}

/* ---- loads ------------------------------------------------------------------------------------
 */

HOOK(wasmtime_module_new);
wasmtime_error_t *wasmtime_module_new(wasm_engine_t *engine, const uint8_t *wasm, size_t size,
				      wasmtime_module_t **module)
{
	__typeof__(&wasmtime_module_new) real = REAL(wasmtime_module_new);
	struct runtime_load load = runtime_load_begin(real, engine, wasm, size);
	wasmtime_error_t *error = real(engine, wasm, size, module);
	const wasmtime_module_t *made = error == NULL ? *module : NULL;

	runtime_load_end(load, made, made);
	return error;
}

HOOK(wasmtime_module_deserialize);
wasmtime_error_t *wasmtime_module_deserialize(wasm_engine_t *engine, const uint8_t *image,
					      size_t size, wasmtime_module_t **module)
{
	__typeof__(&wasmtime_module_deserialize) real = REAL(wasmtime_module_deserialize);
	struct runtime_load load = runtime_load_begin(real, engine, NULL, 0);
	wasmtime_error_t *error = real(engine, image, size, module);
	const wasmtime_module_t *made = error == NULL ? *module : NULL;

	runtime_load_end(load, made, made);
	return error;
}

HOOK(wasmtime_module_deserialize_file);
wasmtime_error_t *wasmtime_module_deserialize_file(wasm_engine_t *engine, const char *path,
						   wasmtime_module_t **module)
{
	__typeof__(&wasmtime_module_deserialize_file) real = REAL(wasmtime_module_deserialize_file);
	struct runtime_load load = runtime_load_begin(real, engine, NULL, 0);
	wasmtime_error_t *error = real(engine, path, module);
	const wasmtime_module_t *made = error == NULL ? *module : NULL;

	load.path = path;
	runtime_load_end(load, made, made);
	return error;
}

/* ---- other handles of the same module ---------------------------------------------------------
 */

HOOK(wasmtime_module_clone);
wasmtime_module_t *wasmtime_module_clone(const wasmtime_module_t *module)
{
	__typeof__(&wasmtime_module_clone) real = REAL(wasmtime_module_clone);
	wasmtime_module_t *clone = real(module);

	runtime_load_alias(real, clone, module);
	return clone;
}

HOOK(wasmtime_module_delete);
void wasmtime_module_delete(wasmtime_module_t *module)
{
	__typeof__(&wasmtime_module_delete) real = REAL(wasmtime_module_delete);

	runtime_load_forget(real, module);
	real(module);
}

/* What is linked ahead of time is a handle of its module too: instances are made from it. */
HOOK(wasmtime_linker_instantiate_pre);
wasmtime_error_t *wasmtime_linker_instantiate_pre(const wasmtime_linker_t *linker,
						  const wasmtime_module_t *module,
						  wasmtime_instance_pre_t **pre)
{
	__typeof__(&wasmtime_linker_instantiate_pre) real = REAL(wasmtime_linker_instantiate_pre);
	wasmtime_error_t *error = real(linker, module, pre);

	runtime_load_alias(real, error == NULL ? *pre : NULL, module);
	return error;
}

HOOK(wasmtime_instance_pre_delete);
void wasmtime_instance_pre_delete(wasmtime_instance_pre_t *pre)
{
	__typeof__(&wasmtime_instance_pre_delete) real = REAL(wasmtime_instance_pre_delete);

	runtime_load_forget(real, pre);
	real(pre);
}

HOOK(wasmtime_instance_pre_module);
wasmtime_module_t *wasmtime_instance_pre_module(const wasmtime_instance_pre_t *pre)
{
	__typeof__(&wasmtime_instance_pre_module) real = REAL(wasmtime_instance_pre_module);
	wasmtime_module_t *module = real(pre);

	runtime_load_alias(real, module, pre);
	return module;
}

/* ---- engines: which of them made a module -----------------------------------------------------
 */

HOOK(wasmtime_engine_clone);
wasm_engine_t *wasmtime_engine_clone(wasm_engine_t *engine)
{
	__typeof__(&wasmtime_engine_clone) real = REAL(wasmtime_engine_clone);
	wasm_engine_t *clone = real(engine);

	if (hook_begin()) {
		load_owner_alias(engine, clone);
		hook_end();
	}
	return clone;
}

HOOK(wasm_engine_delete);
void wasm_engine_delete(wasm_engine_t *engine)
{
	__typeof__(&wasm_engine_delete) real = REAL(wasm_engine_delete);

	if (hook_begin()) {
		load_owner_forget(engine);
		hook_end();
	}
	real(engine);
}
