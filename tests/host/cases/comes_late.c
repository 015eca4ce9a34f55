/* SPDX-License-Identifier: MIT */
/*
 * comes_late.c - an engine that arrives by dlopen, some time after the start, is closed and opened
 * again. Arguments: libwasmtime.so, the guest, rounds. Linked with no engine.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wasmtime.h>

#define FIND(name) \
	__typeof__(&name) real_##name = (__typeof__(&name))must(dlsym(library, #name), #name)

static void *must(void *pointer, const char *what)
{
	if (pointer != NULL)
		return pointer;
	fprintf(stderr, "case: %s: %s\n", what, dlerror());
	exit(99);
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void round_of(void *library, const uint8_t *wasm, size_t size)
{
	FIND(wasm_engine_new);
	FIND(wasm_engine_delete);
	FIND(wasmtime_module_new);
	FIND(wasmtime_module_delete);
	FIND(wasmtime_store_new);
	FIND(wasmtime_store_context);
	FIND(wasmtime_store_delete);
	FIND(wasmtime_instance_new);
	FIND(wasmtime_instance_export_get);
	FIND(wasmtime_func_call);
	wasm_engine_t *engine = real_wasm_engine_new();
	wasmtime_store_t *store = real_wasmtime_store_new(engine, NULL, NULL);
	wasmtime_context_t *context = real_wasmtime_store_context(store);
	wasmtime_val_t argument = { .kind = WASMTIME_I32, .of.i32 = 40 };
	wasmtime_module_t *module = NULL;
	wasmtime_instance_t instance;
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;
	uint64_t end;

	if (real_wasmtime_module_new(engine, wasm, size, &module) != NULL ||
	    real_wasmtime_instance_new(context, module, NULL, 0, &instance, &trap) != NULL ||
	    !real_wasmtime_instance_export_get(context, &instance, "run", 3, &item))
		must(NULL, "guest");
	for (end = cpu_ms() + 300; cpu_ms() < end;)
		if (real_wasmtime_func_call(context, &item.of.func, &argument, 1, NULL, 0, &trap) !=
		    NULL)
			must(NULL, "call");
	real_wasmtime_store_delete(store);
	real_wasmtime_module_delete(module);
	real_wasm_engine_delete(engine);
}

int main(int argc, char **argv)
{
	const struct timespec while_alone = { .tv_nsec = 300000000 };
	uint8_t *bytes = malloc(1 << 20);
	FILE *file;
	size_t size;

	file = argc == 4 ? fopen(argv[2], "rb") : NULL;
	must(file, "usage: comes_late LIBRARY GUEST ROUNDS");
	size = fread(bytes, 1, 1 << 20, file);
	nanosleep(&while_alone, NULL);
	for (int i = 0; i < atoi(argv[3]); i++) {
		void *library = must(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "dlopen");

		round_of(library, bytes, size);
		dlclose(library);
	}
	printf("done\n");
	return 0;
}
