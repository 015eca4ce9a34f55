/* SPDX-License-Identifier: MIT */
/*
 * wasmedge_object.h - modules that were compiled to a shared object.
 *
 * The object has the module's own bytes in it (`wasm.code`, `wasm.size`), functions f0, f1, ... by
 * index and a wrapper for each type, t0, t1, ... (lib/llvm/codegen.cpp, 0.14.1). The loader knows
 * it, so no frames are registered.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_OBJECT_H
#define PRELOAD_RUNTIME_WASMEDGE_OBJECT_H

#include "preload/load/load.h"

/*
 * Whether NAME is what the engine looks up once in an object whose code it will run: not where it
 * is told to interpret the bytes (lib/loader/ast/module.cpp, 0.13.5 and 0.14.1).
 */
bool wasmedge_object_asked(const char *name);

/*
 * The object of HANDLE was loaded. EVENT says whose it is; its bytes and path are replaced. Returns
 * the loading's id, 0: it is none, or without code. The end is seen when the host unloads it.
 */
uint32_t wasmedge_object_load(void *handle, struct load_event *event);

#endif /* PRELOAD_RUNTIME_WASMEDGE_OBJECT_H */
