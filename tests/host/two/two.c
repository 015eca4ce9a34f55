/* SPDX-License-Identifier: MIT */
/*
 * two.c - `two [OPTION=N]... WAY ENGINE GUEST WAY ENGINE GUEST`: two engines in one process, from
 * two threads. Options: rounds=N closings, calls=N in each, apart=1, sets=1.
 *
 * The first is opened once and called on one thread for as long as the second, on another, is
 * opened, used and closed, rounds times; 500 times at least. Each call's result is checked. WAY is
 * how the functions are found:
 *
 *   linked          by the program itself, which is linked with ENGINE
 *   handle, version dlopen with RTLD_LOCAL, then dlsym or dlvsym
 *   global          dlopen with RTLD_GLOBAL, then dlsym(RTLD_DEFAULT)
 *   space           dlmopen into a namespace of its own, then dlsym
 *   calls, jumps, pointers   ENGINE is a plugin.c
 *   deep            the same as jumps, opened with RTLD_DEEPBIND: its calls go past a preload
 *
 * With apart=1 each round has a thread of its own, and the library is unmapped in between if it
 * lets itself be: a library stays while a thread lives that ran it. Prints what was called how
 * often, descriptors and memory gained over the rounds to standard error, and `done`.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "preload/guestprof.h"

enum { LEAST_CALLS = 500 }; /* of the first, however quick the second is */

struct side {
	const char *way, *library;
	wasm_byte_vec_t wasm;
	uint64_t start; /* where the guest's chain starts */
	void *handle;
	struct api api;
	long calls;
};

struct guest {
	wasm_engine_t *engine;
	wasm_store_t *store;
	wasm_module_t *module;
	wasm_instance_t *instance;
	wasm_extern_vec_t exports;
	wasm_func_t *run;
};

static long rounds = 1, calls = 10, apart, sets;
static atomic_bool is_over;
static _Atomic(const struct guest *) staying; /* the first side's, once it is there */

__attribute__((noreturn)) static void die(const char *what)
{
	const char *why = dlerror();

	fprintf(stderr, "two: %s: %s\n", what, why != NULL ? why : "");
	exit(1);
}

static void read_file(const char *path, wasm_byte_vec_t *bytes)
{
	FILE *file = fopen(path, "rb");

	bytes->data = malloc(1 << 16);
	if (file == NULL || (bytes->size = fread(bytes->data, 1, 1 << 16, file)) == 0)
		die(path);
	fclose(file);
}

/* ---- ways to find an engine -------------------------------------------------------------------
 */

static void *must(void *found, const char *what)
{
	if (found == NULL)
		die(what);
	return found;
}

static bool is(const struct side *side, const char *way)
{
	return strcmp(side->way, way) == 0;
}

/* No engine gives its functions versions, so what asks for one asks again without. */
static void *find(const struct side *side, void *handle, const char *name)
{
	void *found = is(side, "version") ? dlvsym(handle, name, "ANY_1.0") : NULL;

	return must(found != NULL ? found : dlsym(handle, name), name);
}

static void find_all(struct side *side, void *handle)
{
#define API_FIND(name) side->api.name = (__typeof__(&name))find(side, handle, #name)
	API_FUNCTIONS(API_FIND);
}

static void ask_plugin(struct side *side)
{
	const struct api *(*ask)(void);
	char name[32];

	snprintf(name, sizeof(name), "plugin_%s", is(side, "deep") ? "jumps" : side->way);
	ask = (const struct api *(*)(void))must(dlsym(side->handle, name), name);
	side->api = *ask();
}

#ifdef LINKED
static void find_linked(struct side *side)
{
#define API_LINKED(name) side->api.name = name
	API_FUNCTIONS(API_LINKED);
}
#else
static void find_linked(struct side *side)
{
	(void)side;
	die("not linked with an engine");
}
#endif

static int mode_of(const struct side *side)
{
	if (is(side, "deep"))
		return RTLD_LAZY | RTLD_DEEPBIND;
	if (is(side, "jumps"))
		return RTLD_LAZY;
	return RTLD_NOW | (is(side, "global") ? RTLD_GLOBAL : RTLD_LOCAL);
}

static void open_engine(struct side *side)
{
	if (is(side, "linked")) {
		find_linked(side);
		return;
	}
	if (is(side, "space"))
		side->handle = dlmopen(LM_ID_NEWLM, side->library, RTLD_NOW);
	else
		side->handle = dlopen(side->library, mode_of(side));
	must(side->handle, side->library);
	if (is(side, "global"))
		find_all(side, RTLD_DEFAULT);
	else if (is(side, "calls") || is(side, "jumps") || is(side, "pointers") || is(side, "deep"))
		ask_plugin(side);
	else
		find_all(side, side->handle);
}

static void close_engine(struct side *side)
{
	if (side->handle != NULL && dlclose(side->handle) != 0)
		die("dlclose");
	side->handle = NULL;
}

/* ---- guests -----------------------------------------------------------------------------------
 */

/* An engine whose compiler has threads is never unmapped: wasmtime's can do without them. */
static wasm_engine_t *make_engine(const struct side *side)
{
	void (*set)(wasm_config_t *, bool) = NULL;
	__typeof__(&wasm_engine_new_with_config) make;
	__typeof__(&wasm_config_new) configure;
	wasm_config_t *config;

	if (apart && side->handle != NULL)
		set = (void (*)(wasm_config_t *, bool))dlsym(
			side->handle, "wasmtime_config_parallel_compilation_set");
	if (set == NULL)
		return side->api.wasm_engine_new();
	make = (__typeof__(make))dlsym(side->handle, "wasm_engine_new_with_config");
	configure = (__typeof__(configure))dlsym(side->handle, "wasm_config_new");
	config = configure();
	set(config, false);
	return make(config);
}

