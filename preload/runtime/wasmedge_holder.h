/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_holder.h - what is known of WasmEdge's handles: parsed modules, VMs, module instances.
 *
 * Only addresses are compared. Bounded: what does not fit is not known, and its calls are of no
 * instance. Threads: any. All of it within hook_begin().
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_HOLDER_H
#define PRELOAD_RUNTIME_WASMEDGE_HOLDER_H

#include "preload/runtime/wasmedge.h"

/* An ASTModuleContext or a VMContext: the module that it holds, and the instance made of it. */
struct wasmedge_holder {
	uintptr_t bytes; /* struct load_bytes, owned; 0: not known */
	uintptr_t loading;
	uintptr_t interpreted; /* its loading has the holder for a handle */
	/* Of a VM: */
	uintptr_t instance, store; /* the active one; 0: none */
	uintptr_t module;	   /* its address, which the instances' map has; 0: not known */
	uintptr_t registered;	   /* how many others it has */
};

/* What is known of HANDLE; all zero: nothing. */
void wasmedge_holder_get(const void *handle, struct wasmedge_holder *holder);
void wasmedge_holder_put(const void *handle, const struct wasmedge_holder *holder);

/* HANDLE holds BYTES, which are taken over, and LOADING from now on; what it held ends. */
void wasmedge_holder_loaded(const void *handle, struct load_bytes *bytes, uint32_t loading);

/* HANDLE, or all that it holds, is about to end. */
void wasmedge_holder_ends(const void *handle);

/* The active instance of VM ends, whose address may be that of NEWER already. */
void wasmedge_holder_drop_active(struct wasmedge_holder *vm, const void *newer);

/* MODULE, a ModuleInstanceContext of VM (NULL: of none), is the instance ID of STORE. */
void wasmedge_instance_made(const void *module, uint32_t id, uint64_t store, const void *vm);

/* The instance of STORE is no more, nor a module that was known by it alone (interpreted). */
void wasmedge_store_ends(uint64_t store);

/* Its id; 0 unknown. */
uint32_t wasmedge_instance_of(const void *module);

/* MODULE is about to be deleted. */
void wasmedge_instance_ends(const void *module);

#endif /* PRELOAD_RUNTIME_WASMEDGE_HOLDER_H */
