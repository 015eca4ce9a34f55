/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_func.c - functions that a host makes without a name, by Wasmtime's C API and by wasm.h,
 * and gives to instances by position.
 *
 * Signatures as in crates/c-api/include/wasm.h and wasmtime/func.h, the same from 14 to 50.
 */
#include "preload/runtime/wasmtime_func.h"
#include "preload/hook/hook.h"
#include "preload/load/hostcalls.h"
#include "preload/load/load.h"
#include "preload/runtime/given.h"

/* Callbacks and types are only passed on. */
EXPORT void wasmtime_func_new(wasmtime_context_t *context, const wasm_functype_t *type,
			      void (*callback)(void), void *data, void (*finalizer)(void *),
			      wasmtime_func_t *function);
EXPORT void wasmtime_func_new_unchecked(wasmtime_context_t *context, const wasm_functype_t *type,
					void (*callback)(void), void *data,
					void (*finalizer)(void *), wasmtime_func_t *function);
EXPORT wasm_func_t *wasm_func_new(wasm_store_t *store, const wasm_functype_t *type,
				  void (*callback)(void));
EXPORT wasm_func_t *wasm_func_new_with_env(wasm_store_t *store, const wasm_functype_t *type,
					   void (*callback)(void), void *data,
					   void (*finalizer)(void *));

enum { IMPORTS_MAX = 256 }; /* by position; further ones stay without a name */

/* Wraps FUNCTION if that is wanted and REAL is Wasmtime's. */
static void begin(const void *real, struct exact_function *function)
{
	if (!hostcalls_are_exact() || !hook_begin())
		return;
	if (runtime_engine_of(real) != NULL)
		exact_begin(function, HOSTCALLS_NO_NAME, EXACT_PLAIN);
	hook_end();
}

/* The host's CALLBACK is the engine's function STORE_ID, HANDLE. */
static void note(const struct runtime_engine *engine, const struct exact_function *function,
		 void (*callback)(void), uint64_t store_id, uintptr_t handle)
{
	given_made(&(struct given){
		.store = runtime_engine_store(engine, store_id),
		.function = handle,
		.callback = (uintptr_t)callback,
		.call = function->call,
	});
}

