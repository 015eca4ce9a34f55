/* SPDX-License-Identifier: MIT */
/*
 * wasmedge.h - calls into WasmEdge that may make code or an instance.
 *
 * Code comes while such a call is under way on its thread: by a frame registration (universal
 * AOT, JIT), or as a shared object in which the engine looks its symbols up (AOT). It is announced
 * at once, for the same call may go on and run it. Where none comes, the engine interprets.
 *
 * Threads: any. All within hook_begin(), but runtime_wasmedge_begin(), runtime_wasmedge_end() and
 * runtime_wasmedge_looked_up(), which begin for themselves.
 */
#ifndef PRELOAD_RUNTIME_WASMEDGE_H
#define PRELOAD_RUNTIME_WASMEDGE_H

#include "symtab/base.h"

struct load_bytes;

struct runtime_wasmedge {
	struct runtime_wasmedge *outer; /* on the same thread */
	const void *real;		/* a function of the engine */
	struct load_bytes *bytes;	/* of the module at hand; the caller's; NULL unknown */
	const char *path;		/* of its file; NULL unknown */
	uint32_t loading;		/* of its code; 0: none yet */
	uint64_t store; /* of the instance that is made, whose module is not known yet; 0: none */
	bool takes_opened; /* its bytes are in the .wasm file that is opened first */
};

/*
 * CALL, zero but for what the caller knows, begins on this thread. False: it is not to be observed,
 * and must not be ended.
 */
bool runtime_wasmedge_begin(struct runtime_wasmedge *call, const void *real);
void runtime_wasmedge_end(struct runtime_wasmedge *call);

/* The module of CALL is interpreted, which is told once for HANDLE. Its loading is CALL's then. */
void runtime_wasmedge_interpreted(struct runtime_wasmedge *call, const void *handle);

/* The number of a new store, of which there is one for each instance. */
uint64_t runtime_wasmedge_store(void);

/* The id of STORE's instance; LOADING as for instance_for(). */
uint32_t runtime_wasmedge_instance(uint64_t store, uint32_t loading);

/* ---- what happens meanwhile ------------------------------------------------------------------ */

/* A file of wasm was opened at PATH. */
void runtime_wasmedge_opened(const char *path);

/* state.on_looked_up: NAME was looked up in HANDLE. */
void runtime_wasmedge_looked_up(void *handle, const char *name);

#endif /* PRELOAD_RUNTIME_WASMEDGE_H */
