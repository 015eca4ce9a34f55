/* SPDX-License-Identifier: MIT */
/*
 * host.c - `host GUEST EXPORT cpu_ms=N [instances=N] [rounds=N] [calls=N] [argument=N] [way=WORD]
 * [perf=1] [jit=1] [open=FILE] [name=TEXT] [linger_ms=N]`: a guest on WAMR's own API,
 * wasm_export.h. GUEST is wasm or what wamrc makes of it; FILE is read before, as by hosts that
 * compare hashes; TEXT is the module's name.
 *
 * Calls EXPORT(about 1000) of each instance in turn until the thread has used cpu_ms of CPU time,
 * and all of it again, module included, in each round. Ways are by wasm_runtime_call_wasm (raw),
 * _a, _v, _call_indirect (table), wasm_application_execute_func (func) and _main (main). The guest
 * may import env.work, which burns CPU time in the host, env.sleep, receive and lock, which wait so
 * many microseconds, and env.again, which calls the guest's `callback`. Prints `done INSTANCES`.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wasm_export.h>

enum { INSTANCES_MAX = 16, MEAN = 1000, STACK = 64 << 10 };

static long cpu_ms = 100, instance_count = 1, rounds = 1, calls, argument, perf, jit, linger_ms;
static char way[16] = "raw", opened[512], given_name[64];
static volatile uint32_t burned = 1;

static void die(const char *what)
{
	fprintf(stderr, "host: %s\n", what);
	exit(1);
}

static long used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* ---- what guests import ---------------------------------------------------------------------- */

__attribute__((noinline)) static void work(wasm_exec_env_t env, uint32_t count)
{
	(void)env;
	for (uint32_t i = 0; i < count * 100; i++)
		burned = burned * 1664525 + 1013904223;
}

static void wait_us(uint64_t us)
{
	struct timespec wait = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

	while (nanosleep(&wait, &wait) != 0)
		continue;
}

static void nap(wasm_exec_env_t env, uint32_t us)
{
	(void)env;
	wait_us(us);
}

static void again(wasm_exec_env_t env, uint32_t k)
{
	wasm_module_inst_t instance = wasm_runtime_get_module_inst(env);
	wasm_function_inst_t function = wasm_runtime_lookup_function(instance, "callback");

	if (function == NULL || !wasm_runtime_call_wasm(env, function, 1, &k))
		die("callback");
}

static NativeSymbol imports[] = {
	{ "work", work, "(i)", NULL },	 { "sleep", nap, "(i)", NULL },
	{ "receive", nap, "(i)", NULL }, { "lock", nap, "(i)", NULL },
	{ "again", again, "(i)", NULL },
};

/* ---- the guest ------------------------------------------------------------------------------- */

static uint8_t *read_file(const char *path, uint32_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long length;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0)
		die(path);
	rewind(file);
	bytes = malloc((size_t)length + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length)
		die(path);
	fclose(file);
	*size = (uint32_t)length;
	return bytes;
}

/* A guest whose calls take equally long may fall into step with the clock that samples it. */
static uint32_t next_argument(void)
{
	static uint32_t random = 1;

	if (argument != 0)
		return (uint32_t)argument;
	random = random * 1664525 + 1013904223;
	return MEAN / 2 + (random >> 8) % MEAN;
}

struct running {
	wasm_module_inst_t instance;
	wasm_exec_env_t env;
	wasm_function_inst_t function;
};

static bool call(const struct running *running, const char *name)
{
	uint32_t k = next_argument();
	wasm_val_t value = { .kind = WASM_I32, .of.i32 = (int32_t)k };
	char text[16], *words[] = { text, text };

	snprintf(text, sizeof(text), "%u", k);
	if (strcmp(way, "a") == 0)
		return wasm_runtime_call_wasm_a(running->env, running->function, 0, NULL, 1,
						&value);
	if (strcmp(way, "v") == 0)
		return wasm_runtime_call_wasm_v(running->env, running->function, 0, NULL, 1, k);
	if (strcmp(way, "table") == 0)
		return wasm_runtime_call_indirect(running->env, 0, 1, &k);
	if (strcmp(way, "func") == 0)
		return wasm_application_execute_func(running->instance, name, 1, words);
	if (strcmp(way, "main") == 0)
		return wasm_application_execute_main(running->instance, 1, words);
	return wasm_runtime_call_wasm(running->env, running->function, 1, &k);
}

