/* SPDX-License-Identifier: MIT */
/* async.c - two calls in two stores of the test host, polled in turn; the guests run on fibers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

enum { FUTURES = 2, FUEL_PER_POLL = 2000000 };

struct task {
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_func_t function;
	wasmtime_val_t args[1];
	wasmtime_call_future_t *future;
	wasm_trap_t *trap;
	wasmtime_error_t *error;
};

static bool pending_once(void *env)
{
	uint32_t *polls = env;

	return (*polls)++ > 0;
}

/* env.work as an async function that is not ready at its first poll. */
static void work(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args, size_t arg_count,
		 wasmtime_val_t *results, size_t result_count, wasm_trap_t **trap,
		 wasmtime_async_continuation_t *continuation)
{
	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count, (void)trap;
	import_burn((uint32_t)args[0].of.i32);
	continuation->callback = pending_once;
	continuation->env = calloc(1, sizeof(uint32_t));
	continuation->finalizer = free;
}

static wasmtime_linker_t *linker_new(wasm_engine_t *engine)
{
	static const char *const names[] = { "work", "again" };
	wasmtime_linker_t *linker = wasmtime_linker_new(engine);

	for (size_t i = 0; i < 2; i++) {
		wasm_functype_t *type = wasm_functype_new_1_0(wasm_valtype_new(WASM_I32));

		check("define",
		      wasmtime_linker_define_async_func(linker, "env", 3, names[i],
							strlen(names[i]), type, work, NULL, NULL),
		      NULL);
		wasm_functype_delete(type);
	}
	return linker;
}

static void task_open(struct task *task, wasm_engine_t *engine, const wasmtime_module_t *module,
		      const struct options *options)
{
	wasmtime_linker_t *linker = linker_new(engine);
	wasmtime_instance_t instance;
	wasmtime_extern_t item;

	task->store = wasmtime_store_new(engine, NULL, NULL);
	task->context = wasmtime_store_context(task->store);
	check("fuel", wasmtime_context_set_fuel(task->context, UINT64_MAX / 2), NULL);
	check("yield", wasmtime_context_fuel_async_yield_interval(task->context, FUEL_PER_POLL),
	      NULL);
	task->future = wasmtime_linker_instantiate_async(linker, task->context, module, &instance,
							 &task->trap, &task->error);
	while (!wasmtime_call_future_poll(task->future))
		;
	wasmtime_call_future_delete(task->future);
	check("instantiate", task->error, task->trap);
	wasmtime_linker_delete(linker);
	if (!wasmtime_instance_export_get(task->context, &instance, options->export,
					  strlen(options->export), &item)) {
		fprintf(stderr, "host: no function %s\n", options->export);
		exit(1);
	}
	task->function = item.of.func;
}

static void task_start(struct task *task, const struct options *options)
{
	task->args[0] =
		(wasmtime_val_t){ .kind = WASMTIME_I32, .of.i32 = (int32_t)argument_next(options) };
	task->future = wasmtime_func_call_async(task->context, &task->function, task->args, 1, NULL,
						0, &task->trap, &task->error);
}

/* Polls once. True when the call is over. */
static bool task_poll(struct task *task)
{
	if (!wasmtime_call_future_poll(task->future))
		return false;
	wasmtime_call_future_delete(task->future);
	task->future = NULL;
	check("call", task->error, task->trap);
	return true;
}

/* One call of each, in turn, park_ms between two rounds. Returns the polls it took. */
static uint64_t both(struct task tasks[FUTURES], const struct options *options)
{
	uint64_t polls = 0;
	size_t running = FUTURES;

	for (size_t i = 0; i < FUTURES; i++)
		task_start(&tasks[i], options);
	while (running > 0) {
		for (size_t i = 0; i < FUTURES; i++) {
			if (tasks[i].future == NULL)
				continue;
			polls++;
			running -= task_poll(&tasks[i]);
		}
		if (running > 0 && options->park_ms > 0)
			usleep(options->park_ms * 1000);
	}
	return polls;
}

void async_run(wasm_engine_t *engine, const wasmtime_module_t *module,
	       const struct options *options)
{
	struct task tasks[FUTURES] = { 0 };
	uint64_t end_ms = call_cpu_ms() + options->cpu_ms, polls = 0;

	for (size_t i = 0; i < FUTURES; i++)
		task_open(&tasks[i], engine, module, options);
	for (uint64_t i = 0; options->cpu_ms > 0 ? call_cpu_ms() < end_ms : i < options->calls; i++)
		polls += both(tasks, options);
	if (options->cpu_ms > 0) /* how often they took turns is not the same in every run */
		printf("async: done\n");
	else
		printf("async: %s\n", polls > 2 * FUTURES ? "interleaved" : "not interleaved");
	for (size_t i = 0; i < FUTURES; i++)
		wasmtime_store_delete(tasks[i].store);
}
