/* SPDX-License-Identifier: MIT */
/* wasmedge_vm.c - instances that a VM keeps: its active one, and those that it has by name. */
#include "preload/runtime/wasmedge_vm.h"

#include "preload/hook/hook.h"
#include "preload/runtime/wasmedge_async.h"
#include "preload/runtime/wasmedge_holder.h"

EXPORT struct wasmedge_result WasmEdge_VMInstantiate(void *vm);
EXPORT struct wasmedge_result
WasmEdge_VMRegisterModuleFromFile(void *vm, struct wasmedge_string name, const char *path);
EXPORT struct wasmedge_result WasmEdge_VMRegisterModuleFromBytes(void *vm,
								 struct wasmedge_string name,
								 struct wasmedge_bytes bytes);
EXPORT struct wasmedge_result
WasmEdge_VMRegisterModuleFromASTModule(void *vm, struct wasmedge_string name, const void *module);
EXPORT struct wasmedge_result WasmEdge_VMExecute(void *vm, struct wasmedge_string function,
						 const struct wasmedge_value *arguments,
						 uint32_t argument_count,
						 struct wasmedge_value *results,
						 uint32_t result_count);
EXPORT struct wasmedge_result
WasmEdge_VMExecuteRegistered(void *vm, struct wasmedge_string name, struct wasmedge_string function,
			     const struct wasmedge_value *arguments, uint32_t argument_count,
			     struct wasmedge_value *results, uint32_t result_count);
EXPORT struct wasmedge_async *WasmEdge_VMAsyncExecute(void *vm, struct wasmedge_string function,
						      const struct wasmedge_value *arguments,
						      uint32_t argument_count);
EXPORT struct wasmedge_async *
WasmEdge_VMAsyncExecuteRegistered(void *vm, struct wasmedge_string name,
				  struct wasmedge_string function,
				  const struct wasmedge_value *arguments, uint32_t argument_count);

/* ---- the active instance ----------------------------------------------------------------------
 */

static const void *active_module(const void *real, const void *vm)
{
	const void *(*get)(const void *) = hook_sibling(real, "WasmEdge_VMGetActiveModule");

	return get != NULL ? get(vm) : NULL;
}

void wasmedge_vm_keep(const struct wasmedge_making *making, const void *vm, const void *module)
{
	struct wasmedge_holder holder;

	if (making->id == 0 || !hook_begin())
		return;
	wasmedge_holder_get(vm, &holder);
	wasmedge_holder_drop_active(&holder, module);
	holder.instance = making->id;
	holder.store = making->call.store;
	holder.module = (uintptr_t)module;
	wasmedge_holder_put(vm, &holder);
	hook_end();
}

struct wasmedge_result wasmedge_vm_made(struct wasmedge_making *making, const void *vm,
					struct wasmedge_result result)
{
	const void *module = NULL;

	if (wasmedge_succeeded(result) && making->id != 0 && hook_begin()) {
		module = active_module(making->call.real, vm);
		hook_end();
	}
	if (wasmedge_making_leave(making, module, NULL))
		wasmedge_vm_keep(making, vm, module);
	return result;
}

HOOK(WasmEdge_VMInstantiate);
struct wasmedge_result WasmEdge_VMInstantiate(void *vm)
{
	__typeof__(&WasmEdge_VMInstantiate) real = REAL(WasmEdge_VMInstantiate);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of(&making, real, vm);
	wasmedge_making_number(&making);
	return wasmedge_vm_made(&making, vm, real(vm));
}

static uint32_t active_of(const void *real, const void *vm)
{
	struct wasmedge_holder holder = { 0 };

	if (hook_is_missing(real) || !hook_begin())
		return 0;
	wasmedge_holder_get(vm, &holder);
	hook_end();
	return (uint32_t)holder.instance;
}

static struct activation enter(uint32_t id, void *frame)
{
	struct activation activation = { 0 };

	if (!hook_begin())
		return activation;
	activation = guest_enter(id, (uintptr_t)frame, 0, NULL, 0);
	hook_end();
	return activation;
}

HOOK(WasmEdge_VMExecute);
struct wasmedge_result WasmEdge_VMExecute(void *vm, struct wasmedge_string function,
					  const struct wasmedge_value *arguments,
					  uint32_t argument_count, struct wasmedge_value *results,
					  uint32_t result_count)
{
	__typeof__(&WasmEdge_VMExecute) real = REAL(WasmEdge_VMExecute);
	struct activation activation = enter(active_of(real, vm), __builtin_frame_address(0));
	struct wasmedge_result result =
		real(vm, function, arguments, argument_count, results, result_count);

	guest_leave(activation);
	return result;
}

