/* SPDX-License-Identifier: MIT */
/* wasmedge_executor.c - instances that the host keeps itself, and calls of their functions. */
#include "preload/hook/hook.h"
#include "preload/runtime/wasmedge_abi.h"
#include "preload/runtime/wasmedge_async.h"
#include "preload/runtime/wasmedge_holder.h"
#include "preload/runtime/wasmedge_making.h"

EXPORT struct wasmedge_result WasmEdge_ExecutorInstantiate(void *executor, void **instance,
							   void *store, const void *module);
EXPORT struct wasmedge_result WasmEdge_ExecutorRegister(void *executor, void **instance,
							void *store, const void *module,
							struct wasmedge_string name);
EXPORT void WasmEdge_ModuleInstanceDelete(void *instance);
EXPORT struct wasmedge_result WasmEdge_ExecutorInvoke(void *executor, const void *function,
						      const struct wasmedge_value *arguments,
						      uint32_t argument_count,
						      struct wasmedge_value *results,
						      uint32_t result_count);
EXPORT struct wasmedge_async *WasmEdge_ExecutorAsyncInvoke(void *executor, const void *function,
							   const struct wasmedge_value *arguments,
							   uint32_t argument_count);

HOOK(WasmEdge_ExecutorInstantiate);
struct wasmedge_result WasmEdge_ExecutorInstantiate(void *executor, void **instance, void *store,
						    const void *module)
{
	__typeof__(&WasmEdge_ExecutorInstantiate) real = REAL(WasmEdge_ExecutorInstantiate);
	struct wasmedge_making making = { 0 };
	struct wasmedge_result result;

	wasmedge_making_of(&making, real, module);
	wasmedge_making_number(&making);
	result = real(executor, instance, store, module);
	wasmedge_making_leave(&making, wasmedge_made(result, instance), NULL);
	return result;
}

HOOK(WasmEdge_ExecutorRegister);
struct wasmedge_result WasmEdge_ExecutorRegister(void *executor, void **instance, void *store,
						 const void *module, struct wasmedge_string name)
{
	__typeof__(&WasmEdge_ExecutorRegister) real = REAL(WasmEdge_ExecutorRegister);
	struct wasmedge_making making = { 0 };
	struct wasmedge_result result;

	wasmedge_making_of(&making, real, module);
	wasmedge_making_number(&making);
	result = real(executor, instance, store, module, name);
	wasmedge_making_leave(&making, wasmedge_made(result, instance), NULL);
	return result;
}

HOOK(WasmEdge_ModuleInstanceDelete);
void WasmEdge_ModuleInstanceDelete(void *instance)
{
	__typeof__(&WasmEdge_ModuleInstanceDelete) real = REAL(WasmEdge_ModuleInstanceDelete);

	if (instance != NULL && hook_begin()) {
		wasmedge_instance_ends(instance);
		hook_end();
	}
	real(instance);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * A function's first word is its module instance (include/runtime/instance/composite.h, 0.14.1 to
 * 0.17.1), which counts only where it is the address of one that we saw made.
 */
static uint32_t instance_of(const void *function)
{
	return function != NULL ? wasmedge_instance_of(*(const void *const *)function) : 0;
}

HOOK(WasmEdge_ExecutorInvoke);
struct wasmedge_result WasmEdge_ExecutorInvoke(void *executor, const void *function,
					       const struct wasmedge_value *arguments,
					       uint32_t argument_count,
					       struct wasmedge_value *results,
					       uint32_t result_count)
{
	__typeof__(&WasmEdge_ExecutorInvoke) real = REAL(WasmEdge_ExecutorInvoke);
	struct activation activation = { 0 };
	struct wasmedge_result result;

	if (!hook_is_missing(real) && hook_begin()) {
		activation = guest_enter(instance_of(function),
					 (uintptr_t)__builtin_frame_address(0), 0, NULL, 0);
		hook_end();
	}
	result = real(executor, function, arguments, argument_count, results, result_count);
	guest_leave(activation);
	return result;
}

HOOK(WasmEdge_ExecutorAsyncInvoke);
struct wasmedge_async *WasmEdge_ExecutorAsyncInvoke(void *executor, const void *function,
						    const struct wasmedge_value *arguments,
						    uint32_t argument_count)
{
	__typeof__(&WasmEdge_ExecutorAsyncInvoke) real = REAL(WasmEdge_ExecutorAsyncInvoke);
	struct wasmedge_async *async;
	uint32_t id = 0;

	if (!hook_is_missing(real) && hook_begin()) {
		id = instance_of(function);
		hook_end();
	}
	wasmedge_async_begin(id);
	async = real(executor, function, arguments, argument_count);
	wasmedge_async_end();
	return async;
}
