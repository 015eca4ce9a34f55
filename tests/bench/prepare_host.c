/* SPDX-License-Identifier: MIT */
/*
 * prepare_host.c - what preparing a module costs, and then starting a profile: from a prepared set
 * of ours, and with the engine's own guest profiler, of the same module in the same process, in
 * turn.
 *
 * usage: prepare_host MODULE.wasm CACHE.cwasm ROUNDS, under the preload. CACHE is made when it is
 * not there. Prints microseconds of CPU time, one figure a round: "prepare N" of our thread, from
 * the load to a set of the module, "set N" of the host's; "ours N" and "engine N" of the host's for
 * a profile's start; and "bytes N" (heap that one started profile of ours holds).
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wasmtime.h>

#include "preload/guestprof.h"
#include "tests/bench/engine_host.h"

enum { PREPARED = 6 };

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

/* CPU time of the library's thread so far. It must have gone to sleep. */
static double our_thread_us(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	double found = 0, ns;

	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file == NULL || fscanf(file, "%31s", name) != 1 || strcmp(name, "guestprof"))
			name[0] = '\0';
		if (file != NULL)
			fclose(file);
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		file = name[0] != '\0' ? fopen(path, "r") : NULL;
		if (file != NULL && fscanf(file, "%lf", &ns) == 1)
			found = ns / 1e3;
		if (file != NULL)
			fclose(file);
	}
	if (tasks != NULL)
		closedir(tasks);
	return found;
}

/* What our thread does in SETTLE_US; it drains 20 times a second whatever there is. */
enum { SETTLE_US = 150000 };
static double settle(void)
{
	double begin = our_thread_us();

	usleep(SETTLE_US);
	return our_thread_us() - begin;
}

static guestprof_module_set *prepare(wasm_engine_t *engine, const char *path,
				     wasmtime_module_t **module)
{
	double idle = settle(), ours = our_thread_us(), begin;
	guestprof_module_set *set;
	const void *modules[1];
	char why[200];

	check(wasmtime_module_deserialize_file(engine, path, module), "load");
	modules[0] = *module;
	begin = thread_cpu_us();
	if (guestprof_set_new(engine, NULL, modules, 1, &set, why, sizeof(why)) != 0) {
		fprintf(stderr, "prepare_host: %s\n", why);
		exit(1);
	}
	printf("set %.2f\n", thread_cpu_us() - begin);
	usleep(SETTLE_US);
	printf("prepare %.2f\n", our_thread_us() - ours - idle);
	return set;
}

int main(int argc, char **argv)
{
	wasm_engine_t *engine = wasm_engine_new();
	wasmtime_module_t *module;
	guestprof_module_set *set;

	if (argc != 4)
		return 2;
	if (access(argv[2], R_OK) != 0)
		compile(engine, argv[1], argv[2]);
	/* the first brings our thread and all that it opens; each load is a loading of its own */
	for (int round = 0; round < PREPARED; round++) {
		set = prepare(engine, argv[2], &module);
		if (round + 1 == PREPARED)
			break;
		guestprof_set_unref(set);
		wasmtime_module_delete(module);
	}
	printf("bytes %zu\n", bytes_of_one(set));
	for (int round = 0; round < atoi(argv[3]); round++) {
		/* the engine's leaves cold caches and much freed memory to whoever comes next */
		start_ours(set);
		printf("ours %.2f\n", start_ours(set));
		printf("engine %.2f\n", start_engines(engine, module));
	}
	guestprof_set_unref(set);
	wasmtime_module_delete(module);
	wasm_engine_delete(engine);
	return 0;
}
