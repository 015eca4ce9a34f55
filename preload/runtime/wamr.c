/* SPDX-License-Identifier: MIT */
/*
 * wamr.c - WAMR (wasm-micro-runtime) by its own API: modules, instances, calls into guests.
 *
 * What else it has reaches the same functions through the procedure linkage table, and is seen by
 * that: wasm.h, and wasm_runtime_call_wasm_v(), whose arguments nobody could pass on. Where they do
 * not (linked with -Bsymbolic, or into the program) they are not seen. A wrapper that is reached
 * from within another one of its kind leaves the work to the first or the last of them.
 */
#include <stdlib.h>

#include "preload/base/log.h"
#include "preload/load/instance.h"
#include "preload/load/load.h"
#include "preload/runtime/pointer_map.h"
#include "preload/runtime/wamr_abi.h"
#include "preload/runtime/wamr_aot.h"
#include "preload/runtime/wasmtime_engine.h"
#include "symtab/codeimage.h"

enum { INSTANCES = 8192 };

/* By instance: { id, store, module }. */
static struct pointer_entry instance_entries[INSTANCES];
static const struct pointer_map instances = { instance_entries, INSTANCES };
static atomic_ullong instance_number;

static HOOK_TLS struct {
	bool is_loading;  /* a wrapper of this thread's does, and will tell */
	bool has_entered; /* a wrapper told of the call that is on its way to the guest */
	const void *made; /* an instance, likewise */
} here;

/* ---- modules --------------------------------------------------------------------------------- */

struct making {
	const struct runtime_engine *engine; /* NULL: we only pass on */
	struct load_bytes *bytes;
	struct wamr_aot *aot;
};

/* The engine writes into the bytes while it loads them, so they are copied before. */
static struct making load_begin(const void *real, const uint8_t *bytes, uint32_t size)
{
	struct making making = { 0 };

	if (here.is_loading || !hook_begin())
		return making;
	making.engine = runtime_engine_wamr(real);
	if (making.engine != NULL) {
		making.aot = wamr_aot_read(bytes, size);
		if (making.aot == NULL)
			making.bytes = load_bytes_taken(bytes, size);
		here.is_loading = true;
	}
	hook_end();
	return making;
}

/* How many functions MODULE imports: those it defines come after them. */
static uint32_t count_imports(const struct runtime_engine *engine, const void *module)
{
	int32_t count = 0, functions = 0;

	if (engine->wamr_import_count != NULL && engine->wamr_import_type != NULL)
		count = engine->wamr_import_count(module);
	for (int32_t i = 0; i < count; i++) {
		struct wamr_import import = { .kind = -1 };

		engine->wamr_import_type(module, i, &import);
		functions += import.kind == 0;
	}
	return (uint32_t)functions;
}

/* The code of MODULE, NULL when it is not found. */
static struct load_code *find_code(const struct making *making, const void *module)
{
	uint32_t count = wamr_aot_count(making->aot);
	struct code_function *functions = calloc(count + 1, sizeof(*functions));
	struct load_code *code = NULL;

	if (functions != NULL && wamr_aot_place(making->aot, (uintptr_t)module,
						count_imports(making->engine, module), functions))
		code = load_code_new(functions, count);
	else
		log_line(LOG_INFO, "wamr: the code of a module of %u functions is not found",
			 count);
	free(functions);
	return code;
}

static void announce(struct making *making, const void *module, const char *name)
{
	struct load_event event = {
		.engine = "wamr",
		.version = making->engine->said_version,
		.handle = module,
		.given_name = name != NULL && *name != '\0' ? name : NULL,
		.is_interpreted = making->aot == NULL,
		.bytes = making->bytes,
	};

	making->bytes = NULL;
	if (making->aot != NULL)
		event.code = find_code(making, module);
	if (making->aot == NULL || event.code != NULL)
		load_announce(&event);
}

