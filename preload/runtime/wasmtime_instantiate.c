/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_instantiate.c - instances and stores of Wasmtime's C API come and go.
 *
 * Instantiation runs the module's start function, so it is an entry like a call; which instance it
 * is can only be known afterwards.
 */
#include "preload/hook/hook.h"
#include "preload/runtime/wasmtime_func.h"
#include "preload/runtime/wasmtime_instance.h"

EXPORT wasmtime_error_t *wasmtime_instance_new(wasmtime_context_t *context,
					       const wasmtime_module_t *module,
					       const wasmtime_extern_t *imports,
					       size_t import_count, wasmtime_instance_t *instance,
					       wasm_trap_t **trap);
EXPORT wasmtime_error_t *wasmtime_linker_instantiate(const wasmtime_linker_t *linker,
						     wasmtime_context_t *context,
						     const wasmtime_module_t *module,
						     wasmtime_instance_t *instance,
						     wasm_trap_t **trap);
EXPORT wasmtime_error_t *wasmtime_instance_pre_instantiate(const wasmtime_instance_pre_t *pre,
							   wasmtime_context_t *context,
							   wasmtime_instance_t *instance,
							   wasm_trap_t **trap);
EXPORT wasmtime_error_t *wasmtime_linker_module(wasmtime_linker_t *linker,
						wasmtime_context_t *context, const char *name,
						size_t name_size, const wasmtime_module_t *module);
EXPORT bool wasmtime_instance_export_get(wasmtime_context_t *context,
					 const wasmtime_instance_t *instance, const char *name,
					 size_t name_size, wasmtime_extern_t *item);
EXPORT bool wasmtime_instance_export_nth(wasmtime_context_t *context,
					 const wasmtime_instance_t *instance, size_t index,
					 char **name, size_t *name_size, wasmtime_extern_t *item);
EXPORT void wasmtime_store_delete(wasmtime_store_t *store);

/* TRAP is the host's place for a trap: it may hold one from a start function. */
static void finish(const void *real, struct activation activation, wasmtime_context_t *context,
		   const void *handle, const wasmtime_error_t *error, wasm_trap_t *const *trap,
		   const wasmtime_instance_t *instance)
{
	struct runtime_engine *engine;

	guest_leave(activation);
	if (error != NULL || (trap != NULL && *trap != NULL) || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		runtime_instance_made(engine, context, handle, instance);
	hook_end();
}

static void note_imports(const void *real, const wasmtime_module_t *module,
			 const wasmtime_extern_t *imports, size_t count)
{
	const struct runtime_engine *engine;

	if (count == 0 || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		runtime_func_given(engine, module, imports, count);
	hook_end();
}

HOOK(wasmtime_instance_new);
wasmtime_error_t *wasmtime_instance_new(wasmtime_context_t *context,
					const wasmtime_module_t *module,
					const wasmtime_extern_t *imports, size_t import_count,
					wasmtime_instance_t *instance, wasm_trap_t **trap)
{
	__typeof__(&wasmtime_instance_new) real = REAL(wasmtime_instance_new);
	struct activation activation;
	wasmtime_error_t *error;

	note_imports(real, module, imports, import_count);
	activation = runtime_instance_enter(real, context, __builtin_frame_address(0));
	error = real(context, module, imports, import_count, instance, trap);
	finish(real, activation, context, module, error, trap, instance);
	return error;
}

HOOK(wasmtime_linker_instantiate);
wasmtime_error_t *wasmtime_linker_instantiate(const wasmtime_linker_t *linker,
					      wasmtime_context_t *context,
					      const wasmtime_module_t *module,
					      wasmtime_instance_t *instance, wasm_trap_t **trap)
{
	__typeof__(&wasmtime_linker_instantiate) real = REAL(wasmtime_linker_instantiate);
	struct activation activation =
		runtime_instance_enter(real, context, __builtin_frame_address(0));
	wasmtime_error_t *error = real(linker, context, module, instance, trap);

	finish(real, activation, context, module, error, trap, instance);
	return error;
}

HOOK(wasmtime_instance_pre_instantiate);
wasmtime_error_t *wasmtime_instance_pre_instantiate(const wasmtime_instance_pre_t *pre,
						    wasmtime_context_t *context,
						    wasmtime_instance_t *instance,
						    wasm_trap_t **trap)
{
	__typeof__(&wasmtime_instance_pre_instantiate) real =
		REAL(wasmtime_instance_pre_instantiate);
	struct activation activation =
		runtime_instance_enter(real, context, __builtin_frame_address(0));
	wasmtime_error_t *error = real(pre, context, instance, trap);

	finish(real, activation, context, pre, error, trap, instance);
	return error;
}

/* Instantiates a reactor at once; a command's instances are made by each call of its function. */
HOOK(wasmtime_linker_module);
wasmtime_error_t *wasmtime_linker_module(wasmtime_linker_t *linker, wasmtime_context_t *context,
					 const char *name, size_t name_size,
					 const wasmtime_module_t *module)
{
	__typeof__(&wasmtime_linker_module) real = REAL(wasmtime_linker_module);
	struct activation activation =
		runtime_instance_enter(real, context, __builtin_frame_address(0));
	wasmtime_error_t *error = real(linker, context, name, name_size, module);

	guest_leave(activation);
	return error;
}

/* Before 34 this is the only place where a function's instance is to be seen. */
static void learn_export(const void *real, const wasmtime_instance_t *instance,
			 const wasmtime_extern_t *item)
{
	struct runtime_engine *engine;

	if (item->kind != WASMTIME_EXTERN_FUNC || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		runtime_instance_exports(engine, instance, item->of.func.function);
	hook_end();
}

HOOK(wasmtime_instance_export_get);
bool wasmtime_instance_export_get(wasmtime_context_t *context, const wasmtime_instance_t *instance,
				  const char *name, size_t name_size, wasmtime_extern_t *item)
{
	__typeof__(&wasmtime_instance_export_get) real = REAL(wasmtime_instance_export_get);
	bool found = real(context, instance, name, name_size, item);

	if (found)
		learn_export(real, instance, item);
	return found;
}

HOOK(wasmtime_instance_export_nth);
bool wasmtime_instance_export_nth(wasmtime_context_t *context, const wasmtime_instance_t *instance,
				  size_t index, char **name, size_t *name_size,
				  wasmtime_extern_t *item)
{
	__typeof__(&wasmtime_instance_export_nth) real = REAL(wasmtime_instance_export_nth);
	bool found = real(context, instance, index, name, name_size, item);

	if (found)
		learn_export(real, instance, item);
	return found;
}

HOOK(wasmtime_store_delete);
void wasmtime_store_delete(wasmtime_store_t *store)
{
	__typeof__(&wasmtime_store_delete) real = REAL(wasmtime_store_delete);
	struct runtime_engine *engine;

	if (store != NULL && hook_begin()) {
		engine = runtime_engine_of(real);
		if (engine != NULL && engine->store_context != NULL)
			runtime_store_ends(engine->store_context(store));
		hook_end();
	}
	real(store);
}