static void end(const void *real, const struct exact_function *function, void (*callback)(void),
		const wasmtime_func_t *made)
{
	const struct runtime_engine *engine;

	exact_end(function, true);
	if (!hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		note(engine, function, callback, made->store_id, made->function);
	hook_end();
}

/* The same for wasm.h, whose names other engines have too. MADE NULL: it was not made. */
static void end_wasm(const void *real, const struct exact_function *function,
		     void (*callback)(void), const wasm_func_t *made)
{
	const struct runtime_engine *engine;

	exact_end(function, made != NULL);
	if (made == NULL || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		note(engine, function, callback, made->store_id, made->function);
	hook_end();
}

HOOK(wasmtime_func_new);
void wasmtime_func_new(wasmtime_context_t *context, const wasm_functype_t *type,
		       void (*callback)(void), void *data, void (*finalizer)(void *),
		       wasmtime_func_t *function)
{
	__typeof__(&wasmtime_func_new) real = REAL(wasmtime_func_new);
	struct exact_function given = { callback, data, finalizer, NULL };

	begin(real, &given);
	real(context, type, given.callback, given.environment, given.finalizer, function);
	end(real, &given, callback, function);
}

HOOK(wasmtime_func_new_unchecked);
void wasmtime_func_new_unchecked(wasmtime_context_t *context, const wasm_functype_t *type,
				 void (*callback)(void), void *data, void (*finalizer)(void *),
				 wasmtime_func_t *function)
{
	__typeof__(&wasmtime_func_new_unchecked) real = REAL(wasmtime_func_new_unchecked);
	struct exact_function given = { callback, data, finalizer, NULL };

	begin(real, &given);
	real(context, type, given.callback, given.environment, given.finalizer, function);
	end(real, &given, callback, function);
}

HOOK(wasm_func_new_with_env);
wasm_func_t *wasm_func_new_with_env(wasm_store_t *store, const wasm_functype_t *type,
				    void (*callback)(void), void *data, void (*finalizer)(void *))
{
	__typeof__(&wasm_func_new_with_env) real = REAL(wasm_func_new_with_env);
	struct exact_function given = { callback, data, finalizer, NULL };
	wasm_func_t *function;

	begin(real, &given);
	function = real(store, type, given.callback, given.environment, given.finalizer);
	end_wasm(real, &given, callback, function);
	return function;
}

/* ---- wasm_func_new: its callback has no environment ------------------------------------------ */

typedef wasm_trap_t *bare_callback(const wasm_val_vec_t *arguments, wasm_val_vec_t *results);

static wasm_trap_t *call_bare(void *environment, const wasm_val_vec_t *arguments,
			      wasm_val_vec_t *results)
{
	return ((bare_callback *)environment)(arguments, results);
}

/* The engine's other function, whose callback has an environment: that one leads to the host's. */
static wasm_func_t *make_exact(const struct runtime_engine *engine, wasm_store_t *store,
			       const wasm_functype_t *type, struct exact_function *given)
{
	given->environment = (void *)given->callback;
	given->callback = (void (*)(void))call_bare;
	exact_begin(given, HOSTCALLS_NO_NAME, EXACT_PLAIN);
	return engine->func_new_with_env(store, type, given->callback, given->environment,
					 given->finalizer);
}

/* The Wasmtime by which functions are to be made that are counted; NULL: they are not. */
static const struct runtime_engine *exact_engine(const void *real)
{
	const struct runtime_engine *engine;

	if (!hostcalls_are_exact() || !hook_begin())
		return NULL;
	engine = runtime_engine_of(real);
	hook_end();
	return engine != NULL && engine->func_new_with_env != NULL ? engine : NULL;
}

HOOK(wasm_func_new);
wasm_func_t *wasm_func_new(wasm_store_t *store, const wasm_functype_t *type, void (*callback)(void))
{
	__typeof__(&wasm_func_new) real = REAL(wasm_func_new);
	const struct runtime_engine *engine = exact_engine(real);
	struct exact_function given = { callback, NULL, NULL, NULL };
	wasm_func_t *function = engine != NULL ? make_exact(engine, store, type, &given)
					       : real(store, type, callback);

	end_wasm(real, &given, callback, function);
	return function;
}

/* ---- given to instances ---------------------------------------------------------------------- */

/* Fills GIVEN for the handle words of a function. */
static void find(const struct runtime_engine *engine, uint64_t store_id, uintptr_t function,
		 struct given *given)
{
	if (!given_find(runtime_engine_store(engine, store_id), function, given))
		*given = (struct given){ 0 };
}

/*
 * The size of an item in the host's array, which is of the host's headers: 24 bytes in 25, 32 in
 * 36, 43 and 50. 0: not known, then only the first item can be found.
 */
static size_t item_size(const struct runtime_engine *engine)
{
	int version = atomic_load_explicit(&engine->version, memory_order_relaxed);

	if (version >= 36)
		return 32;
	return version >= 14 && version <= 32 ? 24 : 0;
}

void runtime_func_given(const struct runtime_engine *engine, const wasmtime_module_t *module,
			const wasmtime_extern_t *imports, size_t count)
{
	size_t size = item_size(engine), most = size != 0 ? IMPORTS_MAX : 1;
	struct given given[IMPORTS_MAX];

	if (count > most)
		count = most;
	for (size_t i = 0; i < count; i++) {
		const wasmtime_extern_t *item = (const void *)((const char *)imports + i * size);

		given[i] = (struct given){ 0 };
		if (item->kind == WASMTIME_EXTERN_FUNC)
			find(engine, item->of.func.store_id, item->of.func.function, &given[i]);
	}
	given_to_module(engine, module, load_of_handle(module), engine->wasmtime_module_imports,
			given, count);
}

void runtime_wasm_func_given(const struct runtime_engine *engine, const wasm_module_t *module,
			     const wasm_extern_vec_t *imports)
{
	size_t count = imports->size < IMPORTS_MAX ? imports->size : IMPORTS_MAX;
	struct given given[IMPORTS_MAX];

	if (engine->extern_kind == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		const wasm_func_t *function = (const void *)imports->data[i];

		given[i] = (struct given){ 0 };
		if (function != NULL && engine->extern_kind(imports->data[i]) == WASM_EXTERN_FUNC)
			find(engine, function->store_id, function->function, &given[i]);
	}
	given_to_module(engine, module, load_of_handle(module), engine->wasm_module_imports, given,
			count);
}
