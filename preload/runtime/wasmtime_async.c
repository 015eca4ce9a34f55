/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_async.c - calls and instantiations that run when their future is polled, on a fiber.
 *
 * What the future is for is remembered when it is made and used at each poll, on whatever thread
 * that happens.
 */
#include "preload/hook/hook.h"
#include "preload/load/parked.h"
#include "preload/runtime/pointer_map.h"
#include "preload/runtime/wasmtime_instance.h"

EXPORT wasmtime_call_future_t *
wasmtime_func_call_async(wasmtime_context_t *context, const wasmtime_func_t *function,
			 const wasmtime_val_t *arguments, size_t argument_count,
			 wasmtime_val_t *results, size_t result_count, wasm_trap_t **trap,
			 wasmtime_error_t **error);
EXPORT wasmtime_call_future_t *
wasmtime_linker_instantiate_async(const wasmtime_linker_t *linker, wasmtime_context_t *context,
				  const wasmtime_module_t *module, wasmtime_instance_t *instance,
				  wasm_trap_t **trap, wasmtime_error_t **error);
EXPORT wasmtime_call_future_t *
wasmtime_instance_pre_instantiate_async(const wasmtime_instance_pre_t *pre,
					wasmtime_context_t *context, wasmtime_instance_t *instance,
					wasm_trap_t **trap, wasmtime_error_t **error);
EXPORT wasmtime_call_future_t *wasmtime_component_func_call_async(
	const wasmtime_component_func_t *function, wasmtime_context_t *context,
	const wasmtime_component_val_t *arguments, size_t argument_count,
	wasmtime_component_val_t *results, size_t result_count, wasmtime_error_t **error);
EXPORT wasmtime_call_future_t *wasmtime_component_linker_instantiate_async(
	const wasmtime_component_linker_t *linker, wasmtime_context_t *context,
	const wasmtime_component_t *component, wasmtime_component_instance_t *instance,
	wasmtime_error_t **error);
EXPORT bool wasmtime_call_future_poll(wasmtime_call_future_t *future);
EXPORT void wasmtime_call_future_delete(wasmtime_call_future_t *future);

enum { FUTURES = 4096 };

enum purpose { CALL, INSTANCE, COMPONENT_INSTANCE };

/* As it lies in the map: one word each. */
struct plan {
	uintptr_t purpose;
	uintptr_t instance; /* id, of a call */
	wasmtime_context_t *context;
	const void *handle; /* the rest for instantiations: of the module, and the host's places */
	const void *made;
	wasm_trap_t *const *trap;
	wasmtime_error_t *const *error;
};

_Static_assert(sizeof(struct plan) == POINTER_MAP_VALUES * sizeof(uintptr_t),
	       "a plan is an entry's values");

static struct pointer_entry future_entries[FUTURES];
static const struct pointer_map futures = { future_entries, FUTURES };

/* Inside hook_begin(). A full table costs the future's calls their instance. */
static void remember(const wasmtime_call_future_t *future, const struct plan *plan)
{
	if (future != NULL)
		pointer_map_put(&futures, future, (const uintptr_t *)plan);
	parked_begin(future, (uint32_t)plan->instance);
}

static void remember_instantiation(const wasmtime_call_future_t *future, const struct plan *plan)
{
	if (!hook_begin())
		return;
	remember(future, plan);
	hook_end();
}

HOOK(wasmtime_func_call_async);
wasmtime_call_future_t *wasmtime_func_call_async(wasmtime_context_t *context,
						 const wasmtime_func_t *function,
						 const wasmtime_val_t *arguments,
						 size_t argument_count, wasmtime_val_t *results,
						 size_t result_count, wasm_trap_t **trap,
						 wasmtime_error_t **error)
{
	__typeof__(&wasmtime_func_call_async) real = REAL(wasmtime_func_call_async);
	wasmtime_call_future_t *future = real(context, function, arguments, argument_count, results,
					      result_count, trap, error);
	struct plan plan = { .purpose = CALL, .context = context };
	struct runtime_engine *engine;

	if (!hook_begin())
		return future;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		plan.instance = runtime_instance_of(engine, context, function->store_id,
						    function->function);
	remember(future, &plan);
	hook_end();
	return future;
}

