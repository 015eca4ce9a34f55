/* SPDX-License-Identifier: MIT */
/* load.c - the engine and the module of the test host, by each way that the C API has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct guest_bytes load_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct guest_bytes guest = { 0 };

	if (file == NULL) {
		fprintf(stderr, "host: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	fseek(file, 0, SEEK_END);
	guest.size = (size_t)ftell(file);
	rewind(file);
	guest.bytes = malloc(guest.size + 1);
	if (guest.bytes == NULL || fread(guest.bytes, 1, guest.size, file) != guest.size) {
		fprintf(stderr, "host: %s: cannot read\n", path);
		exit(1);
	}
	fclose(file);
	return guest;
}

wasm_engine_t *load_engine(const struct options *options)
{
	wasm_config_t *config = wasm_config_new();

	if (options->no_unwind_info)
		wasmtime_config_native_unwind_info_set(config, false);
	if (options->is_interpreted)
		check("target", wasmtime_config_target_set(config, "pulley64"), NULL);
	if (options->is_async) {
#if WASMTIME_VERSION_MAJOR < 43
		wasmtime_config_async_support_set(config, true);
#endif
#if WASMTIME_VERSION_MAJOR >= 45
		wasmtime_config_wasm_component_model_async_set(config, true);
#endif
		wasmtime_config_consume_fuel_set(config, true);
	}
	return wasm_engine_new_with_config(config);
}

static void write_file(const char *path, const wasm_byte_vec_t *bytes)
{
	FILE *file = fopen(path, "wb");

	if (file == NULL || fwrite(bytes->data, 1, bytes->size, file) != bytes->size ||
	    fclose(file) != 0) {
		fprintf(stderr, "host: %s: cannot write\n", path);
		exit(1);
	}
}

/* The module of a precompiled image; the one it was made from is gone by then. */
static wasmtime_module_t *precompiled(wasm_engine_t *engine, wasmtime_module_t *module,
				      const struct options *options)
{
	wasm_byte_vec_t image = { 0 };

	check("serialize", wasmtime_module_serialize(module, &image), NULL);
	wasmtime_module_delete(module);
	if (options->cwasm != NULL) {
		write_file(options->cwasm, &image);
		check("deserialize_file",
		      wasmtime_module_deserialize_file(engine, options->cwasm, &module), NULL);
	} else {
		check("deserialize",
		      wasmtime_module_deserialize(engine, (const uint8_t *)image.data, image.size,
						  &module),
		      NULL);
	}
	wasm_byte_vec_delete(&image);
	return module;
}

wasmtime_module_t *load_module(wasm_engine_t *engine, const struct options *options)
{
	struct guest_bytes guest = load_file(options->guest);
	wasmtime_module_t *module = NULL;

	check("module", wasmtime_module_new(engine, guest.bytes, guest.size, &module), NULL);
	free(guest.bytes);
	if (options->serialize || options->cwasm != NULL)
		module = precompiled(engine, module, options);
	return module;
}
