/* SPDX-License-Identifier: MIT */
/*
 * extism.c - plugins of Extism's C API: each is an instance.
 *
 * Extism has its engine, a Wasmtime, inside and does not show it. What it compiles is seen by its
 * frame registrations: within one call first its kernel, which serves every plugin's memory, then
 * the plugin's modules, the main one last (runtime/src/manifest.rs). A call enters the plugin,
 * whatever of its modules runs.
 *
 * Arguments and results pass as words: 0.x has the same names with other arguments, and there we
 * only pass on.
 */
#include <stdlib.h>
#include <string.h>

#include "preload/base/guarded.h"
#include "preload/hook/hook.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/runtime/pointer_map.h"

/* extism.h as extism-sys 1.41.0 has it. */
EXPORT uintptr_t extism_plugin_new(uintptr_t wasm, uintptr_t size, uintptr_t functions,
				   uintptr_t function_count, uintptr_t with_wasi, uintptr_t error);
EXPORT uintptr_t extism_plugin_new_with_fuel_limit(uintptr_t wasm, uintptr_t size,
						   uintptr_t functions, uintptr_t function_count,
						   uintptr_t with_wasi, uintptr_t fuel,
						   uintptr_t error);
EXPORT uintptr_t extism_compiled_plugin_new(uintptr_t wasm, uintptr_t size, uintptr_t functions,
					    uintptr_t function_count, uintptr_t with_wasi,
					    uintptr_t error);
EXPORT uintptr_t extism_compiled_plugin_new_with_fuel_limit(uintptr_t wasm, uintptr_t size,
							    uintptr_t functions,
							    uintptr_t function_count,
							    uintptr_t with_wasi, uintptr_t fuel,
							    uintptr_t error);
EXPORT uintptr_t extism_plugin_new_from_compiled(uintptr_t compiled, uintptr_t error);
EXPORT void extism_compiled_plugin_free(uintptr_t compiled);
EXPORT uintptr_t extism_plugin_call(uintptr_t plugin, uintptr_t function, uintptr_t input,
				    uintptr_t size, uintptr_t unused);
EXPORT uintptr_t extism_plugin_call_with_host_context(uintptr_t plugin, uintptr_t function,
						      uintptr_t input, uintptr_t size,
						      uintptr_t host_context);
EXPORT uintptr_t extism_plugin_reset(uintptr_t plugin, uintptr_t unused);
EXPORT uintptr_t extism_plugin_error(uintptr_t plugin, uintptr_t unused);
EXPORT uintptr_t extism_plugin_output_length(uintptr_t plugin, uintptr_t unused);
EXPORT uintptr_t extism_plugin_output_data(uintptr_t plugin, uintptr_t unused);
EXPORT void extism_plugin_free(uintptr_t plugin, uintptr_t unused);

/* Wasmtime's stores have their engine's number up there, which is less: wasmtime_engine.c. */
#define EXTISM_STORE (UINT64_C(0xffff) << 48)

enum {
	PLUGINS = 4096,
	KERNEL_SIZE_MAX = 256 << 10, /* of its image; 36 KiB in extism-sys 1.41.0 */
};

/* By plugin: { instance, store }. */
static struct pointer_entry plugin_entries[PLUGINS];
static const struct pointer_map plugins = { plugin_entries, PLUGINS };
static atomic_ullong plugin_count;

/* ---- what is compiled ------------------------------------------------------------------------ */

struct making {
	bool is_seen;
	struct load_bytes *bytes;
};

static struct making begin(const void *real, uintptr_t wasm, uintptr_t size)
{
	struct making making = { 0 };

	if (!hook_begin())
		return making;
	/* Contexts went with 1.0. */
	making.is_seen = !hook_is_missing(real) && hook_sibling(real, "extism_context_new") == NULL;
	if (making.is_seen) {
		making.bytes = load_bytes_begin((const uint8_t *)wasm, size);
		if (making.bytes == NULL) /* a manifest, or text */
			load_hold();
	}
	hook_end();
	return making;
}

