/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_run.c - calls that load, instantiate and execute at once, and make a VM's active
 * instance anew each time; and the engine's command line, which is one function.
 */
#include <string.h>

#include "preload/hook/hook.h"
#include "preload/runtime/wasmedge_async.h"
#include "preload/runtime/wasmedge_vm.h"

EXPORT struct wasmedge_result
WasmEdge_VMRunWasmFromFile(void *vm, const char *path, struct wasmedge_string function,
			   const struct wasmedge_value *arguments, uint32_t argument_count,
			   struct wasmedge_value *results, uint32_t result_count);
EXPORT struct wasmedge_result
WasmEdge_VMRunWasmFromBytes(void *vm, struct wasmedge_bytes bytes, struct wasmedge_string function,
			    const struct wasmedge_value *arguments, uint32_t argument_count,
			    struct wasmedge_value *results, uint32_t result_count);
EXPORT struct wasmedge_result
WasmEdge_VMRunWasmFromASTModule(void *vm, const void *module, struct wasmedge_string function,
				const struct wasmedge_value *arguments, uint32_t argument_count,
				struct wasmedge_value *results, uint32_t result_count);
EXPORT struct wasmedge_async *
WasmEdge_VMAsyncRunWasmFromFile(void *vm, const char *path, struct wasmedge_string function,
				const struct wasmedge_value *arguments, uint32_t argument_count);
EXPORT struct wasmedge_async *
WasmEdge_VMAsyncRunWasmFromBytes(void *vm, struct wasmedge_bytes bytes,
				 struct wasmedge_string function,
				 const struct wasmedge_value *arguments, uint32_t argument_count);
EXPORT struct wasmedge_async *
WasmEdge_VMAsyncRunWasmFromASTModule(void *vm, const void *module, struct wasmedge_string function,
				     const struct wasmedge_value *arguments,
				     uint32_t argument_count);
EXPORT int WasmEdge_Driver_Tool(int count, const char **words);
EXPORT int WasmEdge_Driver_UniTool(int count, const char **words);

HOOK(WasmEdge_VMRunWasmFromFile);
struct wasmedge_result
WasmEdge_VMRunWasmFromFile(void *vm, const char *path, struct wasmedge_string function,
			   const struct wasmedge_value *arguments, uint32_t argument_count,
			   struct wasmedge_value *results, uint32_t result_count)
{
	__typeof__(&WasmEdge_VMRunWasmFromFile) real = REAL(WasmEdge_VMRunWasmFromFile);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_file(&making, real, path);
	wasmedge_making_enter(&making, __builtin_frame_address(0));
	return wasmedge_vm_made(
		&making, vm,
		real(vm, path, function, arguments, argument_count, results, result_count));
}

HOOK(WasmEdge_VMRunWasmFromBytes);
struct wasmedge_result
WasmEdge_VMRunWasmFromBytes(void *vm, struct wasmedge_bytes bytes, struct wasmedge_string function,
			    const struct wasmedge_value *arguments, uint32_t argument_count,
			    struct wasmedge_value *results, uint32_t result_count)
{
	__typeof__(&WasmEdge_VMRunWasmFromBytes) real = REAL(WasmEdge_VMRunWasmFromBytes);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_bytes(&making, real, bytes.bytes, bytes.size);
	wasmedge_making_enter(&making, __builtin_frame_address(0));
	return wasmedge_vm_made(
		&making, vm,
		real(vm, bytes, function, arguments, argument_count, results, result_count));
}

HOOK(WasmEdge_VMRunWasmFromASTModule);
struct wasmedge_result
WasmEdge_VMRunWasmFromASTModule(void *vm, const void *module, struct wasmedge_string function,
				const struct wasmedge_value *arguments, uint32_t argument_count,
				struct wasmedge_value *results, uint32_t result_count)
{
	__typeof__(&WasmEdge_VMRunWasmFromASTModule) real = REAL(WasmEdge_VMRunWasmFromASTModule);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of(&making, real, module);
	wasmedge_making_enter(&making, __builtin_frame_address(0));
	return wasmedge_vm_made(
		&making, vm,
		real(vm, module, function, arguments, argument_count, results, result_count));
}

