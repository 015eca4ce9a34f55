/* SPDX-License-Identifier: MIT */
/*
 * host.h - the parts of the test host: an ordinary program on the C API of wasmtime.
 *
 * It is built once per engine version against that version's headers, and knows nothing of any
 * profiler. What it prints on stdout is the same in every run with the same options. Errors end it
 * with status 1 and a line on stderr.
 */
#ifndef TESTS_HOST_HOST_H
#define TESTS_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>

struct options {
	const char *guest;  /* file with the wasm bytes */
	const char *export; /* what to call */
	uint32_t argument;  /* of each call; with CPU_MS the mean, see argument_next() */
	uint64_t cpu_ms;    /* call until the thread has used this much; 0: CALLS times */
	uint64_t calls;
	uint32_t stores, instances; /* per thread; instances per store */
	uint32_t threads;
	uint32_t fresh;	   /* then: that many stores, one after the other, each dropped after use */
	uint32_t churn;	   /* modules loaded, run and dropped by main while the threads run */
	const char *other; /* the guest that main does this with; NULL: GUEST */
	const char *cwasm; /* go through a file of this name, and deserialize_file */
	bool serialize;	   /* go through bytes, and deserialize */
	bool uses_linker;
	bool is_quiet;	/* prints nothing for a thread */
	bool is_skewed; /* instance i is called i + 1 times a round */
	bool no_unwind_info;
	bool is_interpreted; /* by pulley; where the engine cannot, it ends the program */
	bool is_component;
	bool is_async;
	uint32_t park_ms;   /* async: how long nobody polls, between two rounds */
	bool is_undumpable; /* as programs with secrets are: PR_SET_DUMPABLE */
};

/* load.c */
struct guest_bytes {
	uint8_t *bytes;
	size_t size;
};
struct guest_bytes load_file(const char *path);
wasm_engine_t *load_engine(const struct options *options);
wasmtime_module_t *load_module(wasm_engine_t *engine, const struct options *options);

/* call.c: hosts the module on the calling thread as the options say; NUMBER is the thread's. */
void call_module(wasm_engine_t *engine, const wasmtime_module_t *module,
		 const struct options *options, uint32_t number);
uint64_t call_cpu_ms(void); /* CPU time of the calling thread */
/*
 * The argument of the calling thread's next call. A guest that takes equally long each time can
 * fall into step with the clock that samples it, and then one of its parts is always met: where the
 * time is given and not the number of calls, the argument varies by half, evenly.
 */
uint32_t argument_next(const struct options *options);

/* import.c: what guests may import. */
wasm_trap_t *import_work(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			 size_t arg_count, wasmtime_val_t *results, size_t result_count);
void import_burn(uint32_t rounds);
void import_define(wasmtime_linker_t *linker);
/* Functions for the imports of MODULE, in its order. Returns their number, at most 4. */
size_t import_functions(wasmtime_context_t *context, const wasmtime_module_t *module,
			wasmtime_extern_t functions[4]);

/* wait.c: host functions that wait, for as many microseconds as the guest says. */
wasm_trap_t *wait_sleep(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			size_t arg_count, wasmtime_val_t *results, size_t result_count);
wasm_trap_t *wait_receive(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			  size_t arg_count, wasmtime_val_t *results, size_t result_count);
wasm_trap_t *wait_lock(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
		       size_t arg_count, wasmtime_val_t *results, size_t result_count);

/* restless.c: so many rounds of waits that signals can interrupt; how many were. */
wasm_trap_t *restless_wait(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
			   size_t arg_count, wasmtime_val_t *results, size_t result_count);
void restless_print(void);

/* threads.c: several threads on one module, and modules that come and go. */
void threads_run(wasm_engine_t *engine, const wasmtime_module_t *module,
		 const struct options *options);

/* component.c, async.c: the whole run of a component, or of two futures in turn. */
void component_run(wasm_engine_t *engine, const struct options *options);
void async_run(wasm_engine_t *engine, const wasmtime_module_t *module,
	       const struct options *options);

/* surroundings.c: descriptors, signals, mask: what a profiler must leave as it was. */
void surroundings_print(void);

/* Ends the program when ERROR or TRAP is set. */
void check(const char *what, wasmtime_error_t *error, wasm_trap_t *trap);

#endif /* TESTS_HOST_HOST_H */
