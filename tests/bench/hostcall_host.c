/* SPDX-License-Identifier: MIT */
/*
 * hostcall_host.c - an unmodified host whose guest calls an empty host function in a loop.
 *
 * usage: hostcall_host CALLS ROUNDS. Prints the CPU time of one such call on the calling thread in
 * nanoseconds, one line a round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wasmtime.h>

#include "tests/bench/engine_host.h"

static const char text[] =
	"(module (import \"env\" \"nothing\" (func $nothing))"
	"  (func (export \"run\") (param $k i32)"
	"    (loop $more (call $nothing)"
	"      (br_if $more (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))))";

static wasm_trap_t *nothing(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *arguments,
			    size_t argument_count, wasmtime_val_t *results, size_t result_count)
{
	(void)env, (void)caller, (void)arguments, (void)argument_count, (void)results;
	(void)result_count;
	return NULL;
}

static wasmtime_func_t make(wasm_engine_t *engine, wasmtime_context_t *context)
{
	wasmtime_linker_t *linker = wasmtime_linker_new(engine);
	wasm_functype_t *type = wasm_functype_new_0_0();
	wasmtime_module_t *module;
	wasmtime_instance_t instance;
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;
	wasm_byte_vec_t wasm;

	check(wasmtime_wat2wasm(text, strlen(text), &wasm), "text");
	check(wasmtime_module_new(engine, (uint8_t *)wasm.data, wasm.size, &module), "compile");
	check(wasmtime_linker_define_func(linker, "env", 3, "nothing", 7, type, nothing, NULL,
					  NULL),
	      "define");
	check(wasmtime_linker_instantiate(linker, context, module, &instance, &trap), "start");
	if (trap != NULL || !wasmtime_instance_export_get(context, &instance, "run", 3, &item))
		exit(1);
	wasm_functype_delete(type);
	wasmtime_linker_delete(linker);
	wasmtime_module_delete(module);
	return item.of.func;
}

int main(int argc, char **argv)
{
	wasm_engine_t *engine = wasm_engine_new();
	wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
	wasmtime_context_t *context = wasmtime_store_context(store);
	wasmtime_func_t run = make(engine, context);

	if (argc != 3)
		return 2;
	for (int round = 0; round < atoi(argv[2]); round++) {
		wasmtime_val_t argument = { .kind = WASMTIME_I32, .of.i32 = atoi(argv[1]) };
		wasm_trap_t *trap = NULL;
		double begin = thread_cpu_us();

		check(wasmtime_func_call(context, &run, &argument, 1, NULL, 0, &trap), "call");
		printf("%.2f\n", (thread_cpu_us() - begin) * 1e3 / atoi(argv[1]));
	}
	wasmtime_store_delete(store);
	wasm_engine_delete(engine);
	return 0;
}
