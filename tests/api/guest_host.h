/* SPDX-License-Identifier: MIT */
/*
 * guest_host.h - the host that the tests of guestprof.h share: a guest that calls back twice a
 * round, and what is done then.
 *
 * For one program each; main() sets `folder`, where profiles go.
 */
#ifndef TESTS_API_GUEST_HOST_H
#define TESTS_API_GUEST_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <wasmtime.h>

#include "preload/guestprof.h"

static const char *folder;

/* $outer calls $inner, which calls the host, which takes the samples. */
static const char guest[] = "(module $%s (import \"host\" \"tick\" (func $tick))"
			    "(func $%s_inner (call $tick))"
			    "(func $%s_outer (export \"run\") (call $%s_inner) (call $tick)))";

struct host {
	wasm_engine_t *engine;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_module_t *module;
	wasmtime_instance_t instance;
	wasmtime_func_t run;
};

/* What the host function does at each tick. */
static void (*on_tick)(void *argument);
static void *tick_argument;

static inline wasm_trap_t *tick(void *env, wasmtime_caller_t *caller,
				const wasmtime_val_t *arguments, size_t argument_count,
				wasmtime_val_t *results, size_t result_count)
{
	(void)env, (void)caller, (void)arguments, (void)argument_count, (void)results;
	(void)result_count;
	if (on_tick != NULL)
		on_tick(tick_argument);
	return NULL;
}

static inline wasmtime_module_t *compile(wasm_engine_t *engine, const char *text)
{
	wasm_byte_vec_t wasm;
	wasmtime_module_t *module;

	assert_null(wasmtime_wat2wasm(text, strlen(text), &wasm));
	assert_null(wasmtime_module_new(engine, (uint8_t *)wasm.data, wasm.size, &module));
	wasm_byte_vec_delete(&wasm);
	return module;
}

static inline wasmtime_module_t *compile_guest(wasm_engine_t *engine, const char *name)
{
	char text[400];

	snprintf(text, sizeof(text), guest, name, name, name, name);
	return compile(engine, text);
}

static inline void instantiate(struct host *host)
{
	wasm_functype_t *type = wasm_functype_new_0_0();
	wasmtime_extern_t import = { .kind = WASMTIME_EXTERN_FUNC }, item;
	wasm_trap_t *trap = NULL;

	wasmtime_func_new(host->context, type, tick, NULL, NULL, &import.of.func);
	wasm_functype_delete(type);
	assert_null(wasmtime_instance_new(host->context, host->module, &import, 1, &host->instance,
					  &trap));
	assert_true(wasmtime_instance_export_get(host->context, &host->instance, "run", 3, &item));
	host->run = item.of.func;
}

static inline void host_open(struct host *host, const char *name)
{
	host->engine = wasm_engine_new();
	host->store = wasmtime_store_new(host->engine, NULL, NULL);
	host->context = wasmtime_store_context(host->store);
	host->module = compile_guest(host->engine, name);
	instantiate(host);
}

static inline void host_close(struct host *host)
{
	wasmtime_store_delete(host->store);
	wasmtime_module_delete(host->module);
	wasm_engine_delete(host->engine);
}

static inline void run(struct host *host)
{
	wasm_trap_t *trap = NULL;

	assert_null(wasmtime_func_call(host->context, &host->run, NULL, 0, NULL, 0, &trap));
	assert_null(trap);
}

static inline guestprof_module_set *prepare(const struct host *host, const char *name)
{
	const void *modules[] = { host->module };
	guestprof_module_set *set = NULL;
	char why[200];

	assert_int_equal(guestprof_set_new(host->engine, name != NULL ? &name : NULL, modules, 1,
					   &set, why, sizeof(why)),
			 0);
	assert_non_null(set);
	assert_string_equal(why, "");
	return set;
}

static inline guestprof_profile *start(const char *name, uint64_t interval_ns,
				       guestprof_module_set *set)
{
	guestprof_profile *profile = NULL;

	assert_int_equal(guestprof_profile_new(name, interval_ns, set, &profile), 0);
	assert_non_null(profile);
	return profile;
}

static inline void finish(guestprof_profile *profile, const char *file)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s.pb.gz", folder, file);
	assert_int_equal(guestprof_profile_finish(profile, path), 0);
}

static int samples_kept;

static inline void sample(void *profile)
{
	int kept = guestprof_profile_sample(profile, 1000000);

	assert_true(kept == 0 || kept == 1);
	samples_kept += kept;
}

static inline void sample_into(guestprof_profile *profile)
{
	on_tick = profile != NULL ? sample : NULL;
	tick_argument = profile;
	samples_kept = 0;
}

/* The clock must have learned the engine's exit record once; a few ticks of the process's do. */
static inline void warm_up(struct host *host)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		run(host);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 300);
}

#endif /* TESTS_API_GUEST_HOST_H */
