/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_component_linker.c - the host gives functions to components: they are noted, and wrapped
 * if their calls are to be counted.
 *
 * Signatures as in crates/c-api/include/wasmtime/component/linker.h, 36 to 50. The callbacks' own
 * differ from version to version, but take pointers and sizes only (exactcall.c). An instance of
 * the linker is where functions are defined; its name is the module of their names.
 */
#include "preload/hook/hook.h"
#include "preload/load/callbacks.h"
#include "preload/load/hostcalls.h"
#include "preload/runtime/exactcall.h"
#include "preload/runtime/pointer_map.h"
#include "preload/runtime/wasmtime_abi.h"

#include <string.h>

EXPORT wasmtime_error_t *
wasmtime_component_linker_instance_add_instance(wasmtime_component_linker_instance_t *parent,
						const char *name, size_t name_size,
						wasmtime_component_linker_instance_t **instance);
EXPORT void
wasmtime_component_linker_instance_delete(wasmtime_component_linker_instance_t *instance);
EXPORT wasmtime_error_t *wasmtime_component_linker_instance_add_func(
	wasmtime_component_linker_instance_t *instance, const char *name, size_t name_size,
	void (*callback)(void), void *data, void (*finalizer)(void *));
EXPORT wasmtime_error_t *wasmtime_component_linker_instance_add_func_async(
	wasmtime_component_linker_instance_t *instance, const char *name, size_t name_size,
	void (*callback)(void), void *data, void (*finalizer)(void *));

enum { INSTANCES = 1024, NAME_MAX_SIZE = POINTER_MAP_VALUES * sizeof(uintptr_t) };

/* By handle: its name, as much as there is room for; zeros follow a shorter one. */
static struct pointer_entry instance_entries[INSTANCES];
static const struct pointer_map instances = { instance_entries, INSTANCES };

struct instance_name {
	char text[NAME_MAX_SIZE];
	size_t size;
	bool is_root; /* or one that was not seen made */
};

static struct instance_name name_of(const wasmtime_component_linker_instance_t *instance)
{
	struct instance_name name;
	uintptr_t values[POINTER_MAP_VALUES];

	name.is_root = !pointer_map_get(&instances, instance, values);
	memcpy(name.text, values, sizeof(name.text));
	name.size = strnlen(name.text, sizeof(name.text));
	return name;
}

HOOK(wasmtime_component_linker_instance_add_instance);
wasmtime_error_t *
wasmtime_component_linker_instance_add_instance(wasmtime_component_linker_instance_t *parent,
						const char *name, size_t name_size,
						wasmtime_component_linker_instance_t **instance)
{
	wasmtime_error_t *error = REAL(wasmtime_component_linker_instance_add_instance)(
		parent, name, name_size, instance);
	uintptr_t values[POINTER_MAP_VALUES] = { 0 };

	if (error != NULL || !hook_begin())
		return error;
	memcpy(values, name, name_size < NAME_MAX_SIZE ? name_size : NAME_MAX_SIZE);
	pointer_map_put(&instances, *instance, values);
	hook_end();
	return error;
}

HOOK(wasmtime_component_linker_instance_delete);
void wasmtime_component_linker_instance_delete(wasmtime_component_linker_instance_t *instance)
{
	__typeof__(&wasmtime_component_linker_instance_delete) real =
		REAL(wasmtime_component_linker_instance_delete);
	uintptr_t values[POINTER_MAP_VALUES];

	pointer_map_take(&instances, instance, values);
	real(instance);
}

typedef wasmtime_error_t *define_type(wasmtime_component_linker_instance_t *instance,
				      const char *name, size_t name_size, void (*callback)(void),
				      void *data, void (*finalizer)(void *));

static wasmtime_error_t *define(define_type *real, wasmtime_component_linker_instance_t *instance,
				const char *name, size_t name_size, struct exact_function function,
				enum exact_kind kind)
{
	const struct instance_name module = name_of(instance);
	const char *module_text = module.is_root ? NULL : module.text;
	void (*callback)(void) = function.callback;
	wasmtime_error_t *error;

	if (hostcalls_are_exact() && hook_begin()) {
		exact_begin(&function, hostcalls_name(module_text, module.size, name, name_size),
			    kind);
		hook_end();
	}
	error = real(instance, name, name_size, function.callback, function.environment,
		     function.finalizer);
	exact_end(&function, error == NULL);
	if (error == NULL && hook_begin()) {
		callbacks_add((uintptr_t)callback, module_text, module.size, name, name_size);
		hook_end();
	}
	return error;
}

HOOK(wasmtime_component_linker_instance_add_func);
wasmtime_error_t *wasmtime_component_linker_instance_add_func(
	wasmtime_component_linker_instance_t *instance, const char *name, size_t name_size,
	void (*callback)(void), void *data, void (*finalizer)(void *))
{
	return define(REAL(wasmtime_component_linker_instance_add_func), instance, name, name_size,
		      (struct exact_function){ callback, data, finalizer, NULL }, EXACT_PLAIN);
}

HOOK(wasmtime_component_linker_instance_add_func_async);
wasmtime_error_t *wasmtime_component_linker_instance_add_func_async(
	wasmtime_component_linker_instance_t *instance, const char *name, size_t name_size,
	void (*callback)(void), void *data, void (*finalizer)(void *))
{
	return define(REAL(wasmtime_component_linker_instance_add_func_async), instance, name,
		      name_size, (struct exact_function){ callback, data, finalizer, NULL },
		      EXACT_COMPONENT_ASYNC);
}