static void begin(const struct side *side, struct guest *guest)
{
	const struct api *api = &side->api;
	wasm_extern_vec_t imports = WASM_EMPTY_VEC;
	wasm_trap_t *trap = NULL;

	guest->engine = must(make_engine(side), "engine");
	guest->store = must(api->wasm_store_new(guest->engine), "store");
	guest->module = must(api->wasm_module_new(guest->store, &side->wasm), "module");
	guest->instance = must(api->wasm_instance_new(guest->store, guest->module, &imports, &trap),
			       "instance");
	api->wasm_instance_exports(guest->instance, &guest->exports);
	guest->run = must(api->wasm_extern_as_func(guest->exports.data[0]), "function");
}

static void end(const struct side *side, struct guest *guest)
{
	const struct api *api = &side->api;

	api->wasm_extern_vec_delete(&guest->exports);
	api->wasm_instance_delete(guest->instance);
	api->wasm_module_delete(guest->module);
	api->wasm_store_delete(guest->store);
	api->wasm_engine_delete(guest->engine);
}

/* Calls of different lengths: a clock must not fall into step with them. */
static void call(struct side *side, const struct guest *guest)
{
	int32_t steps = 50000 + (int32_t)(side->calls % 64) * 1237;
	wasm_val_t argument = WASM_I32_VAL(steps), result = WASM_INIT_VAL;
	wasm_val_vec_t arguments = { 1, &argument }, results = { 1, &result };
	uint64_t expected = side->start;

	if (side->api.wasm_func_call(guest->run, &arguments, &results) != NULL)
		die("trap");
	for (int32_t i = 0; i < steps; i++)
		expected = expected * 6364136223846793005u + 1442695040888963407u;
	if (result.kind != WASM_I64 || (uint64_t)result.of.i64 != expected)
		die("a wrong result");
	side->calls++;
}

/* ---- sets of modules ---------------------------------------------------------------------------
 */

/* What guestprof.h says to a set of these modules, made by ENGINE. */
static int ask(const wasm_engine_t *engine, const struct guest *one, const struct guest *other)
{
	const void *modules[] = { one->module, other != NULL ? other->module : NULL };
	guestprof_module_set *set = NULL;
	int answer = guestprof_set_new(engine, NULL, modules, other != NULL ? 2 : 1, &set, NULL, 0);

	guestprof_set_unref(set);
	return answer;
}

static void ask_for_sets(const struct guest *own)
{
	const struct guest *other = atomic_load(&staying);

	fprintf(stderr, "two: sets of one engine %d %d, of both %d %d, of any %d\n",
		ask(own->engine, own, NULL), ask(other->engine, other, NULL),
		ask(own->engine, own, other), ask(other->engine, own, other),
		ask(NULL, own, other));
}

/* ---- the two threads --------------------------------------------------------------------------
 */

static void *stay(void *argument)
{
	struct side *side = argument;
	struct guest guest;

	open_engine(side);
	begin(side, &guest);
	atomic_store(&staying, &guest);
	do
		call(side, &guest);
	while (!atomic_load(&is_over) || side->calls < LEAST_CALLS);
	end(side, &guest);
	close_engine(side);
	return NULL;
}

static void *one_round(void *argument)
{
	struct side *side = argument;
	struct guest guest;

	open_engine(side);
	begin(side, &guest);
	if (sets && side->calls == 0)
		ask_for_sets(&guest);
	for (long i = 0; i < calls; i++)
		call(side, &guest);
	end(side, &guest);
	return NULL;
}

static long count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	long count = 0;

	while (folder != NULL && readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2)
		die("statm");
	fclose(file);
	return resident * 4;
}

static void do_round(struct side *side)
{
	pthread_t thread;

	if (!apart) {
		one_round(side);
	} else {
		pthread_create(&thread, NULL, one_round, side);
		pthread_join(thread, NULL);
	}
	close_engine(side);
}

static void *come_and_go(void *argument)
{
	long warm = rounds / 4, descriptors = 0, kb = 0;

	/* the first is the first to be opened */
	while (atomic_load(&staying) == NULL)
		sched_yield();
	for (long i = 0; i < rounds; i++) {
		if (i == warm) {
			descriptors = count_descriptors();
			kb = resident_kb();
		}
		do_round(argument);
	}
	fprintf(stderr, "two: %ld rounds gained %ld descriptors, %ld kB\n", rounds - warm,
		count_descriptors() - descriptors, resident_kb() - kb);
	atomic_store(&is_over, true);
	return NULL;
}

static bool is_option(const char *word)
{
	return sscanf(word, "rounds=%ld", &rounds) == 1 || sscanf(word, "calls=%ld", &calls) == 1 ||
	       sscanf(word, "apart=%ld", &apart) == 1 || sscanf(word, "sets=%ld", &sets) == 1;
}

int main(int argc, char **argv)
{
	struct side sides[2] = { 0 };
	pthread_t threads[2];

	for (; argc > 1 && is_option(argv[1]); argc--)
		argv++;
	if (argc != 7)
		die("two [OPTION=N]... WAY ENGINE GUEST WAY ENGINE GUEST");
	for (int i = 0; i < 2; i++) {
		sides[i].way = argv[1 + 3 * i];
		sides[i].library = argv[2 + 3 * i];
		read_file(argv[3 + 3 * i], &sides[i].wasm);
		sides[i].start = (uint64_t)i + 1;
	}
	pthread_create(&threads[0], NULL, stay, &sides[0]);
	pthread_create(&threads[1], NULL, come_and_go, &sides[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fprintf(stderr, "two: %ld and %ld calls\n", sides[0].calls, sides[1].calls);
	printf("done\n");
	return 0;
}
