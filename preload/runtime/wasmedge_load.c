/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_load.c - modules: parsed by a loader, or by a VM for itself.
 *
 * Functions that end in FromBuffer call those that end in FromBytes, through us (0.14.1 to 0.17.1).
 */
#include "preload/hook/hook.h"
#include "preload/load/load.h"
#include "preload/runtime/wasmedge_abi.h"
#include "preload/runtime/wasmedge_holder.h"

EXPORT struct wasmedge_result WasmEdge_LoaderParseFromFile(void *loader, void **module,
							   const char *path);
EXPORT struct wasmedge_result WasmEdge_LoaderParseFromBytes(void *loader, void **module,
							    struct wasmedge_bytes bytes);
EXPORT void WasmEdge_ASTModuleDelete(void *module);
EXPORT struct wasmedge_result WasmEdge_VMLoadWasmFromFile(void *vm, const char *path);
EXPORT struct wasmedge_result WasmEdge_VMLoadWasmFromBytes(void *vm, struct wasmedge_bytes bytes);
EXPORT struct wasmedge_result WasmEdge_VMLoadWasmFromASTModule(void *vm, const void *module);
EXPORT void WasmEdge_VMCleanup(void *vm);
EXPORT void WasmEdge_VMDelete(void *vm);

/* A call that loads a module: from a file, or from bytes. */
struct loads {
	struct runtime_wasmedge call;
	bool is_seen;
};

static void begin(struct loads *loads, const void *real, const char *path, const uint8_t *bytes,
		  size_t size)
{
	loads->is_seen = runtime_wasmedge_begin(&loads->call, real);
	if (!loads->is_seen || !hook_begin())
		return;
	loads->call.path = path;
	loads->call.bytes =
		path != NULL ? load_bytes_in_file(path, 0, 0) : load_bytes_begin(bytes, size);
	hook_end();
}

/* HANDLE holds what was loaded; NULL: it failed. */
static void end(struct loads *loads, const void *handle)
{
	int saved_errno = errno;

	if (!loads->is_seen)
		return;
	/* Also where we were switched off meanwhile: the bytes are the host's again. */
	load_bytes_end(loads->call.bytes);
	if (handle != NULL && hook_begin()) {
		wasmedge_holder_loaded(handle, loads->call.bytes, loads->call.loading);
		hook_end();
	} else {
		load_bytes_free(loads->call.bytes);
	}
	runtime_wasmedge_end(&loads->call);
	errno = saved_errno;
}

/* ---- loaders --------------------------------------------------------------------------------- */

HOOK(WasmEdge_LoaderParseFromFile);
struct wasmedge_result WasmEdge_LoaderParseFromFile(void *loader, void **module, const char *path)
{
	__typeof__(&WasmEdge_LoaderParseFromFile) real = REAL(WasmEdge_LoaderParseFromFile);
	struct loads loads = { 0 };
	struct wasmedge_result result;

	begin(&loads, real, path, NULL, 0);
	result = real(loader, module, path);
	end(&loads, wasmedge_made(result, module));
	return result;
}

HOOK(WasmEdge_LoaderParseFromBytes);
struct wasmedge_result WasmEdge_LoaderParseFromBytes(void *loader, void **module,
						     struct wasmedge_bytes bytes)
{
	__typeof__(&WasmEdge_LoaderParseFromBytes) real = REAL(WasmEdge_LoaderParseFromBytes);
	struct loads loads = { 0 };
	struct wasmedge_result result;

	begin(&loads, real, NULL, bytes.bytes, bytes.size);
	result = real(loader, module, bytes);
	end(&loads, wasmedge_made(result, module));
	return result;
}

static void ends(const void *real, const void *handle)
{
	if (handle == NULL || hook_is_missing(real) || !hook_begin())
		return;
	wasmedge_holder_ends(handle);
	hook_end();
}

HOOK(WasmEdge_ASTModuleDelete);
void WasmEdge_ASTModuleDelete(void *module)
{
	__typeof__(&WasmEdge_ASTModuleDelete) real = REAL(WasmEdge_ASTModuleDelete);

	ends(real, module);
	real(module);
}

/* ---- VMs ------------------------------------------------------------------------------------- */

HOOK(WasmEdge_VMLoadWasmFromFile);
struct wasmedge_result WasmEdge_VMLoadWasmFromFile(void *vm, const char *path)
{
	__typeof__(&WasmEdge_VMLoadWasmFromFile) real = REAL(WasmEdge_VMLoadWasmFromFile);
	struct loads loads = { 0 };
	struct wasmedge_result result;

	begin(&loads, real, path, NULL, 0);
	result = real(vm, path);
	end(&loads, wasmedge_succeeded(result) ? vm : NULL);
	return result;
}

HOOK(WasmEdge_VMLoadWasmFromBytes);
struct wasmedge_result WasmEdge_VMLoadWasmFromBytes(void *vm, struct wasmedge_bytes bytes)
{
	__typeof__(&WasmEdge_VMLoadWasmFromBytes) real = REAL(WasmEdge_VMLoadWasmFromBytes);
	struct loads loads = { 0 };
	struct wasmedge_result result;

	begin(&loads, real, NULL, bytes.bytes, bytes.size);
	result = real(vm, bytes);
	end(&loads, wasmedge_succeeded(result) ? vm : NULL);
	return result;
}

/* The VM has a copy, with the same code if there is any. */
HOOK(WasmEdge_VMLoadWasmFromASTModule);
struct wasmedge_result WasmEdge_VMLoadWasmFromASTModule(void *vm, const void *module)
{
	__typeof__(&WasmEdge_VMLoadWasmFromASTModule) real = REAL(WasmEdge_VMLoadWasmFromASTModule);
	struct wasmedge_result result = real(vm, module);
	struct wasmedge_holder holder;

	if (!wasmedge_succeeded(result) || !hook_begin())
		return result;
	wasmedge_holder_get(module, &holder);
	wasmedge_holder_loaded(vm, load_bytes_copy((const struct load_bytes *)holder.bytes),
			       holder.interpreted ? 0 : (uint32_t)holder.loading);
	hook_end();
	return result;
}

HOOK(WasmEdge_VMCleanup);
void WasmEdge_VMCleanup(void *vm)
{
	__typeof__(&WasmEdge_VMCleanup) real = REAL(WasmEdge_VMCleanup);

	ends(real, vm);
	real(vm);
}

HOOK(WasmEdge_VMDelete);
void WasmEdge_VMDelete(void *vm)
{
	__typeof__(&WasmEdge_VMDelete) real = REAL(WasmEdge_VMDelete);

	ends(real, vm);
	real(vm);
}
