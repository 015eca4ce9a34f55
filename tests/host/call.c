/* SPDX-License-Identifier: MIT */
/* call.c - stores, instances and calls of one thread of the test host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"

enum { ERRNO_MARK = 77 };

struct counts {
	uint64_t calls, traps;
	uint64_t errno_changes; /* calls that came back with another errno */
};

struct callee {
	wasmtime_context_t *context;
	wasmtime_func_t function;
};

uint64_t call_cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void instantiate(wasm_engine_t *engine, wasmtime_context_t *context,
			const wasmtime_module_t *module, const struct options *options,
			wasmtime_instance_t *instance)
{
	wasmtime_extern_t functions[4];
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;

	if (options->uses_linker) {
		wasmtime_linker_t *linker = wasmtime_linker_new(engine);

		import_define(linker);
		error = wasmtime_linker_instantiate(linker, context, module, instance, &trap);
		wasmtime_linker_delete(linker);
	} else {
		size_t count = import_functions(context, module, functions);

		error = wasmtime_instance_new(context, module, functions, count, instance, &trap);
	}
	check("instantiate", error, trap);
}

static struct callee callee_new(wasm_engine_t *engine, wasmtime_context_t *context,
				const wasmtime_module_t *module, const struct options *options)
{
	wasmtime_instance_t instance;
	wasmtime_extern_t item;

	instantiate(engine, context, module, options, &instance);
	if (!wasmtime_instance_export_get(context, &instance, options->export,
					  strlen(options->export), &item) ||
	    item.kind != WASMTIME_EXTERN_FUNC) {
		fprintf(stderr, "host: no function %s\n", options->export);
		exit(1);
	}
	return (struct callee){ .context = context, .function = item.of.func };
}

static void call_once(const struct callee *callee, uint32_t argument, struct counts *counts)
{
	wasmtime_val_t args[1] = { { .kind = WASMTIME_I32, .of.i32 = (int32_t)argument } };
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;

	errno = ERRNO_MARK;
	error = wasmtime_func_call(callee->context, &callee->function, args, 1, NULL, 0, &trap);
	counts->errno_changes += errno != ERRNO_MARK;
	check("call", error, NULL);
	counts->calls++;
	if (trap != NULL) {
		counts->traps++;
		wasm_trap_delete(trap);
	}
}

uint32_t argument_next(const struct options *options)
{
	static _Thread_local uint64_t state = 1;

	if (options->cpu_ms == 0)
		return options->argument;
	state = state * 6364136223846793005 + 1442695040888963407;
	return options->argument / 2 + (uint32_t)((state >> 33) % (options->argument + 1));
}

/* Rounds over all callees, until the CPU time is used or the calls are made. */
static void call_all(const struct callee *callees, uint32_t count, const struct options *options,
		     struct counts *counts)
{
	uint64_t end_ms = call_cpu_ms() + options->cpu_ms;
	uint32_t argument;

	for (uint64_t round = 0;; round++) {
		if (options->cpu_ms > 0 ? call_cpu_ms() >= end_ms : round >= options->calls)
			return;
		argument = argument_next(options);
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t n = 0; n <= (options->is_skewed ? i : 0); n++)
				call_once(&callees[i], argument, counts);
	}
}

static void call_in_stores(wasm_engine_t *engine, const wasmtime_module_t *module,
			   const struct options *options, struct counts *counts)
{
	wasmtime_store_t **stores = calloc(options->stores, sizeof(*stores));
	struct callee *callees =
		calloc((size_t)options->stores * options->instances, sizeof(*callees));
	uint32_t count = 0;

	for (uint32_t s = 0; s < options->stores; s++) {
		wasmtime_context_t *context;

		stores[s] = wasmtime_store_new(engine, NULL, NULL);
		context = wasmtime_store_context(stores[s]);
		for (uint32_t i = 0; i < options->instances; i++)
			callees[count++] = callee_new(engine, context, module, options);
	}
	call_all(callees, count, options, counts);
	for (uint32_t s = 0; s < options->stores; s++)
		wasmtime_store_delete(stores[s]);
	free(callees);
	free(stores);
}

void call_module(wasm_engine_t *engine, const wasmtime_module_t *module,
		 const struct options *options, uint32_t number)
{
	struct counts counts = { 0 };

	for (uint32_t i = 0; i < (options->fresh ? options->fresh : 1); i++)
		call_in_stores(engine, module, options, &counts);
	if (options->is_quiet)
		return;
	/* What is not the same in every run is not printed. */
	if (options->cpu_ms > 0 || options->threads > 1)
		printf("thread %u: done\n", number);
	else
		printf("thread %u: %llu calls, %llu traps, %llu errno changes\n", number,
		       (unsigned long long)counts.calls, (unsigned long long)counts.traps,
		       (unsigned long long)counts.errno_changes);
}
