/* SPDX-License-Identifier: MIT */
/* component.c - the test host for components (C API of wasmtime 43 and newer). */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if WASMTIME_VERSION_MAJOR >= 43
#include <wasmtime/component.h>

static wasmtime_error_t *work(void *env, wasmtime_context_t *context,
			      const wasmtime_component_func_type_t *type,
			      wasmtime_component_val_t *args, size_t arg_count,
			      wasmtime_component_val_t *results, size_t result_count)
{
	(void)env, (void)context, (void)type, (void)arg_count, (void)results, (void)result_count;
	import_burn(args[0].of.u32);
	return NULL;
}

static wasmtime_component_linker_t *linker_new(const wasm_engine_t *engine)
{
	wasmtime_component_linker_t *linker = wasmtime_component_linker_new(engine);
	wasmtime_component_linker_instance_t *root = wasmtime_component_linker_root(linker);

	check("add work",
	      wasmtime_component_linker_instance_add_func(root, "work", 4, work, NULL, NULL), NULL);
	wasmtime_component_linker_instance_delete(root);
	return linker;
}

static wasmtime_component_t *component_load(wasm_engine_t *engine, const struct options *options)
{
	struct guest_bytes guest = load_file(options->guest);
	wasmtime_component_t *component = NULL;
	wasm_byte_vec_t image = { 0 };

	check("component", wasmtime_component_new(engine, guest.bytes, guest.size, &component),
	      NULL);
	free(guest.bytes);
	if (!options->serialize)
		return component;
	check("serialize", wasmtime_component_serialize(component, &image), NULL);
	wasmtime_component_delete(component);
	check("deserialize",
	      wasmtime_component_deserialize(engine, (const uint8_t *)image.data, image.size,
					     &component),
	      NULL);
	wasm_byte_vec_delete(&image);
	return component;
}

#if WASMTIME_VERSION_MAJOR >= 45
/* So many instructions between two polls. */
enum { FUEL_PER_POLL = 200000 };

static void finish(const char *what, wasmtime_call_future_t *future, wasmtime_error_t **error)
{
	while (!wasmtime_call_future_poll(future))
		;
	wasmtime_call_future_delete(future);
	check(what, *error, NULL);
}

static void instantiate_async(const wasmtime_component_linker_t *linker,
			      wasmtime_context_t *context, const wasmtime_component_t *component,
			      wasmtime_component_instance_t *instance)
{
	wasmtime_error_t *error = NULL;

	check("fuel", wasmtime_context_set_fuel(context, UINT64_MAX / 2), NULL);
	check("yield", wasmtime_context_fuel_async_yield_interval(context, FUEL_PER_POLL), NULL);
	finish("instantiate",
	       wasmtime_component_linker_instantiate_async(linker, context, component, instance,
							   &error),
	       &error);
}

static void call_async(const wasmtime_component_func_t *function, wasmtime_context_t *context,
		       const wasmtime_component_val_t args[1])
{
	wasmtime_error_t *error = NULL;

	finish("call",
	       wasmtime_component_func_call_async(function, context, args, 1, NULL, 0, &error),
	       &error);
}
#else
static void instantiate_async(const wasmtime_component_linker_t *linker,
			      wasmtime_context_t *context, const wasmtime_component_t *component,
			      wasmtime_component_instance_t *instance)
{
	(void)linker, (void)context, (void)component, (void)instance;
	fprintf(stderr, "host: no async components in the C API of wasmtime %d\n",
		WASMTIME_VERSION_MAJOR);
	exit(1);
}

static void call_async(const wasmtime_component_func_t *function, wasmtime_context_t *context,
		       const wasmtime_component_val_t args[1])
{
	(void)function, (void)context, (void)args;
}
#endif

static void component_call(wasmtime_context_t *context, wasmtime_component_instance_t *instance,
			   const struct options *options)
{
	wasmtime_component_val_t args[1] = { { .kind = WASMTIME_COMPONENT_U32 } };
	uint64_t end_ms = call_cpu_ms() + options->cpu_ms;
	wasmtime_component_func_t function;
	wasmtime_component_export_index_t *index = wasmtime_component_instance_get_export_index(
		instance, context, NULL, options->export, strlen(options->export));

	if (index == NULL ||
	    !wasmtime_component_instance_get_func(instance, context, index, &function)) {
		fprintf(stderr, "host: no function %s\n", options->export);
		exit(1);
	}
	wasmtime_component_export_index_delete(index);
	for (uint64_t i = 0; options->cpu_ms > 0 ? call_cpu_ms() < end_ms : i < options->calls;
	     i++) {
		args[0].of.u32 = argument_next(options);
		if (options->is_async)
			call_async(&function, context, args);
		else
			check("call",
			      wasmtime_component_func_call(&function, context, args, 1, NULL, 0),
			      NULL);
	}
}

void component_run(wasm_engine_t *engine, const struct options *options)
{
	wasmtime_component_t *component = component_load(engine, options);
	wasmtime_component_linker_t *linker = linker_new(engine);
	wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_component_instance_t instance;

	if (options->is_async)
		instantiate_async(linker, context, component, &instance);
	else
		check("instantiate",
		      wasmtime_component_linker_instantiate(linker, context, component, &instance),
		      NULL);
	component_call(context, &instance, options);
	printf("component: done\n");
	wasmtime_store_delete(store);
	wasmtime_component_linker_delete(linker);
	wasmtime_component_delete(component);
}
#else
void component_run(wasm_engine_t *engine, const struct options *options)
{
	(void)engine, (void)options;
	fprintf(stderr, "host: no components in the C API of wasmtime %d\n",
		WASMTIME_VERSION_MAJOR);
	exit(1);
}
#endif
