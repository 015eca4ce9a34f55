/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_component.c - components of Wasmtime's C API, 33 and later.
 *
 * The API does not say where a component's image is: it is what the engine registers during the
 * load. One image holds all core modules; an instance of the component stands for theirs.
 */
#include "preload/hook/hook.h"
#include "preload/runtime/wasmtime_instance.h"
#include "preload/runtime/wasmtime_module.h"

EXPORT wasmtime_error_t *wasmtime_component_new(const wasm_engine_t *engine, const uint8_t *wasm,
						size_t size, wasmtime_component_t **component);
EXPORT wasmtime_error_t *wasmtime_component_deserialize(const wasm_engine_t *engine,
							const uint8_t *image, size_t size,
							wasmtime_component_t **component);
EXPORT wasmtime_error_t *wasmtime_component_deserialize_file(const wasm_engine_t *engine,
							     const char *path,
							     wasmtime_component_t **component);
EXPORT wasmtime_component_t *wasmtime_component_clone(const wasmtime_component_t *component);
EXPORT void wasmtime_component_delete(wasmtime_component_t *component);
EXPORT wasmtime_error_t *wasmtime_component_linker_instantiate(
	const wasmtime_component_linker_t *linker, wasmtime_context_t *context,
	const wasmtime_component_t *component, wasmtime_component_instance_t *instance);
EXPORT wasmtime_error_t *
wasmtime_component_func_call(const wasmtime_component_func_t *function, wasmtime_context_t *context,
			     const wasmtime_component_val_t *arguments, size_t argument_count,
			     wasmtime_component_val_t *results, size_t result_count);
EXPORT wasmtime_error_t *
wasmtime_component_resource_any_drop(wasmtime_context_t *context,
				     const wasmtime_component_resource_any_t *resource);

HOOK(wasmtime_component_new);
wasmtime_error_t *wasmtime_component_new(const wasm_engine_t *engine, const uint8_t *wasm,
					 size_t size, wasmtime_component_t **component)
{
	__typeof__(&wasmtime_component_new) real = REAL(wasmtime_component_new);
	struct runtime_load load = runtime_load_begin(real, engine, wasm, size);
	wasmtime_error_t *error = real(engine, wasm, size, component);

	runtime_load_end(load, error == NULL ? *component : NULL, NULL);
	return error;
}

HOOK(wasmtime_component_deserialize);
wasmtime_error_t *wasmtime_component_deserialize(const wasm_engine_t *engine, const uint8_t *image,
						 size_t size, wasmtime_component_t **component)
{
	__typeof__(&wasmtime_component_deserialize) real = REAL(wasmtime_component_deserialize);
	struct runtime_load load = runtime_load_begin(real, engine, NULL, 0);
	wasmtime_error_t *error = real(engine, image, size, component);

	runtime_load_end(load, error == NULL ? *component : NULL, NULL);
	return error;
}

HOOK(wasmtime_component_deserialize_file);
wasmtime_error_t *wasmtime_component_deserialize_file(const wasm_engine_t *engine, const char *path,
						      wasmtime_component_t **component)
{
	__typeof__(&wasmtime_component_deserialize_file) real =
		REAL(wasmtime_component_deserialize_file);
	struct runtime_load load = runtime_load_begin(real, engine, NULL, 0);
	wasmtime_error_t *error = real(engine, path, component);

	load.path = path;
	runtime_load_end(load, error == NULL ? *component : NULL, NULL);
	return error;
}

HOOK(wasmtime_component_clone);
wasmtime_component_t *wasmtime_component_clone(const wasmtime_component_t *component)
{
	__typeof__(&wasmtime_component_clone) real = REAL(wasmtime_component_clone);
	wasmtime_component_t *clone = real(component);

	runtime_load_alias(real, clone, component);
	return clone;
}

HOOK(wasmtime_component_delete);
void wasmtime_component_delete(wasmtime_component_t *component)
{
	__typeof__(&wasmtime_component_delete) real = REAL(wasmtime_component_delete);

	runtime_load_forget(real, component);
	real(component);
}

HOOK(wasmtime_component_linker_instantiate);
wasmtime_error_t *wasmtime_component_linker_instantiate(const wasmtime_component_linker_t *linker,
							wasmtime_context_t *context,
							const wasmtime_component_t *component,
							wasmtime_component_instance_t *instance)
{
	__typeof__(&wasmtime_component_linker_instantiate) real =
		REAL(wasmtime_component_linker_instantiate);
	struct activation activation =
		runtime_instance_enter(real, context, __builtin_frame_address(0));
	wasmtime_error_t *error = real(linker, context, component, instance);
	struct runtime_engine *engine;

	guest_leave(activation);
	if (error != NULL || !hook_begin())
		return error;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		runtime_component_instance_made(engine, context, component, instance);
	hook_end();
	return error;
}

static struct activation enter(const void *real, wasmtime_context_t *context,
			       const wasmtime_component_func_t *function, void *frame)
{
	struct activation activation = { 0 };
	struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		activation = guest_enter(
			runtime_component_instance(engine, function->store_id, function->instance),
			(uintptr_t)frame, (uintptr_t)context,
			atomic_load_explicit(&engine->layout, memory_order_acquire), 0);
	hook_end();
	return activation;
}

HOOK(wasmtime_component_func_call);
wasmtime_error_t *
wasmtime_component_func_call(const wasmtime_component_func_t *function, wasmtime_context_t *context,
			     const wasmtime_component_val_t *arguments, size_t argument_count,
			     wasmtime_component_val_t *results, size_t result_count)
{
	__typeof__(&wasmtime_component_func_call) real = REAL(wasmtime_component_func_call);
	struct activation activation = enter(real, context, function, __builtin_frame_address(0));
	wasmtime_error_t *error =
		real(function, context, arguments, argument_count, results, result_count);

	guest_leave(activation);
	return error;
}

/* May run a destructor of the guest. 40 and later. */
HOOK(wasmtime_component_resource_any_drop);
wasmtime_error_t *
wasmtime_component_resource_any_drop(wasmtime_context_t *context,
				     const wasmtime_component_resource_any_t *resource)
{
	__typeof__(&wasmtime_component_resource_any_drop) real =
		REAL(wasmtime_component_resource_any_drop);
	struct activation activation =
		runtime_instance_enter(real, context, __builtin_frame_address(0));
	wasmtime_error_t *error = real(context, resource);

	guest_leave(activation);
	return error;
}
