/* SPDX-License-Identifier: MIT */
/*
 * threads_host.c - an unmodified host whose threads run a WASI command again and again, each time
 * in an instance of its own, at most so many at once.
 *
 * usage: threads_host GUEST.wasm CACHE.cwasm THREADS INSTANCES WALL_S CPU_S [ARGUMENT]. Ends after
 * WALL_S seconds, or after CPU_S seconds of the process's CPU time, whichever comes first; the
 * guests' calls that are under way are finished. CACHE is made when it is not there, and the
 * guest's output goes nowhere. Prints the time at which main ends, CLOCK_MONOTONIC nanoseconds.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include <wasi.h>

#include "tests/bench/engine_host.h"

enum { MAX_THREADS = 64 };

static struct {
	wasm_engine_t *engine;
	wasmtime_linker_t *linker;
	wasmtime_module_t *module;
	const char *argument;
	sem_t places; /* of instances */
	uint64_t end_ns, cpu_ns;
} host;

static wasmtime_store_t *new_store(void)
{
	wasmtime_store_t *store = wasmtime_store_new(host.engine, NULL, NULL);
	const char *words[] = { "guest", host.argument };
	wasi_config_t *wasi = wasi_config_new();

	if (!wasi_config_set_argv(wasi, 2, words))
		exit(1);
	check(wasmtime_context_set_wasi(wasmtime_store_context(store), wasi), "wasi");
	return store;
}

static void run_once(void)
{
	wasmtime_store_t *store = new_store();
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_instance_t instance;
	wasm_trap_t *trap = NULL;
	wasmtime_extern_t start;

	check(wasmtime_linker_instantiate(host.linker, context, host.module, &instance, &trap),
	      "instantiate");
	if (trap != NULL || !wasmtime_instance_export_get(context, &instance, "_start", 6, &start))
		exit(1);
	check(wasmtime_func_call(context, &start.of.func, NULL, 0, NULL, 0, &trap), "call");
	if (trap != NULL)
		exit(1);
	wasmtime_extern_delete(&start);
	wasmtime_store_delete(store);
}

static bool is_over(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= host.end_ns ||
	       clock_ns(CLOCK_PROCESS_CPUTIME_ID) >= host.cpu_ns;
}

static void *work(void *unused)
{
	(void)unused;
	while (!is_over()) {
		sem_wait(&host.places);
		run_once();
		sem_post(&host.places);
	}
	return NULL;
}

static void load(const char *wasm, const char *cache)
{
	host.engine = wasm_engine_new();
	if (access(cache, R_OK) != 0)
		compile(host.engine, wasm, cache);
	check(wasmtime_module_deserialize_file(host.engine, cache, &host.module), "load");
	host.linker = wasmtime_linker_new(host.engine);
	check(wasmtime_linker_define_wasi(host.linker), "link");
}

int main(int argc, char **argv)
{
	int count = argc >= 7 ? atoi(argv[3]) : 0;
	pthread_t threads[MAX_THREADS];

	if (count < 1 || count > MAX_THREADS)
		return 2;
	host.argument = argc > 7 ? argv[7] : "1";
	sem_init(&host.places, 0, (unsigned int)atoi(argv[4]));
	load(argv[1], argv[2]);
	host.end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[5]) * 1e9);
	host.cpu_ns = (uint64_t)(atof(argv[6]) * 1e9);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	return 0;
}