/* MODULE: what was made, NULL when nothing was; NAME: the embedder's, NULL when it gave none. */
static void load_end(struct making making, const void *module, const char *name)
{
	int saved_errno = errno;

	if (making.engine == NULL)
		return;
	here.is_loading = false;
	load_bytes_end(making.bytes);
	if (module != NULL && hook_begin()) {
		announce(&making, module, name);
		hook_end();
	}
	load_bytes_free(making.bytes);
	wamr_aot_free(making.aot);
	errno = saved_errno;
}

HOOK(wasm_runtime_load);
void *wasm_runtime_load(uint8_t *bytes, uint32_t size, char *error, uint32_t error_size)
{
	__typeof__(&wasm_runtime_load) real = REAL(wasm_runtime_load);
	struct making making = load_begin(real, bytes, size);
	void *module = real(bytes, size, error, error_size);

	load_end(making, module, NULL);
	return module;
}

HOOK(wasm_runtime_load_ex);
void *wasm_runtime_load_ex(uint8_t *bytes, uint32_t size, const struct wamr_load_args *args,
			   char *error, uint32_t error_size)
{
	__typeof__(&wasm_runtime_load_ex) real = REAL(wasm_runtime_load_ex);
	struct making making = load_begin(real, bytes, size);
	void *module = real(bytes, size, args, error, error_size);

	load_end(making, module, args != NULL ? args->name : NULL);
	return module;
}

HOOK(wasm_runtime_unload);
void wasm_runtime_unload(void *module)
{
	__typeof__(&wasm_runtime_unload) real = REAL(wasm_runtime_unload);
	uint32_t loading;

	if (module != NULL && hook_begin()) {
		loading = runtime_engine_wamr(real) != NULL ? load_of_handle(module) : 0;
		if (loading != 0) {
			load_forget(module);
			load_retire(loading);
		}
		hook_end();
	}
	real(module);
}

/* ---- instances ------------------------------------------------------------------------------- */

/* INSTANCE, of MODULE, is not known yet. Returns its id, 0 when MODULE is not known. */
static uint32_t instance_made(const struct runtime_engine *engine, const void *module,
			      const void *instance)
{
	uint32_t loading = load_of_handle(module);
	uintptr_t values[POINTER_MAP_VALUES] = { 0 };

	if (loading == 0)
		return 0;
	values[1] = runtime_engine_store(engine, atomic_fetch_add(&instance_number, 1) + 1);
	values[0] = instance_for((struct instance_key){ values[1], (uintptr_t)instance }, loading);
	values[2] = (uintptr_t)module;
	if (!pointer_map_put(&instances, instance, values))
		instance_forget_store(values[1]);
	return (uint32_t)values[0];
}

static void forget(const void *instance)
{
	uintptr_t values[POINTER_MAP_VALUES];

	if (pointer_map_take(&instances, instance, values))
		instance_forget_store(values[1]);
}

/* Threads of guests have instances that no wrapper saw made, or deleted. */
static uint32_t id_of(const struct runtime_engine *engine, void *instance)
{
	const void *module = engine->wamr_module != NULL ? engine->wamr_module(instance) : NULL;
	uintptr_t values[POINTER_MAP_VALUES];

	if (pointer_map_get(&instances, instance, values) &&
	    (module == NULL || values[2] == (uintptr_t)module))
		return (uint32_t)values[0];
	forget(instance);
	return module != NULL ? instance_made(engine, module, instance) : 0;
}

static void *made(const void *real, const void *module, void *instance)
{
	const struct runtime_engine *engine;
	bool is_told = here.made == instance;

	here.made = instance;
	if (instance == NULL || is_told || !hook_begin())
		return instance;
	engine = runtime_engine_wamr(real);
	if (engine != NULL) {
		forget(instance);
		instance_made(engine, module, instance);
	}
	hook_end();
	return instance;
}

HOOK(wasm_runtime_instantiate);
void *wasm_runtime_instantiate(void *module, uint32_t stack, uint32_t heap, char *error,
			       uint32_t error_size)
{
	__typeof__(&wasm_runtime_instantiate) real = REAL(wasm_runtime_instantiate);

	here.made = NULL;
	return made(real, module, real(module, stack, heap, error, error_size));
}

