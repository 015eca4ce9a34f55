/* SPDX-License-Identifier: MIT */
/*
 * host.c - `host GUEST.wasm EXPORT cpu_ms=N [instances=N] [rounds=N]`: a guest on wasm.h alone, as
 * any engine has it.
 *
 * Calls EXPORT(1000) of each instance in turn until the process has used cpu_ms of CPU time, and
 * all of it again, module included, in each round. Prints `done INSTANCES`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wasm.h>

enum { INSTANCES_MAX = 16, ARGUMENT = 1000 };

static long cpu_ms = 100, instance_count = 1, rounds = 1;

static void die(const char *what)
{
	fprintf(stderr, "host: %s\n", what);
	exit(1);
}

static long used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void read_file(const char *path, wasm_byte_vec_t *bytes)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		die(path);
	rewind(file);
	wasm_byte_vec_new_uninitialized(bytes, (size_t)size);
	if (fread(bytes->data, 1, (size_t)size, file) != (size_t)size)
		die(path);
	fclose(file);
}

static size_t find_export(const wasm_module_t *module, const char *name)
{
	wasm_exporttype_vec_t types;
	size_t found = SIZE_MAX;

	wasm_module_exports(module, &types);
	for (size_t i = 0; i < types.size; i++) {
		const wasm_name_t *given = wasm_exporttype_name(types.data[i]);
		size_t size = strlen(name);

		/* some engines count the 0 behind a name */
		if (given->size >= size && memcmp(given->data, name, size) == 0 &&
		    (given->size == size || given->data[size] == '\0'))
			found = i;
	}
	wasm_exporttype_vec_delete(&types);
	if (found == SIZE_MAX)
		die("no such export");
	return found;
}

struct running {
	wasm_instance_t *instance;
	wasm_extern_vec_t exports;
	wasm_func_t *function;
};

static void start(wasm_store_t *store, const wasm_module_t *module, size_t export,
		  struct running *running)
{
	wasm_extern_vec_t imports = WASM_EMPTY_VEC;
	wasm_trap_t *trap = NULL;

	running->instance = wasm_instance_new(store, module, &imports, &trap);
	if (running->instance == NULL)
		die("no instance");
	wasm_instance_exports(running->instance, &running->exports);
	running->function = wasm_extern_as_func(running->exports.data[export]);
}

static void call(const struct running *running)
{
	wasm_val_t values[] = { WASM_I32_VAL(ARGUMENT) };
	wasm_val_vec_t arguments = WASM_ARRAY_VEC(values), results = WASM_EMPTY_VEC;

	if (wasm_func_call(running->function, &arguments, &results) != NULL)
		die("trap");
}

static void run(wasm_engine_t *engine, const wasm_byte_vec_t *wasm, const char *name)
{
	long end = used_ms() + cpu_ms;
	wasm_store_t *store = wasm_store_new(engine);
	wasm_module_t *module = wasm_module_new(store, wasm);
	struct running running[INSTANCES_MAX];

	if (module == NULL)
		die("no module");
	for (long i = 0; i < instance_count; i++)
		start(store, module, find_export(module, name), &running[i]);
	do {
		for (long i = 0; i < instance_count; i++)
			call(&running[i]);
	} while (used_ms() < end);
	for (long i = 0; i < instance_count; i++) {
		wasm_extern_vec_delete(&running[i].exports);
		wasm_instance_delete(running[i].instance);
	}
	wasm_module_delete(module);
	wasm_store_delete(store);
}

static void take_option(const char *word)
{
	if (sscanf(word, "cpu_ms=%ld", &cpu_ms) != 1 &&
	    sscanf(word, "instances=%ld", &instance_count) != 1 &&
	    sscanf(word, "rounds=%ld", &rounds) != 1)
		die(word);
}

int main(int argc, char **argv)
{
	wasm_engine_t *engine = wasm_engine_new();
	wasm_byte_vec_t wasm;

	if (argc < 3)
		die("GUEST.wasm EXPORT [OPTION=N]...");
	for (int i = 3; i < argc; i++)
		take_option(argv[i]);
	if (instance_count < 1 || instance_count > INSTANCES_MAX)
		die("instances");
	read_file(argv[1], &wasm);
	for (long i = 0; i < rounds; i++)
		run(engine, &wasm, argv[2]);
	wasm_byte_vec_delete(&wasm);
	wasm_engine_delete(engine);
	printf("done %ld\n", instance_count);
	return 0;
}