HOOK(wasmtime_component_func_call_async);
wasmtime_call_future_t *wasmtime_component_func_call_async(
	const wasmtime_component_func_t *function, wasmtime_context_t *context,
	const wasmtime_component_val_t *arguments, size_t argument_count,
	wasmtime_component_val_t *results, size_t result_count, wasmtime_error_t **error)
{
	__typeof__(&wasmtime_component_func_call_async) real =
		REAL(wasmtime_component_func_call_async);
	wasmtime_call_future_t *future =
		real(function, context, arguments, argument_count, results, result_count, error);
	struct plan plan = { .purpose = CALL, .context = context };
	struct runtime_engine *engine;

	if (!hook_begin())
		return future;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		plan.instance =
			runtime_component_instance(engine, function->store_id, function->instance);
	remember(future, &plan);
	hook_end();
	return future;
}

HOOK(wasmtime_linker_instantiate_async);
wasmtime_call_future_t *
wasmtime_linker_instantiate_async(const wasmtime_linker_t *linker, wasmtime_context_t *context,
				  const wasmtime_module_t *module, wasmtime_instance_t *instance,
				  wasm_trap_t **trap, wasmtime_error_t **error)
{
	wasmtime_call_future_t *future = REAL(wasmtime_linker_instantiate_async)(
		linker, context, module, instance, trap, error);

	remember_instantiation(
		future, &(struct plan){ INSTANCE, 0, context, module, instance, trap, error });
	return future;
}

HOOK(wasmtime_instance_pre_instantiate_async);
wasmtime_call_future_t *wasmtime_instance_pre_instantiate_async(const wasmtime_instance_pre_t *pre,
								wasmtime_context_t *context,
								wasmtime_instance_t *instance,
								wasm_trap_t **trap,
								wasmtime_error_t **error)
{
	wasmtime_call_future_t *future =
		REAL(wasmtime_instance_pre_instantiate_async)(pre, context, instance, trap, error);

	remember_instantiation(future,
			       &(struct plan){ INSTANCE, 0, context, pre, instance, trap, error });
	return future;
}

HOOK(wasmtime_component_linker_instantiate_async);
wasmtime_call_future_t *wasmtime_component_linker_instantiate_async(
	const wasmtime_component_linker_t *linker, wasmtime_context_t *context,
	const wasmtime_component_t *component, wasmtime_component_instance_t *instance,
	wasmtime_error_t **error)
{
	wasmtime_call_future_t *future = REAL(wasmtime_component_linker_instantiate_async)(
		linker, context, component, instance, error);

	remember_instantiation(future, &(struct plan){ COMPONENT_INSTANCE, 0, context, component,
						       instance, NULL, error });
	return future;
}

static bool has_succeeded(const struct plan *plan)
{
	return (plan->error == NULL || *plan->error == NULL) &&
	       (plan->trap == NULL || *plan->trap == NULL);
}

/* The future is ready: the host's places are filled. */
static void finish(const void *real, const struct plan *plan)
{
	struct runtime_engine *engine;

	if (plan->purpose == CALL || !has_succeeded(plan) || !hook_begin())
		return;
	engine = runtime_engine_of(real);
	if (engine != NULL && plan->purpose == INSTANCE)
		runtime_instance_made(engine, plan->context, plan->handle, plan->made);
	else if (engine != NULL)
		runtime_component_instance_made(engine, plan->context, plan->handle, plan->made);
	hook_end();
}

static struct activation enter(const void *real, const struct plan *plan, void *frame)
{
	struct activation activation = { 0 };
	struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		activation = guest_enter(
			(uint32_t)plan->instance, (uintptr_t)frame, (uintptr_t)plan->context,
			atomic_load_explicit(&engine->layout, memory_order_acquire), ENTRY_FIBER);
	hook_end();
	return activation;
}

HOOK(wasmtime_call_future_poll);
bool wasmtime_call_future_poll(wasmtime_call_future_t *future)
{
	__typeof__(&wasmtime_call_future_poll) real = REAL(wasmtime_call_future_poll);
	struct plan plan = { 0 };
	struct activation activation;
	bool is_known, is_ready;

	is_known = pointer_map_get(&futures, future, (uintptr_t *)&plan);
	parked_end(future);
	activation = enter(real, &plan, __builtin_frame_address(0));
	is_ready = real(future);
	guest_leave(activation);
	if (!is_ready)
		parked_begin(future, (uint32_t)plan.instance);
	if (is_known && is_ready)
		finish(real, &plan);
	return is_ready;
}

HOOK(wasmtime_call_future_delete);
void wasmtime_call_future_delete(wasmtime_call_future_t *future)
{
	__typeof__(&wasmtime_call_future_delete) real = REAL(wasmtime_call_future_delete);
	struct plan plan;

	pointer_map_take(&futures, future, (uintptr_t *)&plan);
	parked_forget(future);
	real(future);
}
