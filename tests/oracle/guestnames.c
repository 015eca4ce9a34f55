/* SPDX-License-Identifier: MIT */
/*
 * guestnames.c - what the engine's own guest profiler calls functions: FILE.wasm OUT.json
 *
 * Runs FILE's export `run` with a sample at every check of the epoch, so that each function that is
 * called is in the profile (Firefox's format) once at least. Imports get default values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <wasmtime.h>

static wasmtime_guestprofiler_t *profiler;
static wasmtime_store_t *store;

static void check(const char *what, wasmtime_error_t *error, wasm_trap_t *trap)
{
	wasm_byte_vec_t text = { 0 };

	if (error == NULL && trap == NULL)
		return;
	if (error != NULL)
		wasmtime_error_message(error, &text);
	else
		wasm_trap_message(trap, &text);
	fprintf(stderr, "guestnames: %s: %.*s\n", what, (int)text.size, text.data);
	exit(1);
}

/* A deadline of no epochs more: the next check calls again. */
static wasmtime_error_t *on_epoch(const wasmtime_context_t *context, void *nothing, uint64_t *delta,
				  wasmtime_update_deadline_kind_t *kind)
{
	(void)context, (void)nothing;
	wasmtime_guestprofiler_sample(profiler, store, 1000);
	*delta = 0;
	*kind = WASMTIME_UPDATE_DEADLINE_CONTINUE;
	return NULL;
}

static wasmtime_module_t *load(wasm_engine_t *engine, const char *path)
{
	wasmtime_module_t *module = NULL;
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		exit(2);
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
		exit(2);
	fclose(file);
	check("module", wasmtime_module_new(engine, bytes, (size_t)size, &module), NULL);
	free(bytes);
	return module;
}

static void run(wasm_engine_t *engine, wasmtime_module_t *module)
{
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_linker_t *linker = wasmtime_linker_new(engine);
	wasmtime_instance_t instance;
	wasmtime_extern_t export;
	wasm_trap_t *trap = NULL;

	wasmtime_context_set_epoch_deadline(context, 1);
	wasmtime_store_epoch_deadline_callback(store, on_epoch, NULL, NULL);
	wasmtime_engine_increment_epoch(engine);
	check("imports",
	      wasmtime_linker_define_unknown_imports_as_default_values(linker, context, module),
	      NULL);
	check("instance", wasmtime_linker_instantiate(linker, context, module, &instance, &trap),
	      trap);
	if (!wasmtime_instance_export_get(context, &instance, "run", 3, &export))
		exit(3);
	check("run", wasmtime_func_call(context, &export.of.func, NULL, 0, NULL, 0, &trap), trap);
}

int main(int count, char **words)
{
	wasm_config_t *config = wasm_config_new();
	wasmtime_guestprofiler_modules_t modules = { 0 };
	wasm_byte_vec_t profile = { 0 };
	wasm_name_t name, module_name;
	wasm_engine_t *engine;
	FILE *out;

	if (count != 3)
		return 2;
	wasmtime_config_epoch_interruption_set(config, true);
	engine = wasm_engine_new_with_config(config);
	modules.mod = load(engine, words[1]);
	wasm_name_new_from_string(&name, "names");
	wasm_name_new_from_string(&module_name, "module");
	modules.name = &module_name;
	profiler = wasmtime_guestprofiler_new(engine, &name, 1000000, &modules, 1);
	store = wasmtime_store_new(engine, NULL, NULL);
	run(engine, (wasmtime_module_t *)modules.mod);
	check("finish", wasmtime_guestprofiler_finish(profiler, &profile), NULL);
	out = fopen(words[2], "wb");
	if (out == NULL || fwrite(profile.data, 1, profile.size, out) != profile.size)
		return 2;
	return fclose(out);
}