/* The kernel's exports for its host, which no plugin calls: they are in the image's tables. */
static bool has_kernels_exports(const uint8_t *image, size_t size)
{
	static const char *const names[] = { "memory_bytes", "input_set", "output_offset" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (memmem(image, size, names[i], strlen(names[i])) == NULL)
			return false;
	return true;
}

static bool is_kernel(uint32_t loading)
{
	uintptr_t start, end;
	bool is_found = false;
	uint8_t *image;

	if (!load_image_range(loading, &start, &end) || end - start > KERNEL_SIZE_MAX)
		return false;
	image = malloc(end - start);
	if (image != NULL && guarded_read(start, image, end - start) == 0)
		is_found = has_kernels_exports(image, end - start);
	free(image);
	return is_found;
}

static uint32_t announce(struct making *making, uintptr_t result)
{
	uint32_t first = load_first_held(), loading = 0;

	if (first != 0 && is_kernel(first))
		load_name(first, "extism kernel");
	if (result == 0)
		return 0;
	loading = load_announce(&(struct load_event){
		.engine = "wasmtime",
		.handle = (const void *)result,
		.bytes = making->bytes,
	});
	making->bytes = NULL;
	return loading;
}

/* RESULT: the plugin or compiled plugin, 0: none was made. Returns its main module's loading. */
static uint32_t end(struct making making, uintptr_t result)
{
	int saved_errno = errno;
	uint32_t loading = 0;

	if (!making.is_seen)
		return 0;
	/* Also where we were switched off meanwhile: the bytes are the host's again. */
	load_bytes_end(making.bytes);
	if (hook_begin()) {
		loading = announce(&making, result);
		hook_end();
	}
	load_bytes_free(making.bytes);
	load_release();
	errno = saved_errno;
	return loading;
}

/* ---- plugins --------------------------------------------------------------------------------- */

static void plugin_made(uintptr_t plugin, uint32_t loading)
{
	uintptr_t values[POINTER_MAP_VALUES] = { 0 };
	uint64_t store = EXTISM_STORE | (atomic_fetch_add(&plugin_count, 1) + 1);

	if (plugin == 0 || loading == 0 || !hook_begin())
		return;
	values[0] = instance_for((struct instance_key){ store, plugin }, loading);
	values[1] = store;
	if (!pointer_map_put(&plugins, (const void *)plugin, values))
		instance_forget_store(store);
	hook_end();
}

HOOK(extism_plugin_new);
uintptr_t extism_plugin_new(uintptr_t wasm, uintptr_t size, uintptr_t functions,
			    uintptr_t function_count, uintptr_t with_wasi, uintptr_t error)
{
	__typeof__(&extism_plugin_new) real = REAL(extism_plugin_new);
	struct making making = begin(real, wasm, size);
	uintptr_t plugin = real(wasm, size, functions, function_count, with_wasi, error);

	plugin_made(plugin, end(making, plugin));
	return plugin;
}

HOOK(extism_plugin_new_with_fuel_limit);
uintptr_t extism_plugin_new_with_fuel_limit(uintptr_t wasm, uintptr_t size, uintptr_t functions,
					    uintptr_t function_count, uintptr_t with_wasi,
					    uintptr_t fuel, uintptr_t error)
{
	__typeof__(&extism_plugin_new_with_fuel_limit) real =
		REAL(extism_plugin_new_with_fuel_limit);
	struct making making = begin(real, wasm, size);
	uintptr_t plugin = real(wasm, size, functions, function_count, with_wasi, fuel, error);

	plugin_made(plugin, end(making, plugin));
	return plugin;
}

HOOK(extism_compiled_plugin_new);
uintptr_t extism_compiled_plugin_new(uintptr_t wasm, uintptr_t size, uintptr_t functions,
				     uintptr_t function_count, uintptr_t with_wasi, uintptr_t error)
{
	__typeof__(&extism_compiled_plugin_new) real = REAL(extism_compiled_plugin_new);
	struct making making = begin(real, wasm, size);
	uintptr_t compiled = real(wasm, size, functions, function_count, with_wasi, error);

	end(making, compiled);
	return compiled;
}

HOOK(extism_compiled_plugin_new_with_fuel_limit);
uintptr_t extism_compiled_plugin_new_with_fuel_limit(uintptr_t wasm, uintptr_t size,
						     uintptr_t functions, uintptr_t function_count,
						     uintptr_t with_wasi, uintptr_t fuel,
						     uintptr_t error)
{
	__typeof__(&extism_compiled_plugin_new_with_fuel_limit) real =
		REAL(extism_compiled_plugin_new_with_fuel_limit);
	struct making making = begin(real, wasm, size);
	uintptr_t compiled = real(wasm, size, functions, function_count, with_wasi, fuel, error);

	end(making, compiled);
	return compiled;
}

HOOK(extism_plugin_new_from_compiled);
uintptr_t extism_plugin_new_from_compiled(uintptr_t compiled, uintptr_t error)
{
	__typeof__(&extism_plugin_new_from_compiled) real = REAL(extism_plugin_new_from_compiled);
	uintptr_t plugin = real(compiled, error);
	uint32_t loading = 0;

	if (hook_begin()) {
		loading = load_of_handle((const void *)compiled);
		hook_end();
	}
	plugin_made(plugin, loading);
	return plugin;
}

HOOK(extism_compiled_plugin_free);
void extism_compiled_plugin_free(uintptr_t compiled)
{
	__typeof__(&extism_compiled_plugin_free) real = REAL(extism_compiled_plugin_free);

	if (hook_begin()) {
		load_forget((const void *)compiled);
		hook_end();
	}
	real(compiled);
}

HOOK(extism_plugin_free);
void extism_plugin_free(uintptr_t plugin, uintptr_t unused)
{
	__typeof__(&extism_plugin_free) real = REAL(extism_plugin_free);
	uintptr_t values[POINTER_MAP_VALUES];

	if (hook_begin()) {
		if (pointer_map_take(&plugins, (const void *)plugin, values))
			instance_forget_store(values[1]);
		load_forget((const void *)plugin);
		hook_end();
	}
	real(plugin, unused);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct activation enter(uintptr_t plugin, void *frame)
{
	struct activation activation = { 0 };
	uintptr_t values[POINTER_MAP_VALUES];

	if (!hook_begin())
		return activation;
	if (pointer_map_get(&plugins, (const void *)plugin, values))
		activation = guest_enter((uint32_t)values[0], (uintptr_t)frame, 0, NULL, 0);
	hook_end();
	return activation;
}

HOOK(extism_plugin_call);
uintptr_t extism_plugin_call(uintptr_t plugin, uintptr_t function, uintptr_t input, uintptr_t size,
			     uintptr_t unused)
{
	__typeof__(&extism_plugin_call) real = REAL(extism_plugin_call);
	struct activation activation = enter(plugin, __builtin_frame_address(0));
	uintptr_t result = real(plugin, function, input, size, unused);

	guest_leave(activation);
	return result;
}

HOOK(extism_plugin_call_with_host_context);
uintptr_t extism_plugin_call_with_host_context(uintptr_t plugin, uintptr_t function,
					       uintptr_t input, uintptr_t size,
					       uintptr_t host_context)
{
	__typeof__(&extism_plugin_call_with_host_context) real =
		REAL(extism_plugin_call_with_host_context);
	struct activation activation = enter(plugin, __builtin_frame_address(0));
	uintptr_t result = real(plugin, function, input, size, host_context);

	guest_leave(activation);
	return result;
}

/* ---- what the kernel's code is run for ------------------------------------------------------- */

/* It is asked something about PLUGIN. FRAME: of the wrapper. */
static uintptr_t ask(uintptr_t (*real)(uintptr_t plugin, uintptr_t unused), uintptr_t plugin,
		     uintptr_t unused, void *frame)
{
	struct activation activation = enter(plugin, frame);
	uintptr_t result = real(plugin, unused);

	guest_leave(activation);
	return result;
}

HOOK(extism_plugin_error);
uintptr_t extism_plugin_error(uintptr_t plugin, uintptr_t unused)
{
	return ask(REAL(extism_plugin_error), plugin, unused, __builtin_frame_address(0));
}

HOOK(extism_plugin_output_length);
uintptr_t extism_plugin_output_length(uintptr_t plugin, uintptr_t unused)
{
	return ask(REAL(extism_plugin_output_length), plugin, unused, __builtin_frame_address(0));
}

HOOK(extism_plugin_output_data);
uintptr_t extism_plugin_output_data(uintptr_t plugin, uintptr_t unused)
{
	return ask(REAL(extism_plugin_output_data), plugin, unused, __builtin_frame_address(0));
}

HOOK(extism_plugin_reset);
uintptr_t extism_plugin_reset(uintptr_t plugin, uintptr_t unused)
{
	return ask(REAL(extism_plugin_reset), plugin, unused, __builtin_frame_address(0));
}