static void start(wasm_module_t module, const char *name, struct running *running)
{
	char error[128] = "";

	running->instance = wasm_runtime_instantiate(module, STACK, STACK, error, sizeof(error));
	if (running->instance == NULL)
		die(error);
	running->env = wasm_runtime_create_exec_env(running->instance, STACK);
	running->function = wasm_runtime_lookup_function(running->instance, name);
	if (running->env == NULL || running->function == NULL)
		die("no such export");
}

static void run(const char *path, const char *name)
{
	long end = used_ms() + cpu_ms;
	struct running running[INSTANCES_MAX];
	char error[128] = "";
	uint32_t size;
	uint8_t *bytes = read_file(path, &size);
	LoadArgs args = { .name = given_name };
	wasm_module_t module =
		given_name[0] != '\0'
			? wasm_runtime_load_ex(bytes, size, &args, error, sizeof(error))
			: wasm_runtime_load(bytes, size, error, sizeof(error));

	if (module == NULL)
		die(error);
	for (long i = 0; i < instance_count; i++)
		start(module, name, &running[i]);
	for (long done = 0; calls != 0 ? done < calls : done == 0 || used_ms() < end; done++) {
		for (long i = 0; i < instance_count; i++)
			if (!call(&running[i], name))
				die(wasm_runtime_get_exception(running[i].instance));
	}
	wait_us((uint64_t)linger_ms * 1000);
	for (long i = 0; i < instance_count; i++) {
		wasm_runtime_destroy_exec_env(running[i].env);
		wasm_runtime_deinstantiate(running[i].instance);
	}
	wasm_runtime_unload(module);
	free(bytes);
}

static void take_option(const char *word)
{
	if (sscanf(word, "cpu_ms=%ld", &cpu_ms) != 1 &&
	    sscanf(word, "instances=%ld", &instance_count) != 1 &&
	    sscanf(word, "rounds=%ld", &rounds) != 1 && sscanf(word, "calls=%ld", &calls) != 1 &&
	    sscanf(word, "argument=%ld", &argument) != 1 && sscanf(word, "perf=%ld", &perf) != 1 &&
	    sscanf(word, "jit=%ld", &jit) != 1 && sscanf(word, "linger_ms=%ld", &linger_ms) != 1 &&
	    sscanf(word, "way=%15s", way) != 1 && sscanf(word, "open=%511s", opened) != 1 &&
	    sscanf(word, "name=%63s", given_name) != 1)
		die(word);
}

int main(int argc, char **argv)
{
	RuntimeInitArgs init = {
		.mem_alloc_type = Alloc_With_System_Allocator,
		.native_module_name = "env",
		.native_symbols = imports,
		.n_native_symbols = sizeof(imports) / sizeof(imports[0]),
	};
	uint32_t size;

	if (argc < 3)
		die("GUEST EXPORT [OPTION=N]...");
	for (int i = 3; i < argc; i++)
		take_option(argv[i]);
	if (instance_count < 1 || instance_count > INSTANCES_MAX)
		die("instances");
	if (opened[0] != '\0')
		free(read_file(opened, &size));
	init.enable_linux_perf = perf != 0;
	init.running_mode = jit != 0 ? Mode_LLVM_JIT : Mode_Interp;
	init.llvm_jit_opt_level = 3;
	init.llvm_jit_size_level = 3;
	if (!wasm_runtime_full_init(&init))
		die("no runtime");
	for (long i = 0; i < rounds; i++)
		run(argv[1], argv[2]);
	wasm_runtime_destroy();
	printf("done %ld\n", instance_count);
	return 0;
}
