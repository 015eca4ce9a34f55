/* SPDX-License-Identifier: MIT */
/*
 * load_host.c - an unmodified host that loads one module again and again and times its own thread.
 *
 * usage: load_host MODULE.wasm CACHE.cwasm ROUNDS none|perfmap|jitdump
 * Compiles MODULE into CACHE when that is not there. Prints the CPU time that each load of CACHE
 * took on the calling thread, in microseconds, one a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wasmtime.h>

#include "tests/bench/engine_host.h"

int main(int argc, char **argv)
{
	wasm_config_t *config = wasm_config_new();
	wasm_engine_t *engine;

	if (argc != 5)
		return 2;
	if (strcmp(argv[4], "perfmap") == 0)
		wasmtime_config_profiler_set(config, WASMTIME_PROFILING_STRATEGY_PERFMAP);
	if (strcmp(argv[4], "jitdump") == 0)
		wasmtime_config_profiler_set(config, WASMTIME_PROFILING_STRATEGY_JITDUMP);
	engine = wasm_engine_new_with_config(config);
	if (access(argv[2], R_OK) != 0)
		compile(engine, argv[1], argv[2]);
	for (int round = 0; round < atoi(argv[3]); round++) {
		wasmtime_module_t *module;
		double begin = thread_cpu_us();

		check(wasmtime_module_deserialize_file(engine, argv[2], &module), "load");
		printf("%.1f\n", thread_cpu_us() - begin);
		wasmtime_module_delete(module);
	}
	wasm_engine_delete(engine);
	return 0;
}