/* ---- in another thread -------------------------------------------------------------------------
 */

/* What MAKING is about goes on elsewhere: the instance is VM's, whatever becomes of it. */
static void send(struct wasmedge_making *making, const void *vm)
{
	wasmedge_making_enter(making, NULL);
	wasmedge_vm_keep(making, vm, NULL);
	wasmedge_async_make(making);
}

/* ASYNC was made. */
static struct wasmedge_async *sent(struct wasmedge_making *making, struct wasmedge_async *async)
{
	wasmedge_async_end();
	wasmedge_making_drop(making);
	return async;
}

HOOK(WasmEdge_VMAsyncRunWasmFromFile);
struct wasmedge_async *WasmEdge_VMAsyncRunWasmFromFile(void *vm, const char *path,
						       struct wasmedge_string function,
						       const struct wasmedge_value *arguments,
						       uint32_t argument_count)
{
	__typeof__(&WasmEdge_VMAsyncRunWasmFromFile) real = REAL(WasmEdge_VMAsyncRunWasmFromFile);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_file(&making, real, path);
	send(&making, vm);
	return sent(&making, real(vm, path, function, arguments, argument_count));
}

HOOK(WasmEdge_VMAsyncRunWasmFromBytes);
struct wasmedge_async *WasmEdge_VMAsyncRunWasmFromBytes(void *vm, struct wasmedge_bytes bytes,
							struct wasmedge_string function,
							const struct wasmedge_value *arguments,
							uint32_t argument_count)
{
	__typeof__(&WasmEdge_VMAsyncRunWasmFromBytes) real = REAL(WasmEdge_VMAsyncRunWasmFromBytes);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of_bytes(&making, real, bytes.bytes, bytes.size);
	send(&making, vm);
	return sent(&making, real(vm, bytes, function, arguments, argument_count));
}

HOOK(WasmEdge_VMAsyncRunWasmFromASTModule);
struct wasmedge_async *WasmEdge_VMAsyncRunWasmFromASTModule(void *vm, const void *module,
							    struct wasmedge_string function,
							    const struct wasmedge_value *arguments,
							    uint32_t argument_count)
{
	__typeof__(&WasmEdge_VMAsyncRunWasmFromASTModule) real =
		REAL(WasmEdge_VMAsyncRunWasmFromASTModule);
	struct wasmedge_making making = { 0 };

	wasmedge_making_of(&making, real, module);
	send(&making, vm);
	return sent(&making, real(vm, module, function, arguments, argument_count));
}

/* ---- the command line -------------------------------------------------------------------------
 */

/* Only the compiler, whose threads are in no guest. */
static bool is_compiling(int count, const char **words)
{
	return count > 1 && words[1] != NULL && strcmp(words[1], "compile") == 0;
}

/* All that the program does is in this call: it makes a module, and runs it in another thread. */
static int drive(int (*real)(int count, const char **words), int count, const char **words)
{
	struct wasmedge_making making = { .call = { .takes_opened = true } };
	int status;

	if (is_compiling(count, words))
		return real(count, words);
	wasmedge_making_of_file(&making, (const void *)real, NULL);
	wasmedge_making_number(&making);
	wasmedge_async_follow(&making);
	status = real(count, words);
	wasmedge_async_end();
	wasmedge_making_drop(&making);
	return status;
}

HOOK(WasmEdge_Driver_Tool);
int WasmEdge_Driver_Tool(int count, const char **words)
{
	return drive(REAL(WasmEdge_Driver_Tool), count, words);
}

HOOK(WasmEdge_Driver_UniTool);
int WasmEdge_Driver_UniTool(int count, const char **words)
{
	return drive(REAL(WasmEdge_Driver_UniTool), count, words);
}
