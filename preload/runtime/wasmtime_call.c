/* SPDX-License-Identifier: MIT */
/*
 * wasmtime_call.c - the host calls a function of Wasmtime's C API: the way into a guest.
 *
 * Hosts do this ten million times a second. The engine catches traps and panics, so the way out is
 * always through here; a host callback that longjmps over us is noticed at the next way out.
 */
#include "preload/hook/hook.h"
#include "preload/runtime/wasmtime_instance.h"

EXPORT wasmtime_error_t *wasmtime_func_call(wasmtime_context_t *context,
					    const wasmtime_func_t *function,
					    const wasmtime_val_t *arguments, size_t argument_count,
					    wasmtime_val_t *results, size_t result_count,
					    wasm_trap_t **trap);
EXPORT wasmtime_error_t *wasmtime_func_call_unchecked(wasmtime_context_t *context,
						      const wasmtime_func_t *function,
						      wasmtime_val_raw_t *arguments_and_results,
						      size_t count, wasm_trap_t **trap);

static inline struct activation enter(const void *real, wasmtime_context_t *context,
				      const wasmtime_func_t *function, void *frame)
{
	struct activation activation = { 0 };
	struct runtime_engine *engine;

	if (!hook_begin())
		return activation;
	engine = runtime_engine_of(real);
	if (engine != NULL)
		activation =
			guest_enter(runtime_instance_of(engine, context, function->store_id,
							function->function),
				    (uintptr_t)frame, (uintptr_t)context,
				    atomic_load_explicit(&engine->layout, memory_order_acquire), 0);
	hook_end();
	return activation;
}

HOOK(wasmtime_func_call);
wasmtime_error_t *wasmtime_func_call(wasmtime_context_t *context, const wasmtime_func_t *function,
				     const wasmtime_val_t *arguments, size_t argument_count,
				     wasmtime_val_t *results, size_t result_count,
				     wasm_trap_t **trap)
{
	__typeof__(&wasmtime_func_call) real = REAL(wasmtime_func_call);
	struct activation activation = enter(real, context, function, __builtin_frame_address(0));
	wasmtime_error_t *error =
		real(context, function, arguments, argument_count, results, result_count, trap);

	guest_leave(activation);
	return error;
}

HOOK(wasmtime_func_call_unchecked);
wasmtime_error_t *wasmtime_func_call_unchecked(wasmtime_context_t *context,
					       const wasmtime_func_t *function,
					       wasmtime_val_raw_t *arguments_and_results,
					       size_t count, wasm_trap_t **trap)
{
	__typeof__(&wasmtime_func_call_unchecked) real = REAL(wasmtime_func_call_unchecked);
	struct activation activation = enter(real, context, function, __builtin_frame_address(0));
	wasmtime_error_t *error = real(context, function, arguments_and_results, count, trap);

	guest_leave(activation);
	return error;
}