HOOK(wasm_runtime_instantiate_ex);
void *wasm_runtime_instantiate_ex(void *module, const void *args, char *error, uint32_t error_size)
{
	__typeof__(&wasm_runtime_instantiate_ex) real = REAL(wasm_runtime_instantiate_ex);

	here.made = NULL;
	return made(real, module, real(module, args, error, error_size));
}

HOOK(wasm_runtime_instantiate_ex2);
void *wasm_runtime_instantiate_ex2(void *module, const void *args, char *error, uint32_t error_size)
{
	__typeof__(&wasm_runtime_instantiate_ex2) real = REAL(wasm_runtime_instantiate_ex2);

	here.made = NULL;
	return made(real, module, real(module, args, error, error_size));
}

HOOK(wasm_runtime_deinstantiate);
void wasm_runtime_deinstantiate(void *instance)
{
	__typeof__(&wasm_runtime_deinstantiate) real = REAL(wasm_runtime_deinstantiate);

	if (instance != NULL && hook_begin()) {
		if (runtime_engine_wamr(real) != NULL)
			forget(instance);
		hook_end();
	}
	real(instance);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One of ENV and INSTANCE is NULL. FRAME: of the wrapper. */
static struct activation enter(const void *real, void *env, void *instance, void *frame)
{
	struct activation activation = { 0 };
	const struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_wamr(real);
	if (engine != NULL && instance == NULL && engine->wamr_instance != NULL)
		instance = engine->wamr_instance(env);
	if (engine != NULL && instance != NULL)
		activation = guest_enter(id_of(engine, instance), (uintptr_t)frame, 0, NULL, 0);
	hook_end();
	return activation;
}

/* By what calls wasm_runtime_call_wasm() in turn. */
static struct activation enter_from_afar(const void *real, void *env, void *instance, void *frame)
{
	struct activation activation = enter(real, env, instance, frame);

	here.has_entered = activation.thread != NULL;
	return activation;
}

static bool leave(struct activation activation, bool result)
{
	here.has_entered = false;
	guest_leave(activation);
	return result;
}

HOOK(wasm_runtime_call_wasm);
bool wasm_runtime_call_wasm(void *env, void *function, uint32_t count, uint32_t *values)
{
	__typeof__(&wasm_runtime_call_wasm) real = REAL(wasm_runtime_call_wasm);
	struct activation activation;

	if (here.has_entered) {
		here.has_entered = false;
		return real(env, function, count, values);
	}
	activation = enter(real, env, NULL, __builtin_frame_address(0));
	return leave(activation, real(env, function, count, values));
}

HOOK(wasm_runtime_call_wasm_a);
bool wasm_runtime_call_wasm_a(void *env, void *function, uint32_t result_count, void *results,
			      uint32_t count, void *values)
{
	__typeof__(&wasm_runtime_call_wasm_a) real = REAL(wasm_runtime_call_wasm_a);
	struct activation activation = enter_from_afar(real, env, NULL, __builtin_frame_address(0));

	return leave(activation, real(env, function, result_count, results, count, values));
}

HOOK(wasm_runtime_call_indirect);
bool wasm_runtime_call_indirect(void *env, uint32_t element, uint32_t count, uint32_t *values)
{
	__typeof__(&wasm_runtime_call_indirect) real = REAL(wasm_runtime_call_indirect);
	struct activation activation = enter(real, env, NULL, __builtin_frame_address(0));

	return leave(activation, real(env, element, count, values));
}

HOOK(wasm_application_execute_main);
bool wasm_application_execute_main(void *instance, int32_t count, char **words)
{
	__typeof__(&wasm_application_execute_main) real = REAL(wasm_application_execute_main);
	struct activation activation =
		enter_from_afar(real, NULL, instance, __builtin_frame_address(0));

	return leave(activation, real(instance, count, words));
}

HOOK(wasm_application_execute_func);
bool wasm_application_execute_func(void *instance, const char *name, int32_t count, char **words)
{
	__typeof__(&wasm_application_execute_func) real = REAL(wasm_application_execute_func);
	struct activation activation =
		enter_from_afar(real, NULL, instance, __builtin_frame_address(0));

	return leave(activation, real(instance, name, count, words));
}