HOOK(WasmEdge_VMAsyncExecute);
struct wasmedge_async *WasmEdge_VMAsyncExecute(void *vm, struct wasmedge_string function,
					       const struct wasmedge_value *arguments,
					       uint32_t argument_count)
{
	__typeof__(&WasmEdge_VMAsyncExecute) real = REAL(WasmEdge_VMAsyncExecute);
	struct wasmedge_async *async;

	wasmedge_async_begin(active_of(real, vm));
	async = real(vm, function, arguments, argument_count);
	wasmedge_async_end();
	return async;
}

/* ---- those that have names --------------------------------------------------------------------
 */

static const void *registered_module(const void *real, const void *vm, struct wasmedge_string name)
{
	static HOOK_TLS struct {
		const void *real;
		const void *(*get)(const void *, struct wasmedge_string);
	} last; /* the look-up takes as long as a short call */

	if (last.real != real) {
		last.get = hook_sibling(real, "WasmEdge_VMGetRegisteredModule");
		last.real = real;
	}
	return last.get != NULL ? last.get(vm, name) : NULL;
}

static struct wasmedge_result registered(struct wasmedge_making *making, const void *vm,
					 struct wasmedge_string name, struct wasmedge_result result)
{
	struct wasmedge_holder holder;
	const void *module = NULL;

	if (wasmedge_succeeded(result) && making->id != 0 && hook_begin()) {
		module = registered_module(making->call.real, vm, name);
		hook_end();
	}
	if (!wasmedge_making_leave(making, module, vm) || !hook_begin())
		return result;
	wasmedge_holder_get(vm, &holder);
	holder.registered++;
	wasmedge_holder_put(vm, &holder);
	hook_end();
	return result;
}

HOOK(WasmEdge_VMRegisterModuleFromFile);
struct wasmedge_result WasmEdge_VMRegisterModuleFromFile(void *vm, struct wasmedge_string name,
							 const char *path)
{
	__typeof__(&WasmEdge_VMRegisterModuleFromFile) real =
		REAL(WasmEdge_VMRegisterModuleFromFile);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_file(&making, real, path);
	wasmedge_making_number(&making);
	return registered(&making, vm, name, real(vm, name, path));
}

HOOK(WasmEdge_VMRegisterModuleFromBytes);
struct wasmedge_result WasmEdge_VMRegisterModuleFromBytes(void *vm, struct wasmedge_string name,
							  struct wasmedge_bytes bytes)
{
	__typeof__(&WasmEdge_VMRegisterModuleFromBytes) real =
		REAL(WasmEdge_VMRegisterModuleFromBytes);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_bytes(&making, real, bytes.bytes, bytes.size);
	wasmedge_making_number(&making);
	return registered(&making, vm, name, real(vm, name, bytes));
}

HOOK(WasmEdge_VMRegisterModuleFromASTModule);
struct wasmedge_result WasmEdge_VMRegisterModuleFromASTModule(void *vm, struct wasmedge_string name,
							      const void *module)
{
	__typeof__(&WasmEdge_VMRegisterModuleFromASTModule) real =
		REAL(WasmEdge_VMRegisterModuleFromASTModule);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of(&making, real, module);
	wasmedge_making_number(&making);
	return registered(&making, vm, name, real(vm, name, module));
}

static uint32_t registered_of(const void *real, const void *vm, struct wasmedge_string name)
{
	uint32_t id;

	if (hook_is_missing(real) || !hook_begin())
		return 0;
	id = wasmedge_instance_of(registered_module(real, vm, name));
	hook_end();
	return id;
}

HOOK(WasmEdge_VMExecuteRegistered);
struct wasmedge_result
WasmEdge_VMExecuteRegistered(void *vm, struct wasmedge_string name, struct wasmedge_string function,
			     const struct wasmedge_value *arguments, uint32_t argument_count,
			     struct wasmedge_value *results, uint32_t result_count)
{
	__typeof__(&WasmEdge_VMExecuteRegistered) real = REAL(WasmEdge_VMExecuteRegistered);
	struct activation activation =
		enter(registered_of(real, vm, name), __builtin_frame_address(0));
	struct wasmedge_result result =
		real(vm, name, function, arguments, argument_count, results, result_count);

	guest_leave(activation);
	return result;
}

HOOK(WasmEdge_VMAsyncExecuteRegistered);
struct wasmedge_async *WasmEdge_VMAsyncExecuteRegistered(void *vm, struct wasmedge_string name,
							 struct wasmedge_string function,
							 const struct wasmedge_value *arguments,
							 uint32_t argument_count)
{
	__typeof__(&WasmEdge_VMAsyncExecuteRegistered) real =
		REAL(WasmEdge_VMAsyncExecuteRegistered);
	struct wasmedge_async *async;

	wasmedge_async_begin(registered_of(real, vm, name));
	async = real(vm, name, function, arguments, argument_count);
	wasmedge_async_end();
	return async;
}
