/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_vm.h - the active instance of a VM. Threads: those that call the VM.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_VM_H
#define PRELOAD_RUNTIME_WASMEDGE_VM_H

#include "preload/runtime/wasmedge_abi.h"
#include "preload/runtime/wasmedge_making.h"

/* What MAKING made, MODULE (NULL unknown), is VM's active instance from now on. */
void wasmedge_vm_keep(const struct wasmedge_making *making, const void *vm, const void *module);

/* Behind the call that MAKING is about: if RESULT, which it returns, is a success, the same. */
struct wasmedge_result wasmedge_vm_made(struct wasmedge_making *making, const void *vm,
					struct wasmedge_result result);

#endif /* PRELOAD_RUNTIME_WASMEDGE_VM_H */
