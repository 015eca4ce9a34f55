/* SPDX-License-Identifier: MIT */
/* import.c - the host functions that guests import: env.work burns CPU, env.again calls back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static volatile uint64_t burnt;

/* Not inlined, so that the host's own frame is really on the stack. */
__attribute__((noinline)) void import_burn(uint32_t rounds)
{
	uint64_t value = burnt;

	for (uint64_t i = 0; i < rounds * UINT64_C(100); i++)
		value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	burnt = value;
}

wasm_trap_t *import_work(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			 size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	import_burn((uint32_t)args[0].of.i32);
	return NULL;
}

/* The same with twice the CPU time. */
static wasm_trap_t *import_more(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
				size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	(void)env, (void)caller, (void)arg_count, (void)results, (void)result_count;
	import_burn(2 * (uint32_t)args[0].of.i32);
	return NULL;
}

/* host -> guest -> host -> guest: a second activation of the same instance. */
static wasm_trap_t *again(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			  size_t arg_count, wasmtime_val_t *results, size_t result_count)
{
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;

	(void)env, (void)results, (void)result_count;
	if (!wasmtime_caller_export_get(caller, "callback", 8, &item)) {
		fprintf(stderr, "host: the caller has no callback\n");
		exit(1);
	}
	check("nested call",
	      wasmtime_func_call(wasmtime_caller_context(caller), &item.of.func, args, arg_count,
				 NULL, 0, &trap),
	      trap);
	return NULL;
}

static const struct import {
	const char *name;
	wasmtime_func_callback_t function;
} imports[] = {
	{ "work", import_work },       { "more", import_more },	    { "again", again },
	{ "sleep", wait_sleep },       { "receive", wait_receive }, { "lock", wait_lock },
	{ "restless", restless_wait },
};
enum { IMPORT_COUNT = sizeof(imports) / sizeof(*imports) };

void import_define(wasmtime_linker_t *linker)
{
	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		wasm_functype_t *type = wasm_functype_new_1_0(wasm_valtype_new(WASM_I32));

		check("define",
		      wasmtime_linker_define_func(linker, "env", 3, imports[i].name,
						  strlen(imports[i].name), type,
						  imports[i].function, NULL, NULL),
		      NULL);
		wasm_functype_delete(type);
	}
}

static void import_function(wasmtime_context_t *context, const wasm_importtype_t *wanted,
			    wasmtime_extern_t *item)
{
	const wasm_name_t *name = wasm_importtype_name(wanted);
	wasm_functype_t *type = wasm_functype_new_1_0(wasm_valtype_new(WASM_I32));

	item->kind = WASMTIME_EXTERN_FUNC;
	for (size_t i = 0; i < IMPORT_COUNT; i++)
		if (strlen(imports[i].name) == name->size &&
		    memcmp(imports[i].name, name->data, name->size) == 0)
			wasmtime_func_new(context, type, imports[i].function, NULL, NULL,
					  &item->of.func);
	wasm_functype_delete(type);
}

size_t import_functions(wasmtime_context_t *context, const wasmtime_module_t *module,
			wasmtime_extern_t functions[4])
{
	wasm_importtype_vec_t wanted;
	size_t count;

	wasmtime_module_imports(module, &wanted);
	count = wanted.size < 4 ? wanted.size : 4;
	for (size_t i = 0; i < count; i++)
		import_function(context, wanted.data[i], &functions[i]);
	wasm_importtype_vec_delete(&wanted);
	return count;
}
