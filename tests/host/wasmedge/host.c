/* SPDX-License-Identifier: MIT */
/*
 * host.c - `host GUEST EXPORT [interpreter] [traps] [executor|registered|run|async|vmasync]
 * [buffer] cpu_ms=N [instances=N] [rounds=N] [argument=N]`: a guest on WasmEdge's C API.
 *
 * GUEST is a .wasm, one with code ahead of time in it, or a .so. Calls EXPORT(about argument) of
 * each instance in turn until the process has used cpu_ms of CPU time, and all of it again, module
 * included, in each round. Prints `done INSTANCES`.
 *
 * With `traps` each call must trap.
 *
 *   default     VMLoad, VMValidate, VMInstantiate, VMExecute
 *   executor    LoaderParse, ValidatorValidate, ExecutorInstantiate, ExecutorInvoke
 *   registered  VMRegisterModule, VMExecuteRegistered
 *   run         VMRunWasm: all at once, for each call
 *   async       with executor: ExecutorAsyncInvoke; else VMAsyncExecute
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wasmedge/wasmedge.h>

enum { INSTANCES_MAX = 16 };

static long cpu_ms = 100, instance_count = 1, rounds = 1, argument = 1000;
static bool interpreter, traps, executor, registered, run_whole, asynchronous, from_buffer;
static const char *path, *export;
static uint8_t *file_bytes;
static uint32_t file_size;
static WasmEdge_ConfigureContext *configuration;

static void die(const char *what)
{
	fprintf(stderr, "host: %s\n", what);
	exit(1);
}

static void must(WasmEdge_Result result, const char *what)
{
	if (!WasmEdge_ResultOK(result))
		die(what);
}

/* The guest was called. */
static void came_back(WasmEdge_Result result, const char *what)
{
	if (WasmEdge_ResultOK(result) == traps)
		die(what);
}

static long used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void read_file(void)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		die(path);
	rewind(file);
	file_bytes = malloc((size_t)size);
	file_size = (uint32_t)size;
	if (file_bytes == NULL || fread(file_bytes, 1, (size_t)size, file) != (size_t)size)
		die(path);
	fclose(file);
}

static WasmEdge_String text(const char *characters)
{
	return WasmEdge_StringWrap(characters, (uint32_t)strlen(characters));
}

static void finish(WasmEdge_Async *started)
{
	if (started == NULL)
		die("nothing started");
	came_back(WasmEdge_AsyncGet(started, NULL, 0), "asynchronous call");
	WasmEdge_AsyncDelete(started);
}

/* One way to hold an instance: those of its fields that the way needs. */
struct running {
	WasmEdge_VMContext *vm;
	WasmEdge_ASTModuleContext *module;
	WasmEdge_StoreContext *store;
	WasmEdge_ExecutorContext *executor;
	WasmEdge_ModuleInstanceContext *instance;
	WasmEdge_FunctionInstanceContext *function;
};

static void start_executor(struct running *running)
{
	WasmEdge_LoaderContext *loader = WasmEdge_LoaderCreate(configuration);
	WasmEdge_ValidatorContext *validator = WasmEdge_ValidatorCreate(configuration);

	must(from_buffer ? WasmEdge_LoaderParseFromBuffer(loader, &running->module, file_bytes,
							  file_size)
			 : WasmEdge_LoaderParseFromFile(loader, &running->module, path),
	     "parse");
	must(WasmEdge_ValidatorValidate(validator, running->module), "validate");
	WasmEdge_LoaderDelete(loader);
	WasmEdge_ValidatorDelete(validator);
	running->store = WasmEdge_StoreCreate();
	running->executor = WasmEdge_ExecutorCreate(configuration, NULL);
	must(WasmEdge_ExecutorInstantiate(running->executor, &running->instance, running->store,
					  running->module),
	     "instantiate");
	running->function = WasmEdge_ModuleInstanceFindFunction(running->instance, text(export));
	if (running->function == NULL)
		die("no such export");
}

static void start_vm(struct running *running)
{
	running->vm = WasmEdge_VMCreate(configuration, NULL);
	if (run_whole)
		return;
	if (registered) {
		must(from_buffer
			     ? WasmEdge_VMRegisterModuleFromBuffer(running->vm, text("guest"),
								   file_bytes, file_size)
			     : WasmEdge_VMRegisterModuleFromFile(running->vm, text("guest"), path),
		     "register");
		return;
	}
	must(from_buffer ? WasmEdge_VMLoadWasmFromBuffer(running->vm, file_bytes, file_size)
			 : WasmEdge_VMLoadWasmFromFile(running->vm, path),
	     "load");
	must(WasmEdge_VMValidate(running->vm), "validate");
	must(WasmEdge_VMInstantiate(running->vm), "instantiate");
}

