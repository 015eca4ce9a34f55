/* SPDX-License-Identifier: MIT */
/*
 * prepare_host.c - what starting a profile costs: from a prepared set of ours, and with the
 * engine's own guest profiler, of the same module in the same process, in turn.
 *
 * usage: prepare_host MODULE.wasm CACHE.cwasm ROUNDS, under the preload. CACHE is made when it is
 * not there. Prints microseconds of the thread's CPU time: "set N", "ours N ..." and "engine N
 * ...", one figure a round, and "functions N", "bytes N" (heap that one started profile of ours
 * holds).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wasmtime.h>

#include "preload/guestprof.h"
#include "tests/bench/engine_host.h"

static double start_ours(guestprof_module_set *set)
{
	guestprof_profile *profile;
	double begin = thread_cpu_us();

	if (guestprof_profile_new("bench", 1000000, set, &profile) != 0)
		exit(1);
	begin = thread_cpu_us() - begin;
	guestprof_profile_drop(profile);
	return begin;
}

static double start_engines(wasm_engine_t *engine, const wasmtime_module_t *module)
{
	wasm_name_t name;
	wasmtime_guestprofiler_modules_t modules = { .name = &name, .mod = module };
	wasmtime_guestprofiler_t *profiler;
	double begin;

	wasm_name_new_from_string(&name, "bench");
	begin = thread_cpu_us();
	profiler = wasmtime_guestprofiler_new(engine, &name, 1000000, &modules, 1);
	begin = thread_cpu_us() - begin;
	wasmtime_guestprofiler_delete(profiler);
	wasm_byte_vec_delete(&name);
	return begin;
}

static size_t bytes_of_one(guestprof_module_set *set)
{
	guestprof_profile *profile;
	size_t before = mallinfo2().uordblks, after;

	if (guestprof_profile_new("bench", 1000000, set, &profile) != 0)
		exit(1);
	after = mallinfo2().uordblks;
	guestprof_profile_drop(profile);
	return after - before;
}

int main(int argc, char **argv)
{
	wasm_engine_t *engine = wasm_engine_new();
	wasmtime_module_t *module;
	guestprof_module_set *set;
	const void *modules[1];
	char why[200];
	double begin;

	if (argc != 4)
		return 2;
	if (access(argv[2], R_OK) != 0)
		compile(engine, argv[1], argv[2]);
	check(wasmtime_module_deserialize_file(engine, argv[2], &module), "load");
	modules[0] = module;
	begin = thread_cpu_us();
	if (guestprof_set_new(engine, NULL, modules, 1, &set, why, sizeof(why)) != 0) {
		fprintf(stderr, "prepare_host: %s\n", why);
		return 1;
	}
	printf("set %.2f\nbytes %zu\n", thread_cpu_us() - begin, bytes_of_one(set));
	for (int round = 0; round < atoi(argv[3]); round++)
		printf("ours %.2f\nengine %.2f\n", start_ours(set), start_engines(engine, module));
	guestprof_set_unref(set);
	wasmtime_module_delete(module);
	wasm_engine_delete(engine);
	return 0;
}
