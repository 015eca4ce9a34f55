/* SPDX-License-Identifier: MIT */
/* guest.c - the guest of the programs in this folder, on a real engine. */
#include "guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wasmtime.h>

enum { BAD = 99, ROUNDS = 40 };

static wasm_engine_t *engine;
static wasmtime_module_t *module;
static void (*import_called)(void);

static __thread struct {
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_instance_t instance;
} mine;

void guest_expect(bool condition, const char *what)
{
	if (condition)
		return;
	dprintf(STDERR_FILENO, "case: %s (errno %d)\n", what, errno);
	syscall(231 /* exit_group: whatever the case is about */, BAD);
}

static void load(const char *path, wasm_config_t *config)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(1 << 20);
	size_t size;

	guest_expect(file != NULL && bytes != NULL, path);
	size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	engine = wasm_engine_new_with_config(config);
	guest_expect(wasmtime_module_new(engine, bytes, size, &module) == NULL, "no module");
	free(bytes);
}

void guest_load(const char *path)
{
	load(path, wasm_config_new());
}

void guest_load_without_threads(const char *path)
{
	wasm_config_t *config = wasm_config_new();

	wasmtime_config_parallel_compilation_set(config, false);
	load(path, config);
}

static wasm_trap_t *on_import(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			      size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	(void)env, (void)caller, (void)args, (void)arg_count, (void)results, (void)result_count;
	import_called();
	return NULL;
}

void guest_import(void (*import)(void))
{
	import_called = import;
}

static size_t imports(wasmtime_extern_t *out)
{
	wasm_functype_t *type;

	if (import_called == NULL)
		return 0;
	type = wasm_functype_new_0_0();
	out->kind = WASMTIME_EXTERN_FUNC;
	wasmtime_func_new(mine.context, type, on_import, NULL, NULL, &out->of.func);
	wasm_functype_delete(type);
	return 1;
}

static void instantiate(void)
{
	wasmtime_extern_t import;
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;
	size_t count;

	if (mine.store != NULL)
		return;
	mine.store = wasmtime_store_new(engine, NULL, NULL);
	mine.context = wasmtime_store_context(mine.store);
	count = imports(&import);
	error = wasmtime_instance_new(mine.context, module, &import, count, &mine.instance, &trap);
	guest_expect(error == NULL && trap == NULL, "no instance");
}

bool guest_traps(const char *export_name, int32_t argument)
{
	wasmtime_val_t value = { .kind = WASMTIME_I32, .of.i32 = argument };
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;

	instantiate();
	guest_expect(wasmtime_instance_export_get(mine.context, &mine.instance, export_name,
						  strlen(export_name), &item),
		     "no such export");
	guest_expect(wasmtime_func_call(mine.context, &item.of.func, &value, 1, NULL, 0, &trap) ==
			     NULL,
		     "a call failed");
	if (trap == NULL)
		return false;
	wasm_trap_delete(trap);
	return true;
}

void guest_burn(unsigned int cpu_ms)
{
	uint64_t end = guest_cpu_ms() + cpu_ms;

	while (guest_cpu_ms() < end)
		guest_expect(!guest_traps("run", ROUNDS), "a trap");
}

void guest_drop(void)
{
	wasmtime_module_delete(module);
	wasm_engine_delete(engine);
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t guest_cpu_ms(void)
{
	return clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t guest_now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}