static void call_executor(const struct running *running, const WasmEdge_Value *given)
{
	if (asynchronous)
		finish(WasmEdge_ExecutorAsyncInvoke(running->executor, running->function, given,
						    1));
	else
		came_back(WasmEdge_ExecutorInvoke(running->executor, running->function, given, 1,
						  NULL, 0),
			  "invoke");
}

static void call_whole(const struct running *running, const WasmEdge_Value *given)
{
	WasmEdge_VMContext *vm = running->vm;

	if (asynchronous)
		finish(WasmEdge_VMAsyncRunWasmFromFile(vm, path, text(export), given, 1));
	else if (from_buffer)
		came_back(WasmEdge_VMRunWasmFromBuffer(vm, file_bytes, file_size, text(export),
						       given, 1, NULL, 0),
			  "run");
	else
		came_back(WasmEdge_VMRunWasmFromFile(vm, path, text(export), given, 1, NULL, 0),
			  "run");
}

/* The calls of one round are alike, those of the next take another time: no clock falls into step.
 */
static void call(const struct running *running, long round)
{
	const WasmEdge_Value given =
		WasmEdge_ValueGenI32((int32_t)(argument * (50 + round * 37 % 101) / 100));
	WasmEdge_VMContext *vm = running->vm;

	if (executor)
		call_executor(running, &given);
	else if (run_whole)
		call_whole(running, &given);
	else if (registered && asynchronous)
		finish(WasmEdge_VMAsyncExecuteRegistered(vm, text("guest"), text(export), &given,
							 1));
	else if (registered)
		came_back(WasmEdge_VMExecuteRegistered(vm, text("guest"), text(export), &given, 1,
						       NULL, 0),
			  "execute");
	else if (asynchronous)
		finish(WasmEdge_VMAsyncExecute(vm, text(export), &given, 1));
	else
		came_back(WasmEdge_VMExecute(vm, text(export), &given, 1, NULL, 0), "execute");
}

static void stop(struct running *running)
{
	WasmEdge_ModuleInstanceDelete(running->instance);
	WasmEdge_ExecutorDelete(running->executor);
	WasmEdge_StoreDelete(running->store);
	WasmEdge_ASTModuleDelete(running->module);
	WasmEdge_VMDelete(running->vm);
}

static void run(void)
{
	struct running running[INSTANCES_MAX] = { 0 };
	long round = 0, end;

	for (long i = 0; i < instance_count; i++)
		executor ? start_executor(&running[i]) : start_vm(&running[i]);
	/* making code takes its own time */
	end = used_ms() + cpu_ms;
	do {
		for (long i = 0; i < instance_count; i++)
			call(&running[i], round);
		round++;
	} while (used_ms() < end);
	for (long i = 0; i < instance_count; i++)
		stop(&running[i]);
}

static bool take_word(const char *word, const char *name, bool *is_there)
{
	if (strcmp(word, name) != 0)
		return false;
	*is_there = true;
	return true;
}

static void take_option(const char *word)
{
	if (sscanf(word, "cpu_ms=%ld", &cpu_ms) != 1 &&
	    sscanf(word, "instances=%ld", &instance_count) != 1 &&
	    sscanf(word, "rounds=%ld", &rounds) != 1 &&
	    sscanf(word, "argument=%ld", &argument) != 1 &&
	    !take_word(word, "interpreter", &interpreter) && !take_word(word, "traps", &traps) &&
	    !take_word(word, "executor", &executor) &&
	    !take_word(word, "registered", &registered) && !take_word(word, "run", &run_whole) &&
	    !take_word(word, "async", &asynchronous) && !take_word(word, "buffer", &from_buffer))
		die(word);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("GUEST EXPORT [OPTION]...");
	path = argv[1];
	export = argv[2];
	for (int i = 3; i < argc; i++)
		take_option(argv[i]);
	if (instance_count < 1 || instance_count > INSTANCES_MAX)
		die("instances");
	if (traps)
		WasmEdge_LogOff();
	else
		WasmEdge_LogSetErrorLevel();
	configuration = WasmEdge_ConfigureCreate();

	WasmEdge_ConfigureSetForceInterpreter(configuration, interpreter);
	if (from_buffer)
		read_file();
	for (long i = 0; i < rounds; i++)
		run();
	WasmEdge_ConfigureDelete(configuration);
	free(file_bytes);
	printf("done %ld\n", instance_count);
	return 0;
}
